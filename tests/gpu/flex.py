#!/usr/bin/env python3
"""tests/gpu/flex.py [LENGTH] - the same attention in PyTorch, for comparison in the same run.

FlexAttention (compiled, the prior as a table by distance and SSMax in its score_mod) and, where the scores fit into memory,
the eager formula; causal, bf16, a width of 2048. Rows as gpu_bench prints them, without a ceiling.
"""
import math
import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

WIDTH = 2048
MOST_EAGER_BYTES = 16 << 30


def milliseconds(call):
    for _ in range(3):
        call()
    times = []
    for _ in range(10):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def row(name, ms, operations):
    print(f"{name}\t{ms:.4g}\t{operations / ms * 1e-6:.4g}\tGFLOP/s\t\t", flush=True)


def parts(heads, length):
    """The prior of every head by distance (shape 1, scale -3, loc 0), SSMax's scale, ln of the visible keys."""
    distance = torch.arange(length, device="cuda", dtype=torch.float32)
    table = (-math.exp(-3) * (distance + 1e-5)).expand(heads, length).contiguous()
    return table, torch.ones(heads, device="cuda"), torch.log(distance + 1)


def make_flex(table, scale, log_visible, length):
    def score_mod(score, batch, head, query, key):
        return (score + table[head, torch.clamp(query - key, min=0)]) * scale[head] * log_visible[query]

    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, length, length, device="cuda")
    compiled = torch.compile(flex_attention)
    return lambda q, k, v: compiled(q, k, v, score_mod=score_mod, block_mask=mask)


def make_eager(table, scale, log_visible, length, dim):
    position = torch.arange(length, device="cuda")
    distance = position[:, None] - position[None, :]
    hidden = distance < 0
    bias = table[:, distance.clamp(min=0)]

    def attend(q, k, v):
        scores = (q @ k.transpose(-1, -2)).float() / math.sqrt(dim) + bias
        scores = scores * scale[:, None, None] * log_visible[:, None]
        return torch.softmax(scores.masked_fill(hidden, float("-inf")), -1).to(v.dtype) @ v

    return attend


def measure(name, attend, heads, length, dim):
    def fresh():
        return torch.randn(1, heads, length, dim, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    q, k, v = fresh(), fresh(), fresh()
    operations = 4 * 0.5 * length * length * heads * dim
    size = f" d {dim} T {length}"
    with torch.no_grad():
        row(f"{name} forward{size}", milliseconds(lambda: attend(q, k, v)), operations)
    out = attend(q, k, v)
    dout = torch.randn_like(out)
    row(f"{name} backward{size}", milliseconds(lambda: torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)), 2.5 * operations)


def main():
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}", file=sys.stderr)
    for dim in (16, 32, 48, 64, 128):
        heads = WIDTH // dim
        table, scale, log_visible = parts(heads, length)
        makers = {"flex": lambda: make_flex(table, scale, log_visible, length)}
        if heads * length * length * 12 <= MOST_EAGER_BYTES:
            makers["eager"] = lambda: make_eager(table, scale, log_visible, length, dim)
        for name, make in makers.items():
            try:
                measure(name, make(), heads, length, dim)
            except Exception as error:  # one that cannot be compiled or does not fit should not end the others
                print(f"{name} d {dim}\tfailed: {str(error).splitlines()[0][:200]}", flush=True)
            torch.cuda.empty_cache()


main()
