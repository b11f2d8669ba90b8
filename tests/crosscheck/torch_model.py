#!/usr/bin/env python3
"""The model of bam-checkpoint(5) in plain PyTorch, written from the formulas alone, to check bam against and to race it.

  torch_model.py golden FILE.h5...                logits, loss and gradients against tests/data/model, in float64
  torch_model.py score MODEL.h5 SHARD --context N negative log-likelihoods, one a token, as `bam-ppl --per-item --bin 1`
  torch_model.py speed [--preset l12] [--pe bam] [--ssmax full] [--context N] [--batch N] [--steps N] [--prefill N]
                       [--threads N] [--dtype f32|bf16] [--attention eager|sdpa|flex] [--compile]
                                                  seconds and tokens per second of a training step and of a prefill
"""
import argparse
import json
import math
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

PRESETS = {"tiny": (128, 2, 8, 256), "l6": (512, 6, 16, 1024), "l8": (768, 8, 16, 1536), "l12": (768, 12, 16, 1536),
           "l15": (1152, 15, 24, 2304), "l18": (1536, 18, 32, 3072), "l24": (2048, 24, 64, 4096)}


def alibi_slopes(heads):
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    finer = [2.0 ** (-8.0 * (i + 1) / (2 * power)) for i in range(0, 2 * power, 2)]
    return torch.tensor(slopes + finer[: heads - power], dtype=torch.float64)


def parameter_shapes(c):
    d = c["dim"] // c["heads"]
    shapes = {"token_embedding": (c["vocab"], c["dim"]), "final_norm": (c["dim"],), "lm_head": (c["vocab"], c["dim"])}
    prior = {name: (c["heads"],) for name in ("prior_shape", "prior_scale", "prior_loc")} if c["pe"] == "bam" else {}
    if c["prior_scope"] == "global":
        shapes.update(prior)
    for layer in range(c["layers"]):
        own = {"attn_norm": (c["dim"],), "ffn_norm": (c["dim"],), "wq": (c["heads"] * d, c["dim"]),
               "wk": (c["kv_heads"] * d, c["dim"]), "wv": (c["kv_heads"] * d, c["dim"]), "wo": (c["dim"], c["heads"] * d),
               "w_gate": (c["ffn"], c["dim"]), "w_up": (c["ffn"], c["dim"]), "w_down": (c["dim"], c["ffn"])}
        if c["ssmax"] != "off":
            own["ssmax_scale"] = (c["heads"],)
        if c["prior_scope"] == "layer":
            own.update(prior)
        shapes.update({f"layers/{layer}/{name}": shape for name, shape in own.items()})
    return shapes


