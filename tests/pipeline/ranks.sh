#!/bin/bash
# Training on several ranks: the numbers of one, whoever is signalled or killed.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
# shellcheck source=tests/support/ranks.sh
. "$(dirname "$0")/../support/ranks.sh"

for i in $(seq 400); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --input lines text.txt -o a.tok.zst || fail "no shard"
head -20 text.txt | bam-tokenize -q --input lines -o val.tok.zst

# 12 windows a step in micro-batches of 2: several rounds, and 5 ranks have shares of 3, 3, 2, 2 and 2.
small=(-q --threads 1 --layers 2 --dim 32 --heads 4 --context 96 --batch-tokens 1152 --micro-batch 2 --steps 50
  --lr 3e-3 --seed 5 --val val.tok.zst --val-every 10 --no-times)

# One of several processes, where this build has no MPI or MPI knows nothing of them, is refused: each would write the
# same file.
if ! built_with_mpi; then
  expect 1 env PMI_RANK=0 PMI_SIZE=2 bam-train "${small[@]}" a.tok.zst -o no.h5
  one_line_error '^bam-train: rank 0 of 2: built without MPI'
  finish
  skip "built without MPI"
fi
needs_ranks

bam-train "${small[@]}" a.tok.zst -o 1.h5 --log 1.jsonl || fail "training failed"
for n in 2 4 5; do
  expect 0 ranks $n bam-train "${small[@]}" a.tok.zst -o $n.h5 --log $n.jsonl
  [ ! -s err ] || fail "$n ranks: standard error: $(cat err)"
  near 1.jsonl $n.jsonl
  [ "$(stat -c %s $n.h5)" = "$(stat -c %s 1.h5)" ] || fail "the checkpoint of $n ranks has another size"
done
expect 0 ranks 2 bam-train "${small[@]}" a.tok.zst -o again.h5 --log again.jsonl
same 2.h5 again.h5
same 2.jsonl again.jsonl
expect 0 ranks 2 bam-train "${small[@]}" --shard-optimizer --save-every 20 a.tok.zst -o sharded.h5 --log sharded.jsonl
same 2.h5 sharded.h5
same 2.jsonl sharded.jsonl

# A pipe is read by rank 0 alone.
bam-train "${small[@]}" --order stream a.tok.zst -o stream.h5 --log stream.jsonl 2>err || fail "training failed"
ranks 2 bam-train "${small[@]}" --log piped.jsonl - -o piped.h5 <a.tok.zst 2>err || fail "ranks on a pipe: $(cat err)"
near stream.jsonl piped.jsonl
grep -q 'the stream ended after' err || true

# Stopped after each of some steps and gone on with on other numbers of ranks: the same windows, and one line for each
# step. On the same number the bytes are those of one go.
now=(--max-minutes 0.000001)
for n in 1 2 4 2 1; do
  launch=(ranks "$n")
  [ $n != 1 ] || launch=()
  expect 75 "${launch[@]}" bam-train "${small[@]}" "${now[@]}" a.tok.zst -o mixed.h5 --log mixed.jsonl
done
expect 0 ranks 3 bam-train "${small[@]}" --shard-optimizer a.tok.zst -o mixed.h5 --log mixed.jsonl
near 1.jsonl mixed.jsonl
for _ in 1 2 3; do expect 75 ranks 2 bam-train "${small[@]}" "${now[@]}" a.tok.zst -o steps.h5 --log steps.jsonl; done
expect 0 ranks 2 bam-train "${small[@]}" a.tok.zst -o steps.h5 --log steps.jsonl
same 2.h5 steps.h5
same 2.jsonl steps.jsonl

long=(-q --threads 1 --layers 2 --dim 32 --heads 4 --context 96 --batch-tokens 1152 --steps 1000000 --no-times
  --save-every 2 -o long.h5 --log long.jsonl a.tok.zst)
intact() { # CHECKPOINT
  local wanted
  wanted=$(head -c 200 "$1" | tr -d '\0' | sed -n '3s/^sha256 //p')
  [ "$(tail -c +513 "$1" | sha256sum | cut -d' ' -f1)" = "$wanted" ] || fail "$1 is damaged"
}

# A signal to any one rank: all stop after the same step.
for victim in 0 1; do
  rm -f long.jsonl
  endless bam-train "${long[@]}"
  kill -s USR1 "${pids[victim]}"
  status=0
  wait "$job" || status=$?
  [ $status = 75 ] || fail "SIGUSR1 to rank $victim: exit status $status, expected 75: $(cat err)"
  intact long.h5
done

# A rank that is killed: the other ends at once, with one line.
for victim in 0 1; do
  rm -f long.jsonl
  endless bam-train "${long[@]}"
  killed $victim
  intact long.h5
done
grep -q . long.jsonl || fail "nothing was logged"

# Errors are told once.
expect 1 ranks 2 bam-train -q missing.tok.zst -o no.h5
one_of_ours '^bam-train: missing.tok.zst: '
expect 2 ranks 2 bam-train -q --layers 0 a.tok.zst -o no.h5
one_of_ours '^bam-train: --layers: '
options="${small[*]}"
ranks 2 bash -c "exec bam-train ${options/--lr 3e-3/} --lr 0.\$((OMPI_COMM_WORLD_RANK + 1)) a.tok.zst -o no.h5" >out 2>err && fail "ranks with other options train"
one_of_ours '^bam-train: rank 1: the options and the checkpoint to begin with are not those of rank 0'
ranks 2 bam-train "${small[@]:0:11}" --steps 50 --lr 1e30 --warmup 0 --clip off a.tok.zst -o no.h5 >out 2>err && fail "no numbers, and no error"
one_of_ours '^bam-train: .*training: the .* is not finite at step'
ranks 2 bam-train "${small[@]}" a.tok.zst -o /dev/full >out 2>err && fail "a full device is no error"
one_of_ours '^bam-train: /dev/full: .*No space'
[ ! -e no.h5 ] || fail "no.h5 exists"
expect 1 env PMI_RANK=1 PMI_SIZE=2 bam-train "${small[@]}" a.tok.zst -o no.h5
[ ! -s err ] || fail "a rank other than 0 speaks: $(cat err)"
expect 1 env PMI_RANK=0 PMI_SIZE=2 bam-train "${small[@]}" a.tok.zst -o no.h5
one_of_ours '^bam-train: rank 0 of 2: MPI sees rank 0 of 1'

# Each for itself.
expect 0 ranks 2 bash -c "exec bam-train ${small[*]} --ranks one a.tok.zst -o own.\$OMPI_COMM_WORLD_RANK.h5"
same 1.h5 own.0.h5
same 1.h5 own.1.h5
finish
