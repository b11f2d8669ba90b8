#!/bin/bash
# Training on several ranks, each with a device of the emulation: sums and broadcasts by a likeness of NCCL, in every order
# of kernels and sums that a device may choose.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
# shellcheck source=tests/support/ranks.sh
. "$(dirname "$0")/../support/ranks.sh"

host=$BAM_BUILD_DIR/tests/libbam_cuda_host.so
nccl=$BAM_BUILD_DIR/tests/libfake_nccl.so
[ -e "$host" ] || skip "the library for the host was not built"
# The emulation has four devices.
emulation=(env "BAM_CUDA_LIBRARY=$host" "BAM_NCCL_LIBRARY=$nccl" BAM_HOST_DEVICES=4 BAM_DEVICE=cuda)
around=("${emulation[@]}")
needs_ranks

for i in $(seq 60); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o a.tok.zst || fail "no shard"
head -8 text.txt | bam-tokenize -q --tokenizer bytes --input lines -o val.tok.zst
# 3 windows a step in micro-batches of 1: several rounds, shares of different sizes, and of 4 ranks one that has none.
all=(-q --threads 1 --heads 2 --context 24 --micro-batch 1 --border-targets no --lr 3e-3 --seed 5 --no-times a.tok.zst)
model=("${all[@]}" --layers 1 --dim 16 --ffn 32 --batch-tokens 72)
small=("${model[@]}" --val val.tok.zst --val-every 10 --steps 20)

expect 0 "${emulation[@]}" bam-train "${small[@]}" -o 1.h5 --log 1.jsonl
for n in 2 4; do
  expect 0 ranks $n bam-train "${small[@]}" -o $n.h5 --log $n.jsonl
  [ ! -s err ] || fail "$n ranks: standard error: $(cat err)"
  near 1.jsonl $n.jsonl
done
# Whichever of kernels and sums is late, with the optimizer in shards, without recordings, from checkpoint to checkpoint:
# the same bits.
for late in 0 1; do
  expect 0 ranks 2 BAM_HOST_LATE=$late bam-train "${small[@]}" -o late.h5 --log late.jsonl
  same 2.h5 late.h5
  same 2.jsonl late.jsonl
  expect 0 ranks 2 BAM_HOST_LATE=$late bam-train "${small[@]}" --shard-optimizer --save-every 12 -o sharded.h5 --log sharded.jsonl
  same 2.h5 sharded.h5
  same 2.jsonl sharded.jsonl
  rm -f late.h5 late.jsonl sharded.h5 sharded.jsonl
done
expect 0 ranks 2 BAM_CUDA_GRAPHS=0 bam-train "${small[@]}" -o plain.h5
same 2.h5 plain.h5
expect 75 ranks 2 bam-train "${small[@]}" --shard-optimizer --max-minutes 0.000001 -o resumed.h5 --log resumed.jsonl
expect 75 ranks 2 bam-train "${small[@]}" --max-minutes 0.000001 -o resumed.h5 --log resumed.jsonl
expect 0 ranks 2 bam-train "${small[@]}" --shard-optimizer -o resumed.h5 --log resumed.jsonl
same 2.h5 resumed.h5
same 2.jsonl resumed.jsonl

# A model of several buckets of gradients, which are summed while the backward pass goes on.
wide=("${all[@]}" --layers 2 --dim 64 --ffn 6000 --batch-tokens 48 --steps 2)
expect 0 "${emulation[@]}" bam-train "${wide[@]}" -o wide.h5 --log wide.jsonl
for late in 0 1; do
  expect 0 ranks 2 BAM_HOST_LATE=$late bam-train "${wide[@]}" -o wide-$late.h5 --log wide-$late.jsonl
  near wide.jsonl wide-$late.jsonl
done
same wide-0.h5 wide-1.h5

# What is missing is told of once, and nothing is left.
refused() { # REGEX RANKS [NAME=VALUE...]
  local wanted=$1
  shift
  expect 1 ranks "$@" bam-train "${small[@]}" -o no.h5
  one_of_ours "$wanted"
  [ ! -e no.h5 ] || fail "a refused run left a checkpoint"
}
refused '^bam-train: cuda: several ranks need NCCL: ./no.so.2: cannot open .*, expected the package libnccl2' 2 BAM_NCCL_LIBRARY=./no.so.2
refused '^bam-train: rank 1: --device: its GPU, 0000:00:00.0, is that of rank 0 too, expected one for each of the 2 ranks' 2 BAM_HOST_DEVICES=1
refused '^bam-train: rank 2: --device: its GPU, 0000:00:00.0, is that of rank 0 too, expected one for each of the 3 ranks' 3 BAM_HOST_DEVICES=2
refused '^bam-train: rank 1: --device: its GPU, 0000:01:00.0, is that of rank 0 too' 2 BAM_DEVICE=cuda:1
own="exec env BAM_HOST_DEVICES=\$((2 * OMPI_COMM_WORLD_RANK)) bam-train ${small[*]} -o no.h5"
expect 1 ranks 2 bash -c "$own"
one_of_ours '^bam-train: --device cuda: no CUDA device'
expect 1 ranks 2 BAM_DEVICE=auto bash -c "$own"
one_of_ours '^bam-train: rank 1: the devices \(cpu on rank 0\) are not those of rank 0'

# A network that fails, and a rank that is killed, in the middle of the training: one line, and the others end.
long=("${model[@]}" --steps 1000000 --save-every 2)
expect 1 ranks 2 bash -c "exec env BAM_FAKE_NCCL_FAILS=\$((5 + OMPI_COMM_WORLD_RANK)) bam-train ${long[*]} -o long.h5"
one_of_ours '^bam-train: cuda: NCCL: a sum or broadcast over the ranks: remote process exited or there was a network error$'
for victim in 0 1; do
  endless bam-train "${long[@]}" -o long.h5
  killed $victim
done
finish