class Model(torch.nn.Module):
    """Parameters under their names in a checkpoint, with '/' written '.'; `config` has a checkpoint's attributes."""

    def __init__(self, config, values, dtype):
        super().__init__()
        self.c = config
        self.p = torch.nn.ParameterDict({name.replace("/", "_"): torch.nn.Parameter(value.to(dtype)) for name, value in values.items()})
        self.attention = "eager"
        self.flex = None

    def get(self, name):
        return self.p[name.replace("/", "_")]

    def norm(self, x, name):
        wide = x if x.dtype == torch.float64 else x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.c["norm_eps"])
        return wide.to(x.dtype) * self.get(name).to(x.dtype)

    def prior_by_distance(self, layer, length, dtype):
        """[H, length], by how many tokens the key lies behind the query; zero without a prior."""
        back = torch.arange(length, dtype=dtype)
        if self.c["pe"] == "alibi":
            return -alibi_slopes(self.c["heads"]).to(dtype)[:, None] * back
        if self.c["pe"] != "bam":
            return torch.zeros(self.c["heads"], length, dtype=dtype)
        at = "" if self.c["prior_scope"] == "global" else f"layers/{layer}/"
        shape, scale, loc = (self.get(at + name).to(dtype)[:, None] for name in ("prior_shape", "prior_scale", "prior_loc"))
        x = (-back - (torch.exp(loc) - torch.exp(-loc))).abs() + 1e-5
        return (-torch.exp(scale) * x**shape).clamp(min=-1e30)

    def rotate(self, x):
        d = x.shape[-1]
        angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * self.c["rope_theta"] ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        cos, sin = angles.cos().to(x.dtype)[None, :, None], angles.sin().to(x.dtype)[None, :, None]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)

    def attend(self, q, k, v, layer, first_key):
        """q, k, v [B, H, T, d]; first_key [B, T], the first key that a query sees."""
        length = q.shape[2]
        wide = torch.float64 if q.dtype == torch.float64 else torch.float32
        position = torch.arange(length)
        factor = torch.ones(1, 1, 1, 1, dtype=wide)
        if self.c["ssmax"] != "off":
            visible = (position - first_key + 1).to(wide).log()
            factor = (self.get(f"layers/{layer}/ssmax_scale").to(wide)[None, :, None] * visible[:, None])[..., None]
        table = self.prior_by_distance(layer, length, wide)
        full = self.c["ssmax"] == "full"
        if self.attention == "flex":
            bias_factor = factor[..., 0].expand(q.shape[0], q.shape[1], length)

            def score(s, b, h, i, j):
                value = table[h, (i - j).clamp(min=0)] * (bias_factor[b, h, i] if full else 1.0)
                return torch.where((j <= i) & (j >= first_key[b, i]), s + value, -float("inf"))

            return self.flex((q.to(wide) * factor).to(q.dtype), k, v, score_mod=score)
        back = position[:, None] - position
        hidden = (back < 0) | (position < first_key[..., None])
        bias = table[:, back.clamp(min=0)][None]
        bias = (bias * factor if full else bias).masked_fill(hidden[:, None], -float("inf"))
        if self.attention == "sdpa":
            return F.scaled_dot_product_attention((q.to(wide) * factor).to(q.dtype), k, v, attn_mask=bias.to(q.dtype))
        scores = (q @ k.transpose(-1, -2)).to(wide) / math.sqrt(q.shape[-1]) * factor + bias
        return scores.softmax(-1).to(v.dtype) @ v

    def forward(self, tokens, first_key):
        c = self.c
        x = self.get("token_embedding")[tokens]
        if c["pe"] == "sinusoidal":
            column = torch.arange(c["dim"], dtype=torch.float64)
            angles = torch.arange(tokens.shape[1], dtype=torch.float64)[:, None] * c["sinusoidal_theta"] ** (-column / c["dim"])
            x = x + torch.where(column.long() % 2 == 0, angles.sin(), angles.cos()).to(x.dtype)
        for layer in range(c["layers"]):
            at = f"layers/{layer}/"
            h = self.norm(x, at + "attn_norm")
            q, k, v = (F.linear(h, self.get(at + name).to(h.dtype)).unflatten(-1, (-1, c["dim"] // c["heads"])) for name in ("wq", "wk", "wv"))
            if c["pe"] == "rope":
                q, k = self.rotate(q), self.rotate(k)
            group = c["heads"] // c["kv_heads"]
            q, k, v = q.transpose(1, 2), k.repeat_interleave(group, 2).transpose(1, 2), v.repeat_interleave(group, 2).transpose(1, 2)
            out = self.attend(q, k, v, layer, first_key).transpose(1, 2).flatten(-2)
            x = x + F.linear(out, self.get(at + "wo").to(h.dtype))
            h = self.norm(x, at + "ffn_norm")
            gate, up = (F.linear(h, self.get(at + name).to(h.dtype)) for name in ("w_gate", "w_up"))
            x = x + F.linear(F.silu(gate) * up, self.get(at + "w_down").to(h.dtype))
        return F.linear(self.norm(x, "final_norm"), self.get("lm_head").to(x.dtype))


def load(file, dtype):
    config = {name: value.item() if isinstance(value, np.generic) else value for name, value in file.attrs.items()}
    values = {name: torch.from_numpy(file["params"][name][:]) for name in parameter_shapes(config)}
    return Model(config, values, dtype)


def first_keys(documents):
    """[B, T] numbers of documents to the place where each token's document begins in its window."""
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
    places = torch.arange(documents.shape[1]).expand_as(documents)
    return torch.where(begins, places, 0).cummax(1).values


def golden(options):
    import h5py

    worst = 0.0
    for name in options.files:
        with h5py.File(name) as file:
            model = load(file, torch.float64)
            tokens, targets, documents = (torch.from_numpy(file["input/" + part][:]).long() for part in ("tokens", "targets", "doc_ids"))
            logits = model(tokens, first_keys(documents))
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
            loss.backward()

            def error(got, expected):
                expected = torch.from_numpy(np.asarray(expected, dtype=np.float64))
                return float((got.double() - expected).abs().max() / expected.abs().max().clamp(min=1e-30))

            errors = {"logits": error(logits.detach(), file["expected/logits"][:]), "loss": error(loss.detach().reshape(1), np.atleast_1d(file["expected/loss"][()]))}
            gradients = []
            file["expected/grads"].visititems(lambda path, thing: gradients.append(path) if hasattr(thing, "shape") else None)
            errors["gradients"] = max(error(model.get(path).grad, file["expected/grads"][path][:]) for path in gradients)
            print("\t".join([name.rsplit("/", 1)[-1]] + [f"{key} {value:.1e}" for key, value in errors.items()]))
            # The logits and gradients of the files are in single precision.
            if errors["logits"] > 1e-6 or errors["loss"] > 1e-9 or errors["gradients"] > 1e-5:
                sys.exit(f"{name}: differs from the model in PyTorch")
            worst = max(worst, errors["logits"])
    print(f"largest error of a logit: {worst:.1e}")


def read_shard(name):
    """Ids and BOS of a shard: its first skippable frame is the header, and zstd gives the ids."""
    with open(name, "rb") as file:
        magic, size = np.frombuffer(file.read(8), dtype="<u4")
        if magic != 0x184D2A50:
            sys.exit(f"{name}: no token shard")
        header = json.loads(file.read(int(size)))
    ids = subprocess.run(["zstd", "-dcq", name], check=True, stdout=subprocess.PIPE).stdout
    return torch.from_numpy(np.frombuffer(ids, dtype="<u2" if header["dtype"] == "u16" else "<u4").astype(np.int64)), header["bos_id"]


def score(options):
    import h5py

    with h5py.File(options.model) as file:
        model = load(file, torch.float64)
    model.attention = options.attention
    ids, bos = read_shard(options.shard)
    print("window\tbin\tnll_sum")
    for window in range((len(ids) - 1) // options.context):
        piece = ids[window * options.context : (window + 1) * options.context + 1]
        documents = (piece == bos).long().cumsum(0)[None, :-1]
        with torch.no_grad():
            logits = model(piece[None, :-1], first_keys(documents))
        nll = F.cross_entropy(logits[0], piece[1:], reduction="none")
        for at, value in enumerate(nll.tolist()):
            print(f"{window}\t{at + 1}\t{value:.9f}")


def speed(options):
    torch.set_num_threads(options.threads)
    dim, layers, heads, ffn = PRESETS[options.preset]
    config = {"dim": dim, "layers": layers, "heads": heads, "kv_heads": heads, "ffn": ffn, "vocab": options.vocab, "pe": options.pe,
              "ssmax": options.ssmax, "prior_scope": "layer", "norm_eps": 1e-5, "rope_theta": 500000.0, "sinusoidal_theta": 10000.0}
    torch.manual_seed(1)
    values = {name: torch.randn(shape) * (0.6 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.0) for name, shape in parameter_shapes(config).items()}
    for name in values:
        if name.endswith(("norm", "prior_shape", "ssmax_scale")):
            values[name] += 1.0
        if name.endswith("prior_scale"):
            values[name] = alibi_slopes(heads).log().float()
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
    model = Model(config, values, torch.float32)
    model.attention = options.attention
    if options.attention == "flex":
        from torch.nn.attention.flex_attention import flex_attention

        model.flex = torch.compile(flex_attention)
    run = torch.compile(model) if options.compile else model
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-4)

    def batch(rows, length):
        return torch.randint(options.vocab, (rows, length)), torch.zeros(rows, length, dtype=torch.long)

    def autocast():
        return torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32)

    def train():
        tokens, first = batch(options.batch, options.context)
        with autocast():
            loss = F.cross_entropy(run(tokens, first).float().flatten(0, 1), tokens.roll(-1, 1).flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    def prefill():
        with torch.no_grad(), autocast():
            run(*batch(1, options.prefill))

    print("what\tattention\tcompiled\tdtype\tthreads\ttokens\tseconds\tcpu_seconds\ttokens_per_s")
    for what, deed, tokens in (("train", train, options.batch * options.context), ("prefill", prefill, options.prefill)):
        if tokens == 0 or (what == "train" and options.attention == "flex"):
            continue  # FlexAttention has no backward on the CPU.
        deed()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(options.steps):
            deed()
        wall, cpu = (time.perf_counter() - wall) / options.steps, (time.process_time() - cpu) / options.steps
        print(f"{what}\t{options.attention}\t{'yes' if options.compile else 'no'}\t{options.dtype}\t{options.threads}\t{tokens}\t{wall:.3f}\t{cpu:.3f}\t{tokens / wall:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    deeds = parser.add_subparsers(required=True)
    deed = deeds.add_parser("golden")
    deed.add_argument("files", nargs="+")
    deed.set_defaults(run=golden)
    deed = deeds.add_parser("score")
    deed.add_argument("model")
    deed.add_argument("shard")
    deed.add_argument("--context", type=int, required=True)
    deed.add_argument("--attention", choices=("eager", "sdpa"), default="eager")
    deed.set_defaults(run=score)
    deed = deeds.add_parser("speed")
    deed.add_argument("--preset", choices=PRESETS, default="tiny")
    deed.add_argument("--pe", choices=("nope", "sinusoidal", "rope", "alibi", "bam"), default="bam")
    deed.add_argument("--ssmax", choices=("off", "content", "full"), default="full")
    deed.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    deed.add_argument("--attention", choices=("eager", "sdpa", "flex"), default="eager")
    deed.add_argument("--compile", action="store_true")
    for name, default in (("vocab", 32768), ("context", 512), ("batch", 4), ("steps", 3), ("prefill", 0), ("threads", 1)):
        deed.add_argument("--" + name, type=int, default=default)
    deed.set_defaults(run=speed)
    options = parser.parse_args()
    options.run(options)


main()
