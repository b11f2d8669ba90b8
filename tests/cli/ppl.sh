#!/bin/bash
# bam-ppl: shards and text, files, pipes and FIFOs, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-ppl -q --no-times "$@"; }
# column NAME FILE - of the row "all".
column() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == "all" { print $at[name] }' "$2"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
tail -40 text.txt >held.txt
tokenize() { bam-tokenize -q --tokenizer bytes "$@"; }
tokenize --input lines text.txt -o train.tok.zst || fail "no shard"
tokenize held.txt -o held.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 3 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

# The table.
expect 0 quiet model.h5 held.tok.zst
cp out whole
[ "$(head -1 out)" = "$(printf 'bin\tfrom\tto\ttokens\twindows\tnll\tnll_se\tperplexity\tbits_per_byte\tbytes\tcontext\tstride\tbos\tseed\tdtype\treading\tdevice\tmodel\tversion')" ] ||
  fail "columns are $(head -1 out)"
[ "$(wc -l <out)" = 10 ] || fail "expected eight bins and a total, got $(wc -l <out) lines"
[ -s err ] && fail "-q wrote to standard error"
tokens=$(($(wc -c <held.txt) + 1))
[ "$(column tokens out)" = $(((tokens - 1) / 64 * 64)) ] || fail "tokens: $(column tokens out) of $tokens"
expect 0 bam-ppl model.h5 held.tok.zst
grep -q "$(((tokens - 1) % 64)) tokens behind the last full window" err || fail "what is left out is not said: $(cat err)"
expect 0 quiet --format jsonl --bin 64 model.h5 held.tok.zst
[ "$(grep -c '"bin":' out)" = 2 ] || fail "JSON lines are $(cat out)"

# Every way in gives the same numbers.
quiet model.h5 held.txt | cmp -s - whole || fail "text differs from its shard"
quiet model.h5 <held.tok.zst | cmp -s - whole || fail "standard input differs"
zstd -cq held.txt | quiet model.h5 - --input text | cmp -s - whole || fail "compressed text through a pipe differs"
quiet - held.tok.zst <model.h5 | cmp -s - whole || fail "a model from standard input differs"
mkfifo fifo models
cat held.tok.zst >fifo &
cat model.h5 >models &
quiet models fifo | cmp -s - whole || fail "FIFOs differ"
wait
bam-train "${small[@]}" train.tok.zst -o - | quiet - held.tok.zst | cmp -s - whole || fail "a pipe from bam-train differs"
tokenize --input lines held.txt -o lines.tok.zst
cat held.tok.zst lines.tok.zst >both.tok.zst
quiet model.h5 held.tok.zst lines.tok.zst >two
quiet model.h5 both.tok.zst | cmp -s - two || fail "two shards differ from one"
quiet model.h5 held.tok.zst -o table.tsv
same table.tsv whole

# Windows.
expect 0 quiet --stride 16 model.h5 held.tok.zst
[ "$(column tokens out)" = $((tokens - 1)) ] || fail "--stride scores $(column tokens out) of $tokens tokens"
[ "$(column bytes out)" = $((tokens - 1)) ] || fail "bytes: $(column bytes out)"
expect 0 quiet --context 2x --bin 1x model.h5 held.tok.zst
[ "$(wc -l <out)" = 4 ] || fail "expected two bins and a total"
[ "$(column context out)" = 128 ] || fail "2x is $(column context out)"
expect 0 quiet --stride 8 --max-tokens 50 model.h5 held.tok.zst
[ "$(column tokens out)" = 49 ] || fail "--max-tokens 50 scores $(column tokens out)"
expect 0 quiet --stride 64 --bos no model.h5 lines.tok.zst
[ "$(column bos out) $(column tokens out)" = "no $(($(wc -c <held.txt) - 41))" ] || fail "--bos no: $(cat out)"
quiet --dtype bf16 model.h5 held.tok.zst >half.tsv
[ "$(column dtype half.tsv)" = bf16 ] || fail "dtype is $(column dtype half.tsv)"
quiet --device ref model.h5 held.tok.zst >double.tsv
awk -v a="$(column nll double.tsv)" -v b="$(column nll whole)" 'BEGIN { exit !((a - b) ^ 2 < 1e-10) }' || fail "ref differs from cpu"

# Bad input: one line, status 1, no table.
fails() {
  local expected=$1
  shift
  expect 1 quiet "$@"
  one_line_error "^bam-ppl: $expected"
  [ ! -s out ] || fail "$*: wrote to standard output: $(head -c 200 out)"
}
expect 1 quiet none.h5 -o no.tsv
absent no.tsv
mkdir directory
: >empty
fails 'none.h5: ' none.h5 held.tok.zst
fails 'directory: ' directory held.tok.zst
fails 'empty: ' empty held.tok.zst
fails 'held.tok.zst: ' held.tok.zst held.tok.zst
fails 'none.tok.zst: ' model.h5 none.tok.zst
fails 'directory: ' model.h5 directory
fails 'empty: empty' model.h5 empty
fails 'model.h5: a checkpoint, expected token shards or text' model.h5 model.h5
size=$(stat -c %s model.h5)
for cut in 1 511 512 1000 $((size - 1)); do
  head -c "$cut" model.h5 >cut.h5
  fails 'cut.h5: ' cut.h5 held.tok.zst
