#!/bin/bash
# bam-generate: prompts from everywhere, greedy and drawn text, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-generate -q "$@"; }

yes "the cat sat on the mat and the dog sat on the log" | head -300 >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 64 --heads 4 --context 64 --batch-tokens 512 --steps 60 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

expect 0 quiet --prompt 'the cat ' --max-tokens 30 model.h5
cp out greedy
[ "$(wc -c <out)" = 30 ] || fail "30 tokens of bytes are $(wc -c <out)"
[ -s err ] && fail "-q wrote to standard error"
printf 'the cat \n' >prompt.txt
quiet --max-tokens 30 model.h5 prompt.txt | cmp -s - greedy || fail "a prompt from a file differs"
quiet --max-tokens 30 model.h5 <prompt.txt | cmp -s - greedy || fail "a prompt from standard input differs"
quiet --max-tokens 30 --chunk 3 model.h5 prompt.txt | cmp -s - greedy || fail "--chunk changes the text"
quiet --max-tokens 30 - prompt.txt <model.h5 | cmp -s - greedy || fail "a model from standard input differs"
quiet --max-tokens 30 --temperature 1 --top-k 1 model.h5 prompt.txt | cmp -s - greedy || fail "the most likely of one differs"
quiet --max-tokens 10 model.h5 prompt.txt | cmp -s - <(head -c 10 greedy) || fail "--max-tokens 10"
quiet --max-tokens 30 --echo model.h5 prompt.txt | cmp -s - <(printf 'the cat '; cat greedy) || fail "--echo"
quiet --max-tokens 30 model.h5 prompt.txt -o text.out
same text.out greedy
stop=$(head -c 12 greedy | tail -c 4)
expect 0 quiet --max-tokens 30 --stop "$stop" --stop 'never this' model.h5 prompt.txt
[ "$(wc -c <out)" -lt 12 ] || fail "--stop does not stop: $(cat out)"
grep -qF "$(cat out)" greedy || fail "--stop changes the text"
quiet --max-tokens 60 --temperature 1.5 --seed 1 model.h5 prompt.txt >one
quiet --max-tokens 60 --temperature 1.5 --seed 1 model.h5 prompt.txt | cmp -s - one || fail "the same seed gives another text"
quiet --max-tokens 60 --temperature 1.5 --seed 2 model.h5 prompt.txt | cmp -s - one && fail "another seed gives the same text"
: >nothing
expect 0 quiet --max-tokens 5 model.h5 nothing

# Text comes as it is written.
mkfifo pipe
quiet --max-tokens 100000 model.h5 prompt.txt >pipe 2>/dev/null &
head -c 20 <pipe | cmp -s - <(head -c 20 greedy) || fail "the beginning of a long text differs"
wait $!
status=$?
{ [ $status = 0 ] || [ $status = 141 ]; } || fail "status $status when the reader goes away"

fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" quiet "$@"
  one_line_error "^bam-generate: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
fails 1 'none.h5: ' none.h5 prompt.txt
fails 1 'none.txt: ' model.h5 none.txt
fails 1 'model.h5: a checkpoint, expected text' model.h5 model.h5
fails 1 'train.tok.zst: a token shard, expected text' model.h5 train.tok.zst
fails 1 'the prompt: empty' --bos no model.h5 nothing
fails 1 'the prompt: [0-9]+ tokens take .* of memory, and 1.00 KiB may be used' --max-memory 1Ki model.h5 prompt.txt
fails 2 '--prompt: does not go with a FILE' --prompt a model.h5 prompt.txt
fails 2 '-: standard input can be read once' -
fails 2 "--temperature: '-1' is" --temperature -1 model.h5 prompt.txt
fails 2 "--top-p: '0' is" --top-p 0 model.h5 prompt.txt
fails 2 "--top-k: '0' is" --top-k 0 model.h5 prompt.txt
fails 2 "--max-tokens: '0' is" --max-tokens 0 model.h5 prompt.txt
expect 1 bash -c 'bam-generate -q --prompt a model.h5 >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'
finish
