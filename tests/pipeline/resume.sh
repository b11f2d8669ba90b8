#!/bin/bash
# A training that is stopped or killed, wherever, and goes on ends in the bytes of one that was not.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

for i in $(seq 400); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
for part in a b; do
  bam-tokenize -q --input lines <(if [ $part = a ]; then head -150 text.txt; else tail -250 text.txt; fi) -o $part.tok.zst || fail "no shard"
done
head -20 text.txt | bam-tokenize -q --input lines -o val.tok.zst

# 40 steps of 12 windows in micro-batches of 5, 5 and 2. An epoch has about 150 windows: there are several.
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 96 --batch-tokens 1152 --micro-batch 5 --steps 40
  --lr 3e-3 --seed 5 --val val.tok.zst --val-every 7 --no-times)
now=(--max-minutes 0.000001)

# to_the_end COMMAND... - runs the command, which stops after each step, until it is done.
to_the_end() {
  local runs=0 status=75
  while [ $status = 75 ]; do
    runs=$((runs + 1))
    [ $runs -le 60 ] || { fail "no end after 60 runs: $*"; return; }
    status=0
    "$@" 2>err || status=$?
  done
  [ $status = 0 ] || fail "$*: exit status $status: $(cat err)"
  [ $runs -gt 30 ] || fail "$*: only $runs runs"
}

# Files, in a random order.
bam-train "${small[@]}" a.tok.zst b.tok.zst -o whole.h5 --log whole.jsonl || fail "training failed"
[ "$(wc -l <whole.jsonl)" = 40 ] || fail "the log has $(wc -l <whole.jsonl) lines"
bam-train "${small[@]}" a.tok.zst b.tok.zst -o again.h5 || fail "training failed"
same whole.h5 again.h5
to_the_end bam-train "${small[@]}" "${now[@]}" a.tok.zst b.tok.zst -o steps.h5 --log steps.jsonl
same whole.h5 steps.h5
same whole.jsonl steps.jsonl

# A stream, from a pipe and from files.
stream=("${small[@]}" --order stream)
cat a.tok.zst b.tok.zst | bam-train "${stream[@]}" -o pipe.h5 --log pipe.jsonl 2>err || fail "training on a pipe failed: $(cat err)"
grep -q 'the stream ended after [0-9]* of 40 steps' err || fail "the end of the stream is not told: $(cat err)"
bam-train "${stream[@]}" a.tok.zst b.tok.zst -o files.h5 --log files.jsonl 2>err || fail "training failed"
same pipe.h5 files.h5
same pipe.jsonl files.jsonl
cmp -s whole.jsonl pipe.jsonl && fail "a stream gives the numbers of files"
cat a.tok.zst b.tok.zst >ab.tok.zst
runs=0
status=75
while [ $status = 75 ] && [ $runs -lt 60 ]; do
  runs=$((runs + 1))
  status=0
  # shellcheck disable=SC2002
  cat ab.tok.zst | bam-train "${stream[@]}" "${now[@]}" - -o piped.h5 2>err || status=$?
done
[ $status = 0 ] || fail "piecewise from a pipe: exit status $status: $(cat err)"
same pipe.h5 piped.h5

# Through a pipe on the other side, too.
bam-train "${small[@]}" a.tok.zst b.tok.zst | cmp -s - whole.h5 || fail "-o - is not what -o FILE is"

# Killed at any moment, and run again.
runs=0
status=1
while [ $status != 0 ] && [ $runs -lt 40 ]; do
  runs=$((runs + 1))
  bam-train "${small[@]}" --save-every 1 a.tok.zst b.tok.zst -o killed.h5 --log killed.jsonl 2>err &
  pid=$!
  [ $runs = 40 ] || { sleep "0.$((RANDOM % 7))$((RANDOM % 10))"; kill -9 $pid 2>/dev/null; }
  status=0
  wait $pid 2>/dev/null || status=$?
done
[ $status = 0 ] || fail "after 40 kills: exit status $status: $(cat err)"
same whole.h5 killed.h5
same whole.jsonl killed.jsonl
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left: $(find . -name '*.tmp')"

