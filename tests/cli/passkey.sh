#!/bin/bash
# bam-passkey: the table, the prompts, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-passkey -q --no-times "$@"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }
# all COLUMN FILE - of the rows "all".
all() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $3 == "all" { print $at[name] }' "$2" | paste -sd' '; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 3 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

# The table.
lengths=(--lengths "512,10x,1k" --samples 5)
expect 0 quiet "${lengths[@]}" model.h5
cp out whole
[ "$(head -1 out)" = "$(printf 'length\treal_length\tdepth\tneedle_token\tn\tsuccesses\taccuracy\tci_low\tci_high\tnll\tread_tokens\tskipped\tdepths\tdigits\tprefix_digits\tbos\tseed\tdtype\treading\tdevice\tmodel\tversion')" ] ||
  fail "columns are $(head -1 out)"
[ -s err ] && fail "-q wrote to standard error"
[ "$(all length out)" = "512 640 1000" ] || fail "lengths are $(all length out)"
[ "$(all n out)" = "5 5 5" ] || fail "n is $(all n out)"
awk -F'\t' 'NR > 1 && !($2 <= $1 && $2 > $1 - 90) { exit 1 }' out || fail "real lengths: $(cut -f1,2 out)"
quiet "${lengths[@]}" model.h5 | cmp -s - whole || fail "a second run differs"
quiet "${lengths[@]}" - <model.h5 | cmp -s - whole || fail "a model from standard input differs"
mkfifo models
cat model.h5 >models &
quiet "${lengths[@]}" models | cmp -s - whole || fail "a model from a FIFO differs"
wait
bam-train "${small[@]}" train.tok.zst -o - | quiet "${lengths[@]}" - | cmp -s - whole || fail "a pipe from bam-train differs"
quiet "${lengths[@]}" --lengths 2k model.h5 -o table.tsv
[ "$(all length table.tsv)" = "512 640 1000 2000" ] || fail "lists do not grow"
expect 0 quiet "${lengths[@]}" --seed 1 --format jsonl model.h5
grep -q '"seed":"1"' out || fail "the seed is not in the row: $(head -1 out)"
quiet "${lengths[@]}" --share-prefix no model.h5 >separate
cmp -s separate whole || fail "separate runs differ"
expect 0 quiet "${lengths[@]}" --patience 2 model.h5
[ "$(all length out)" = "512 640" ] || fail "--patience 2 goes through $(all length out)"
expect 0 quiet "${lengths[@]}" --per-item model.h5
[ "$(wc -l <out)" = 16 ] || fail "--per-item writes $(wc -l <out) lines"

# The prompts.
expect 0 quiet "${lengths[@]}" --dump model.h5
[ "$(wc -l <out)" = 15 ] || fail "--dump writes $(wc -l <out) lines"
grep -q '"prompt":"There is an important info hidden .* What is the pass key? The pass key is"' out || fail "prompts: $(head -1 out)"
cp out dumped
expect 0 quiet "${lengths[@]}" --dump model.h5
same out dumped
expect 0 quiet --lengths 512 --samples 1 --bos no --digits 2 --prefix-digits 1 --depths end --dump model.h5
grep -Eq '"prompt_ids":\[84,.*"given_ids":\[32,[0-9]+\],"scored_ids":\[[0-9]+,[0-9]+\]' out || fail "ids: $(tail -c 200 out)"

# Training documents.
corpus=(--corpus 300 --max-tokens 256 --seed 2 --filler-text text.txt)
expect 0 bam-passkey -q "${corpus[@]}" -o docs.jsonl
[ "$(wc -l <docs.jsonl)" = 300 ] || fail "--corpus 300 writes $(wc -l <docs.jsonl) lines"
[ "$(grep -cE '^\{"text":".*","kind":"(passkey|list|copy|text)","tokens":[0-9]+(,"key":"[0-9]{3,8}","exact":false)?\}$' docs.jsonl)" = 300 ] ||
  fail "documents: $(head -c 300 docs.jsonl)"
