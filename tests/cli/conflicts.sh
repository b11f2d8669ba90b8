#!/bin/bash
# No tool replaces a file that it reads, nor takes more than the machine has, nor goes deaf to a signal in a long step.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 32 --batch-tokens 128)
seq 2000 >text.txt
bam-tokenize -q text.txt -o a.tok.zst || fail "no shard"
bam-tokenize -q text.txt -o b.tok.zst || fail "no shard"
bam-train "${small[@]}" --steps 2 a.tok.zst -o m.h5 || fail "no model"
ln -s a.tok.zst link.tok.zst
mkdir here
sha256sum text.txt a.tok.zst b.tok.zst m.h5 >before

refused() {
  expect 2 "$@"
  one_line_error 'is also (read|written) \(.*\), expected another name$'
}
refused bam-tokenize text.txt -o text.txt
refused bam-tokenize text.txt -o here/../text.txt
refused bash -c 'bam-tokenize - -o text.txt <text.txt'
refused bash -c 'bam-tokenize -o text.txt <text.txt'
refused bash -c 'bam-tokenize --decode -o a.tok.zst <a.tok.zst'
refused bash -c 'bam-train "$@" - -o a.tok.zst <a.tok.zst' - "${small[@]}"
refused bam-tokenize --hold-out 0.5 --hold-out-to text.txt text.txt -o new.h5
refused bam-tokenize --hold-out 0.5 --hold-out-to new.h5 text.txt -o new.h5
refused bam-tokenize --decode a.tok.zst -o a.tok.zst
refused bam-train "${small[@]}" a.tok.zst -o a.tok.zst
refused bam-train "${small[@]}" a.tok.zst -o link.tok.zst
refused bam-train "${small[@]}" a.tok.zst --val b.tok.zst -o b.tok.zst
refused bam-train "${small[@]}" a.tok.zst --log a.tok.zst -o new.h5
refused bam-train "${small[@]}" a.tok.zst --log new.h5 -o new.h5
refused bam-train "${small[@]}" a.tok.zst --init-from m.h5 -o m.h5
refused bam-ppl m.h5 b.tok.zst -o m.h5
refused bam-ppl m.h5 b.tok.zst -o b.tok.zst
refused bam-passkey m.h5 -o m.h5
sha256sum --quiet -c before || fail "a refused run changed a file"
[ ! -e new.h5 ] || fail "a refused run wrote new.h5"

# Going on under the same name is no conflict, nor is a device.
expect 0 bam-train "${small[@]}" --resume m.h5 --steps 3 a.tok.zst -o m.h5
expect 0 bam-train "${small[@]}" --steps 2 a.tok.zst --log /dev/null -o /dev/null

expect 2 bam-train "${small[@]}" --val - -o new.h5 - <a.tok.zst
one_line_error '^bam-train: --val: standard input is read for training'
expect 2 bam-train -q --context 32 --batch-tokens 1e9 a.tok.zst -o new.h5
one_line_error '^bam-train: --batch-tokens: a step of .* expected at most that'
expect 1 bam-ppl -q --max-memory 1e18 --context 2e9 m.h5 b.tok.zst
one_line_error '^bam-ppl: --context: .* of memory'
expect 0 bam-ppl -q --chunk 1e12 m.h5 b.tok.zst
expect 1 bam-tokenize -q --learn 1 text.txt -o new.model
one_line_error 'cannot learn 1 pieces: [a-z]'
printf 'hi' | bam-tokenize -q -o two.tok.zst
expect 0 bam-ppl --stride 8 m.h5 two.tok.zst
! grep -q 'left out' err || fail "bam-ppl speaks of tokens that are not there: $(cat err)"

# A step of many micro-batches is given up at a signal, and the state before it is saved.
bam-tokenize -q <(for _ in $(seq 60); do cat text.txt; done) -o long.tok.zst || fail "no shard"
bam-train -q --threads 1 --layers 2 --dim 128 --heads 4 --context 128 --batch-tokens 500k --steps 3 long.tok.zst -o long.h5 2>err &
trainer=$!
sleep 2
kill -TERM $trainer
for _ in $(seq 50); do kill -0 $trainer 2>/dev/null || break; sleep 0.2; done
kill -0 $trainer 2>/dev/null && { fail "still running ten seconds after SIGTERM"; kill -KILL $trainer; }
status=0
wait $trainer || status=$?
[ $status = 75 ] || fail "stopped by a signal: status $status, expected 75: $(cat err)"
[ -s long.h5 ] || fail "nothing was saved"
finish