done
for at in 600 $((size / 2)); do
  cp model.h5 flipped.h5
  byte=$(od -An -tu1 -j"$at" -N1 model.h5)
  # shellcheck disable=SC2059
  printf "\\x$(printf %x $((byte ^ 64)))" | dd of=flipped.h5 bs=1 seek="$at" conv=notrunc 2>/dev/null
  fails 'flipped.h5: ' flipped.h5 held.tok.zst
done
size=$(stat -c %s held.tok.zst)
for cut in 8 100 $((size / 2)) $((size - 1)); do
  head -c "$cut" held.tok.zst >cut.tok.zst
  fails 'cut.tok.zst: ' model.h5 cut.tok.zst
done
bam-tokenize -q --tokenizer "$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model" held.txt -o other.tok.zst
fails 'other.tok.zst: does not fit the model model.h5: ' model.h5 other.tok.zst
# Text that pzstd has compressed begins with a frame of the magic of shards, and is text.
command -v zstd >/dev/null && {
  expect 0 quiet model.h5 held.txt
  mv out plain
  { printf '\x50\x2A\x4D\x18\x04\x00\x00\x00{\x01\x00\x00' && zstd -qc held.txt; } >pzstd.txt.zst
  expect 0 quiet model.h5 pzstd.txt.zst
  cmp -s out plain || fail "text as pzstd compresses it is another"
}
# Damage at the front of a file is not read as text.
printf '\100\200 not it' >other.txt.zst
expect 1 quiet model.h5 other.txt.zst
one_line_error '^bam-ppl: other.txt.zst: does not begin as a file whose name ends with .zst$'

# What a tokenizer cannot keep is said, once.
bam-train "${small[@]}" other.tok.zst -o other.h5 || fail "training failed"
{ printf 'Gr\xf6\xdfe und Stra\xdfe.\n%.0s' $(seq 30); } >latin.txt
for how in --stride=32 --rolling; do
  expect 0 quiet "$how" other.h5 latin.txt latin.txt
  one_line_error '^bam-ppl: warning: latin.txt: bytes that are not UTF-8'
done
head -c 50 held.txt >short.txt
fails 'short.txt: 51 tokens, expected at least 65' model.h5 short.txt
fails 'held.tok.zst: .* tokens, expected at least' --context 100k model.h5 held.tok.zst
fails '--context: 1000000000 tokens take .* of memory' --context 1G model.h5 held.tok.zst
fails '--context: 64 tokens take .* of memory, and 1.00 KiB may be used' --max-memory 1Ki model.h5 held.tok.zst
printf '{"text":"a"}\n{"text":1}\n' >bad.jsonl
fails 'bad.jsonl:2: ' --stride 4 model.h5 bad.jsonl
fails 'none.txt: cannot open' --stride 4 model.h5 bad.jsonl none.txt
fails 'other.tok.zst: does not fit the model' --stride 4 model.h5 bad.jsonl other.tok.zst

# Output that cannot be written, readers that go away.
expect 1 bash -c 'bam-ppl -q model.h5 held.tok.zst >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'
quiet model.h5 held.tok.zst 2>err | head -1 >out
status=${PIPESTATUS[0]}
{ [ "$status" = 0 ] || [ "$status" = 141 ]; } || fail "status $status when the reader goes away"
[ -s err ] && fail "standard error when the reader goes away: $(head -c 200 err)"

# Bad command lines.
usage() {
  local expected=$1
  shift
  expect 2 bam-ppl "$@"
  one_line_error "^bam-ppl: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
usage 'MODEL is missing' --no-times
usage "--context: 'abc' is not" --context abc model.h5 held.tok.zst
usage "--context: '-1' is" --context -1 model.h5 held.tok.zst
usage "--context: '1' is" --context 1 model.h5 held.tok.zst
usage "--context: '1e99' is" --context 1e99 model.h5 held.tok.zst
usage '--context: .* is out of range' --context 999999999999999999x model.h5 held.tok.zst
usage "--bos: 'maybe' is not" --bos maybe model.h5 held.tok.zst
usage '--stride: 65 would leave tokens out' --stride 65 model.h5 held.tok.zst
usage '-: standard input can be read once' - -
usage '--strides: unknown option, did you mean --stride' --strides 4 model.h5 held.tok.zst
finish