# A signal: the step is finished and saved. --resume takes the options along.
for signal in TERM INT USR1; do
  rm -f long.h5 long.jsonl
  (
    trap - INT
    exec bam-train -q --threads 1 --layers 1 --dim 32 --heads 4 --context 96 --batch-tokens 1152 --steps 1000000 --no-times \
      a.tok.zst b.tok.zst -o long.h5 --log long.jsonl
  ) &
  pid=$!
  for _ in $(seq 600); do
    [ -s long.jsonl ] && break
    sleep 0.1
  done
  kill -s $signal $pid
  status=0
  wait $pid || status=$?
  # A shell starts what runs in the background with SIGINT ignored, which the tool may leave so.
  [ $status = 75 ] || fail "SIG$signal: exit status $status, expected 75"
  [ -s long.h5 ] || fail "SIG$signal: nothing is saved"
done
steps=$(wc -l <long.jsonl)

# SIGUSR2 asks how far it is, -q or not; a checkpoint is due by the clock, too.
rm -f clock.h5
bam-train -q --threads 1 --layers 1 --dim 32 --heads 4 --context 96 --batch-tokens 1152 --steps 1000000 --no-times --save-every 0.3s \
  a.tok.zst b.tok.zst -o clock.h5 2>err &
pid=$!
for _ in $(seq 600); do
  [ -s clock.h5 ] && break
  sleep 0.1
done
kill -USR2 $pid
for _ in $(seq 600); do
  [ -s err ] && break
  sleep 0.1
done
kill -9 $pid
wait $pid 2>/dev/null
grep -Eq '^bam-train: .*/1.00M steps .* loss ' err || fail "SIGUSR2 is answered by: $(cat err)"
expect 75 bam-train -q "${now[@]}" --no-times --threads 1 --resume clock.h5 a.tok.zst b.tok.zst -o next.h5

# The last checkpoints are kept under names of their own, and a damaged one is passed over, aloud.
bam-train "${small[@]}" --save-every 5 --keep 2 a.tok.zst b.tok.zst -o kept.h5 || fail "training failed"
same whole.h5 kept.h5
same kept.h5 kept-40.h5
[ -s kept-best.h5 ] || fail "the best is not kept"
[ "$(find . -name 'kept-[0-9]*.h5' | wc -l)" = 2 ] || fail "kept: $(ls kept*)"
expect 0 bam-train -q --threads 1 --no-times --resume latest a.tok.zst b.tok.zst --val val.tok.zst --val-every 7 -o kept.h5
[ ! -s err ] || fail "--resume latest of a whole checkpoint says: $(cat err)"
touch -d @1000000000 kept.h5
expect 0 bam-train --threads 1 --resume latest a.tok.zst b.tok.zst --val val.tok.zst --val-every 7 -o kept.h5
grep -q 'kept.h5: finished before, nothing is left to do' err || fail "a finished training is gone on with: $(cat err)"
[ "$(stat -c %Y kept.h5)" = 1000000000 ] || fail "a finished training was written again"
same whole.h5 kept.h5
printf X | dd of=kept.h5 bs=1 seek=3000 conv=notrunc 2>/dev/null
expect 1 bam-train -q --resume kept.h5 a.tok.zst b.tok.zst -o next.h5
one_line_error '^bam-train: kept.h5: damaged checkpoint'
expect 0 bam-train -q --threads 1 --no-times --resume latest a.tok.zst b.tok.zst --val val.tok.zst --val-every 7 -o kept.h5
grep -Eq '^bam-train: warning: kept.h5: damaged checkpoint.*; going back to kept-[0-9]+.h5' err ||
  fail "the damaged checkpoint is not told: $(cat err)"
