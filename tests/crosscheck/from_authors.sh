#!/bin/bash
# pipelines/from_authors: a model under the names that PyTorch models have comes back as it was; what does not fit is refused.
# Skipped where Python lacks torch or h5py; BAM_PYTHON names another Python.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
python=${BAM_PYTHON:-python3}
"$python" -c 'import torch, h5py' 2>/dev/null || skip "$python has no torch and h5py"
convert() { "$python" "$BAM_SOURCE/pipelines/from_authors" "$@"; }

seq 1 3000 | tr '\n' ' ' >text.txt
bam-tokenize -q text.txt -o text.tok.zst || fail "tokenize"
train() { bam-train -q --threads 1 --prior-init authors --layers 2 --heads 2 --ffn 24 --context 32 --batch-tokens 128 text.tok.zst --dim "$@" || fail "bam-train $*"; }

# save OUR.h5 THEIRS.pt STYLE - the weights of a checkpoint as PyTorch would have saved them.
save() {
  "$python" - "$@" <<'PYTHON'
import re, sys
import h5py, torch
ours, theirs, style = sys.argv[1:]
llama = {"token_embedding": "tok_embeddings.weight", "final_norm": "norm.weight", "lm_head": "output.weight", "attn_norm": "attention_norm.weight",
         "ffn_norm": "ffn_norm.weight", "wq": "attention.wq.weight", "wk": "attention.wk.weight", "wv": "attention.wv.weight", "wo": "attention.wo.weight",
         "w_gate": "feed_forward.w1.weight", "w_up": "feed_forward.w3.weight", "w_down": "feed_forward.w2.weight", "prior_shape": "attention.bam.shape",
         "prior_scale": "attention.bam.scale", "prior_loc": "attention.bam.loc", "ssmax_scale": "attention.ssmax_scale"}
other = {**llama, "token_embedding": "embed_tokens.weight", "lm_head": "lm_head.weight", "wq": "self_attn.q_proj.weight", "wk": "self_attn.k_proj.weight",
         "wv": "self_attn.v_proj.weight", "wo": "self_attn.o_proj.weight", "w_gate": "mlp.gate_proj.weight", "w_up": "mlp.up_proj.weight",
         "w_down": "mlp.down_proj.weight", "attn_norm": "input_layernorm.weight", "ffn_norm": "post_attention_layernorm.weight"}
names, state = (other if style == "other" else llama), {}
with h5py.File(ours) as file:
    def put(path, thing):
        if isinstance(thing, h5py.Dataset) and not path.endswith("loc"):
            parts = path.split("/")
            value = torch.from_numpy(thing[:])
            if parts[-1].startswith("prior") or parts[-1].startswith("ssmax"):
                value = value.reshape(1, -1, 1, 1)
            state[("_orig_mod." if style == "llama" else "model.") + "".join(f"layers.{k}." for k in parts[1:2]) + names[parts[-1]]] = value
    file["params"].visititems(put)
if style == "other":
    state["model.rope.angles"] = torch.zeros(3)
torch.save({"model": state, "step": 3} if style == "llama" else state, theirs)
PYTHON
}

for scope in layer global; do
  train 16 --pe bam --prior-scope $scope --steps 5 --seed 4 -o trained.h5
  train 16 --pe bam --prior-scope $scope --steps 1 --seed 9 -o like.h5
  save trained.h5 model.pt llama || fail "torch.save"
  expect 0 convert model.pt like.h5 -o back.h5
  bam-ppl -q --no-times trained.h5 text.tok.zst | cut -f1-9 >before.tsv
  bam-ppl -q --no-times back.h5 text.tok.zst | cut -f1-9 >after.tsv || fail "bam-ppl of a converted model"
  same before.tsv after.tsv
  bam-ppl -q --no-times like.h5 text.tok.zst | cut -f1-9 | cmp -s - before.tsv && fail "the two models are the same: the test shows nothing"
done
expect 0 bam-prior-fit -q show back.h5
expect 0 bam-train -q --threads 1 --init-from back.h5 --batch-tokens 128 --steps 1 text.tok.zst -o on.h5

# What is not known is refused, unless it is said.
save trained.h5 model.pt other
expect 1 convert model.pt like.h5 -o no.h5
grep -q 'model.rope.angles \[3\]: no place' err || fail "an unknown tensor: $(cat err)"
[ ! -e no.h5 ] || fail "a file was written all the same"
expect 0 convert --ignore angles model.pt like.h5 -o other.h5
cmp -s <(bam-ppl -q --no-times other.h5 text.tok.zst | cut -f1-9) before.tsv || fail "names of another kind"
printf 'model.layers.0.self_attn.q_proj.weight\tlayers/0/wk\nmodel.layers.0.self_attn.k_proj.weight\tlayers/0/wq\n' >names.tsv
expect 0 convert --ignore angles --names names.tsv model.pt like.h5 -o swapped.h5
cmp -s <(bam-ppl -q --no-times swapped.h5 text.tok.zst | cut -f1-9) before.tsv && fail "--names changes nothing"
expect 0 convert --list model.pt like.h5
grep -q '^model.layers.1.mlp.up_proj.weight	\[24, 16\]	layers/1/w_up$' out || fail "--list: $(grep up_proj out)"
train 32 --pe bam --steps 1 -o wide.h5
expect 1 convert --ignore angles model.pt wide.h5 -o no.h5
grep -q 'shape \[16\], expected \[32\] of final_norm' err || fail "another width: $(head -3 err)"
finish
