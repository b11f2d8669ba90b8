"""The configuration of a model of bam, for transformers."""

from transformers import PretrainedConfig


class BamConfig(PretrainedConfig):
    """Sizes under the names that Llama has for them, and what Llama does not have:

    pe: what the positions of two tokens add: "nope" nothing; "sinusoidal" waves, to the embeddings; "rope" rotations
        of queries and keys; "alibi" a slope by head times the distance; "bam" a generalized Gaussian prior by head.
    ssmax: scalable softmax, which multiplies by s ln(number of visible keys), s by head: "off"; "content", the product
        of query and key; "full", that product and the prior.
    prior_scope: "layer", every layer has priors of its own; "global", one set for all.
    train_shape, train_scale, train_loc: which parameters of the priors bam-train goes on training.
    context: tokens in a training window; the model reads longer texts too.
    """

    model_type = "bam"

    def __init__(
        self,
        vocab_size=257,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=None,
        rms_norm_eps=1e-5,
        pe="bam",
        ssmax="full",
        prior_scope="layer",
        rope_theta=500000.0,
        sinusoidal_theta=10000.0,
        train_shape=True,
        train_scale=True,
        train_loc=False,
        context=0,
        use_cache=False,
        **kwargs,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads or num_attention_heads
        self.rms_norm_eps = rms_norm_eps
        self.pe = pe
        self.ssmax = ssmax
        self.prior_scope = prior_scope
        self.rope_theta = rope_theta
        self.sinusoidal_theta = sinusoidal_theta
        self.train_shape = train_shape
        self.train_scale = train_scale
        self.train_loc = train_loc
        self.context = context
        kwargs.setdefault("tie_word_embeddings", False)
        super().__init__(use_cache=use_cache, **kwargs)