same whole.h5 kept.h5
# What has such a name and is of somebody else is not taken for one: neither replaced nor taken away.
keeps=("${small[@]}" --save-every 5 --keep 2 a.tok.zst b.tok.zst)
in_the_way='; --keep gives this name to checkpoints'
refused() { # FILE REGEX - a training into own.h5 says so, and FILE stays
  cp "$1" before
  expect 1 bam-train "${keeps[@]}" -o own.h5
  one_line_error "^bam-train: $1: $2$in_the_way"
  same before "$1"
  [ ! -e own.h5 ] || fail "a refused training left a checkpoint"
  rm "$1"
}
cp a.tok.zst own-4.h5
refused own-4.h5 'not a checkpoint .*'
echo "best so far" >own-best.h5
refused own-best.h5 'not a checkpoint .*'
cp whole.h5 own-12.h5
refused own-12.h5 'a checkpoint of step 40'
bam-train "${small[@]/#3e-3/0.001}" a.tok.zst b.tok.zst -o own-40.h5 || fail "training failed"
refused own-40.h5 'of a training with --lr 0.001'
expect 2 bam-train "${keeps[@]}" -o own.h5 --log "$PWD/own-7.h5"
one_line_error '^bam-train: --log: .*own-7.h5 is a name that --keep gives to checkpoints, expected another$'
expect 2 bam-train "${small[@]}" --keep 2 a.tok.zst -o /dev/null
one_line_error '^bam-train: --keep: needs a file, expected -o FILE$'
head -c 5000 whole.h5 >own-35.h5
expect 0 bam-train "${keeps[@]}" -o own.h5
grep -q '^bam-train: warning: own-35.h5: truncated checkpoint.*; it is left alone$' err || fail "a damaged one: $(cat err)"
# Begun anew with the same options, a training replaces its own.
rm own-35.h5
[ -e own-40.h5 ] || fail "the last is not kept"
expect 75 bam-train "${keeps[@]}" "${now[@]}" --resume no -o own.h5
[ ! -e own-40.h5 ] || fail "a step that the new training has not reached is still there"
head -c 5000 whole.h5 >cut.h5
expect 1 bam-train -q --resume latest a.tok.zst b.tok.zst -o cut.h5
one_line_error '^bam-train: cut.h5: truncated checkpoint'
short=("${small[@]/#40/1}")
expect 0 bam-train "${short[@]}" --resume auto a.tok.zst b.tok.zst -o cut.h5
grep -q 'warning: cut.h5: truncated checkpoint.*it will be replaced' err || fail "the replaced checkpoint is not told: $(cat err)"
expect 0 bam-train "${short[@]}" --resume latest a.tok.zst b.tok.zst -o new.h5
expect 2 bam-train "${small[@]}" --resume latest a.tok.zst
one_line_error '^bam-train: --resume latest: needs a file'
expect 75 bam-train -q "${now[@]}" --no-times --threads 1 --resume long.h5 a.tok.zst b.tok.zst -o next.h5 --log long.jsonl
[ "$(wc -l <long.jsonl)" = $((steps + 1)) ] || fail "--resume made $(wc -l <long.jsonl) steps after $steps"

# What a resume refuses, and what it says.
expect 1 bam-train -q --resume long.h5 --lr 0.1 a.tok.zst b.tok.zst -o next.h5
one_line_error '^bam-train: --lr: 0.1, but long.h5 was begun with preset'
expect 1 bam-train -q --resume long.h5 a.tok.zst -o next.h5
one_line_error '^bam-train: a.tok.zst: not the data that the training began with'
expect 1 bam-train -q --resume missing.h5 a.tok.zst -o next.h5
one_line_error '^bam-train: missing.h5: '
expect 1 bam-train -q --resume whole.h5 --steps 39 a.tok.zst b.tok.zst -o next.h5
one_line_error '^bam-train: whole.h5: has made 40 steps'
expect 0 bam-train -q --threads 1 --no-times --resume whole.h5 --steps 42 a.tok.zst b.tok.zst -o next.h5 --log next.jsonl
grep -q 'warning: 42 steps, whole.h5 was begun for 40' err || fail "another --steps is not told: $(cat err)"
[ "$(wc -l <next.jsonl)" = 2 ] || fail "two more steps have $(wc -l <next.jsonl) lines"

# Another training is not continued, but replaced, and that is told.
bam-train "${small[@]}" "${now[@]}" a.tok.zst b.tok.zst -o other.h5
expect 0 bam-train -q --threads 1 --layers 1 --dim 32 --heads 4 --context 96 --steps 1 a.tok.zst -o other.h5
grep -q 'an unfinished training with --' err || fail "the replaced training is not told: $(cat err)"

finish
