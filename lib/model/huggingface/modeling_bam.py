"""A model of bam for transformers: Llama's layers and names, with attention as a posterior.

    logit[i, j] = q_i . k_j / sqrt(d) + b[i - j],   softmax over the visible keys j <= i

b is the logarithm of the prior over distances, less a constant: 0 for nope and rope, -slope (i - j) for alibi, and for bam

    b = -exp(scale) x ** shape,   x = |(j - i) - 2 sinh(loc)| + 1e-5

with three numbers by head. Scalable softmax multiplies by s ln(n), n the number of visible keys.

Plain operations in float32, no cache of keys and values: made to check numbers and for use with other programs of that
world, not to be fast. Positions count from the first token that attention_mask lets through.
"""

import math

import torch
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .configuration_bam import BamConfig


def alibi_slopes(heads):
    """r, r^2, ... with r = 2^(-8/heads); between two powers of two, every second slope of the larger fills up."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8.0 * (h + 1) / power) for h in range(power)]
    return slopes + [2.0 ** (-4.0 * (2 * h + 1) / power) for h in range(heads - power)]


def prior_table(pe, heads, length, device, shape=None, scale=None, loc=None):
    """b[head, distance], float32, or None where it is 0 everywhere."""
    distance = torch.arange(length, device=device, dtype=torch.float32)
    if pe == "alibi":
        return -torch.tensor(alibi_slopes(heads), device=device)[:, None] * distance
    if pe != "bam":
        return None
    shape, scale, loc = (p.float()[:, None] for p in (shape, scale, loc))
    x = (-distance - (loc.exp() - (-loc).exp())).abs() + 1e-5
    return (-scale.exp() * x**shape).clamp(min=-1e30)


def rotate(x, positions, theta):
    """Rotary positions: channels k and k + d/2 are turned by position * theta^(-2k/d). x [B, H, T, d]."""
    half = x.shape[-1] // 2
    channel = torch.arange(half, device=x.device, dtype=torch.float64)
    angle = positions.double()[:, None, :, None] * theta ** (-channel / half)
    cos, sin = angle.cos().float(), angle.sin().float()
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def waves(positions, dim, theta):
    """Sinusoidal positions: sines in even columns, cosines in odd ones, each with its own column's frequency."""
    column = torch.arange(dim, device=positions.device, dtype=torch.float64)
    angle = positions.double()[..., None] * theta ** (-column / dim)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class BamNorm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.hidden_size))
        self.eps = config.rms_norm_eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def add_priors(module, heads):
    for name in ("prior_shape", "prior_scale", "prior_loc"):
        setattr(module, name, nn.Parameter(torch.zeros(heads)))


class BamAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        dim, heads = config.hidden_size, config.num_attention_heads
        self.head_dim = dim // heads
        kv_dim = config.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)
        if config.pe == "bam" and config.prior_scope == "layer":
            add_priors(self, heads)
        if config.ssmax != "off":
            self.ssmax_scale = nn.Parameter(torch.ones(heads))

    def forward(self, x, positions, visible, priors):
        """x [B, T, D], positions [B, T], visible [B, 1, T, T]; priors: the module that has the three parameters."""
        config = self.config
        heads, (batch, length, _) = config.num_attention_heads, x.shape
        q, k, v = (
            project(x).view(batch, length, -1, self.head_dim).transpose(1, 2).float()
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        if config.pe == "rope":
            q, k = (rotate(y, positions, config.rope_theta) for y in (q, k))
        k, v = (y.repeat_interleave(heads // config.num_key_value_heads, dim=1) for y in (k, v))
        logits = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)

        own = [getattr(priors or self, "prior_" + name, None) for name in ("shape", "scale", "loc")]
        table = prior_table(config.pe, heads, length, x.device, *own)
        place = torch.arange(length, device=x.device)
        bias = 0 if table is None else table[:, (place[:, None] - place).clamp(min=0)]
        factor = 1
        if config.ssmax != "off":
            keys = visible.sum(-1, keepdim=True).clamp(min=1)
            factor = self.ssmax_scale.float().view(1, -1, 1, 1) * keys.float().log()
        logits = (logits + bias) * factor if config.ssmax == "full" else logits * factor + bias
        logits = logits.masked_fill(~visible, torch.finfo(torch.float32).min)
        out = (logits.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, -1)
        return self.o_proj(out.to(x.dtype))


class BamMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class BamLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.input_layernorm = BamNorm(config)
        self.self_attn = BamAttention(config)
        self.post_attention_layernorm = BamNorm(config)
        self.mlp = BamMLP(config)

    def forward(self, x, positions, visible, priors):
        x = x + self.self_attn(self.input_layernorm(x), positions, visible, priors)
        return x + self.mlp(self.post_attention_layernorm(x))


class BamModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(BamLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = BamNorm(config)
        self.has_global_prior = config.pe == "bam" and config.prior_scope == "global"
        if self.has_global_prior:
            add_priors(self, config.num_attention_heads)

    def forward(self, input_ids, attention_mask=None):
        length = input_ids.shape[1]
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        causal = torch.ones(length, length, dtype=torch.bool, device=input_ids.device).tril()
        visible = causal[None, None] & mask.bool()[:, None, None, :]
        positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
        x = self.embed_tokens(input_ids)
        if self.config.pe == "sinusoidal":
            x = x + waves(positions, self.config.hidden_size, self.config.sinusoidal_theta).to(x.dtype)
        for layer in self.layers:
            x = layer(x, positions, visible, self if self.has_global_prior else None)
        return self.norm(x)


class BamForCausalLM(PreTrainedModel, GenerationMixin):
    config_class = BamConfig
    base_model_prefix = "model"
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = BamModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.model.embed_tokens

    def set_input_embeddings(self, embeddings):
        self.model.embed_tokens = embeddings

    def get_output_embeddings(self):
        return self.lm_head

    def set_output_embeddings(self, head):
        self.lm_head = head

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **_):
        return {"input_ids": input_ids, "attention_mask": attention_mask}

    def forward(self, input_ids, attention_mask=None, labels=None, return_dict=None, **_):
        logits = self.lm_head(self.model(input_ids, attention_mask))
        loss = None
        if labels is not None:
            scores, targets = logits[:, :-1].float().flatten(0, 1), labels[:, 1:].flatten()
            loss = nn.functional.cross_entropy(scores, targets)
        if return_dict is False:
            return (logits,) if loss is None else (loss, logits)
        return CausalLMOutput(loss=loss, logits=logits)