! grep -Eqi 'pass.?key"?|remember it\. [0-9]|irrelevant' <(sed 's/"kind":.*//' docs.jsonl) || fail "the evaluation's wording is in the documents"
bam-passkey -q "${corpus[@]}" | cmp -s - docs.jsonl || fail "a second corpus differs"
bam-tokenize -q docs.jsonl -o docs.tok.zst || fail "bam-tokenize does not read the documents"
[ "$(bam-tokenize --info docs.tok.zst | cut -f4 | tail -1)" = "$(sed 's/.*"tokens":\([0-9]*\).*/\1/' docs.jsonl | awk '{ n += $1 } END { print n }')" ] ||
  fail "the documents have other numbers of tokens than they say"
expect 0 bam-passkey -q --corpus 100 --max-tokens 600 --exact-share 1
grep -q 'What is the pass key? The pass key is [0-9]*","kind":"passkey".*"exact":true' out || fail "--exact-share 1: $(head -c 300 out)"
expect 1 bam-passkey -q --corpus 10 --filler-text absent.txt -o no.jsonl
one_line_error '^bam-passkey: absent.txt: '
absent no.jsonl
: >nothing
for file in nothing train.tok.zst model.h5; do
  expect 1 bam-passkey -q --corpus 10 --filler-text $file -o no.jsonl
  one_line_error "^bam-passkey: $file: (empty|a token shard|a checkpoint), expected text"
  absent no.jsonl
done
gzip -c text.txt >text.txt.gz
bam-passkey -q --corpus 300 --max-tokens 256 --seed 2 --filler-text text.txt.gz | cmp -s - docs.jsonl || fail "compressed filler differs"
expect 2 bam-passkey -q --corpus 10 --max-tokens 30 -o no.jsonl
one_line_error '^bam-passkey: --max-tokens: 30 tokens are too few, expected at least [0-9]+'
absent no.jsonl

# Bad input: one line, status 1, no table.
fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" quiet "$@"
  one_line_error "^bam-passkey: $expected"
  [ ! -s out ] || fail "$*: wrote to standard output: $(head -c 200 out)"
}
expect 1 quiet none.h5 -o no.tsv
absent no.tsv
mkdir directory
: >empty
fails 1 'none.h5: ' none.h5
fails 1 'directory: ' directory
fails 1 'empty: ' empty
fails 1 'train.tok.zst: ' train.tok.zst
for cut in 1 512 $(($(stat -c %s model.h5) - 1)); do
  head -c "$cut" model.h5 >cut.h5
  fails 1 'cut.h5: ' cut.h5
done
fails 1 '--lengths: 1000000000 tokens take .* of memory' --lengths 512,1G model.h5
fails 1 '--lengths: 512 tokens take .* of memory, and 1.00 KiB may be used' --lengths 512 --max-memory 1Ki model.h5
fails 2 '--lengths: 64 tokens are too few, expected at least the [0-9]+ of the task' --lengths 512,1x model.h5
fails 2 '--lengths: .* is out of range' --lengths 999999999999999999x model.h5

# Output that cannot be written, readers that go away.
expect 1 bash -c 'bam-passkey -q --lengths 512 --samples 2 model.h5 >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'
quiet "${lengths[@]}" model.h5 2>err | head -1 >out
status=${PIPESTATUS[0]}
{ [ "$status" = 0 ] || [ "$status" = 141 ]; } || fail "status $status when the reader goes away"
[ -s err ] && fail "standard error when the reader goes away: $(head -c 200 err)"

# Bad command lines.
usage() {
  local expected=$1
  shift
  expect 2 bam-passkey "$@"
  one_line_error "^bam-passkey: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
usage 'MODEL is missing' --no-times
usage "--lengths: '0' is" --lengths 0 model.h5
usage "--lengths: 'abc' is not" --lengths 512,abc model.h5
usage '--lengths: ' --lengths 512,,1k model.h5
usage "--samples: '0' is" --samples 0 model.h5
usage "--depths: 'middle' is not" --depths middle model.h5
usage "--digits: '0' is" --digits 0 model.h5
usage '--dump, --per-item: expected one of them' --dump --per-item model.h5
usage "'b.h5': expected one MODEL" model.h5 b.h5
usage '--patience, --task: expected one of them' --patience 2 --task 1/2 model.h5
usage '--corpus: asks no model' --corpus 5 model.h5
usage "--exact-share: '2' is" --corpus 5 --exact-share 2
usage '--length: unknown option, did you mean --lengths' --length 5 model.h5
finish
