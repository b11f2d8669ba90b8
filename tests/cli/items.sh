#!/bin/bash
# Shares of an evaluation and the table made from them: bam-passkey, bam-ppl; and bam-ppl --rolling.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
tail -40 text.txt >held.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 3 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

# shares NAME COMMAND... - the shares of a run are its items, byte by byte, and merged they are its table, NAME.whole.
parts=3
shares() {
  local name=$1 i
  shift
  "$@" >"$name.whole" || fail "$name failed"
  for i in $(seq $parts); do "$@" --task "$i/$parts" --per-item --no-header >"$name.$i" || fail "$name: share $i"; done
  sort "$name".[0-9] | cmp -s - <("$@" --per-item --no-header | sort) || fail "$name: items differ"
  cat "$name".[0-9] | "$1" -q --merge "${merging[@]}" - >"$name.merged" || fail "$name: --merge failed"
  cmp -s "$name.merged" "$name.whole" || fail "$name: $(diff "$name.merged" "$name.whole")"
}
# alike A B - tables of the same words, and numbers that are equal but for rounding.
alike() {
  awk -F'\t' 'NR == FNR { row[FNR] = $0; next }
    { if (split(row[FNR], a) != NF) exit 1
      for (i = 1; i <= NF; i++) if (a[i] != $i && ((a[i] - $i) ^ 2 > 1e-10 * $i ^ 2 || $i + 0 == 0)) exit 1 }
    END { if (FNR != length(row)) exit 1 }' "$1" "$2" || fail "$(diff "$1" "$2")"
}
merging=(--no-times)
shares windows bam-ppl -q --no-times --chunk 128 model.h5 held.txt
shares sliding bam-ppl -q --no-times --chunk 256 --stride 16 model.h5 held.txt
# Steep priors, of which something is skipped.
steep=(--layers 2 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 40 --scale-init 0)
bam-train -q --threads 1 "${steep[@]}" --seed 5 --no-times train.tok.zst -o steep.h5 || fail "training failed"
shares keys bam-passkey -q --no-times --chunk 100 --lengths 512,1k --samples 7 steep.h5
awk -F'\t' 'NR > 1 && $12 > 0 { found = 1 } END { exit !found }' keys.whole || fail "nothing is skipped: $(cat keys.whole)"
merging=(--no-times --rolling)
shares rolling bam-ppl -q --no-times --rolling --input lines model.h5 held.txt
# More shares than there is work: the others are empty tables.
head -5 held.txt >five.txt
parts=9
shares five bam-ppl -q --no-times --rolling --input lines model.h5 five.txt
merging=(--no-times)
shares few bam-ppl -q --no-times --bin 1x model.h5 five.txt
shares two bam-passkey -q --no-times --lengths 512 --samples 2 model.h5
for empty in five.9 few.9 two.9; do [ ! -s $empty ] || fail "$empty: $(cat $empty)"; done
parts=3
for kind in rolling no-times; do
  expect 0 bam-ppl -q --$kind --input lines --task 8/9 model.h5 five.txt
  [ "$(wc -l <out)" = 1 ] || fail "an empty share, --$kind: $(cat out)"
  expect 0 bam-ppl -q --$kind --input lines --per-item --format jsonl --task 8/9 model.h5 five.txt
  [ ! -s out ] || fail "an empty share, --$kind: $(cat out)"
done
{ cat five.txt; echo; } | bam-ppl -q --no-times --rolling --input lines --task 6/6 model.h5 >blank || fail "a share of an empty document"
[ "$(wc -l <blank)" = 1 ] || fail "a share of an empty document: $(cat blank)"
bam-ppl -q --chunk 128 model.h5 held.txt --per-item --format jsonl >timed.jsonl
expect 0 bam-ppl -q --merge timed.jsonl
head -1 out | grep -q 'seconds$' || fail "times are lost in a merge"
cut -f1-19 out >untimed
cmp -s untimed windows.whole || fail "a merge of JSON lines differs"
expect 1 bam-ppl -q --merge windows.1 windows.1
one_line_error '^bam-ppl: bin 1, from 1: window 0 is there twice, expected tables of different shares'
expect 1 bam-ppl -q --merge windows.whole
one_line_error '^bam-ppl: windows.whole:1: 19 columns and not 17'
expect 1 bam-passkey -q --merge windows.1
one_line_error '^bam-passkey: windows.1:1: '
expect 2 bam-passkey -q --merge --task 1/2 keys.1
one_line_error '^bam-passkey: --merge, --task: expected one of them'
expect 0 bam-ppl --task 99/99 model.h5 held.txt
grep -q '^bam-ppl: --task: held.txt has no window in this share' err || fail "an empty share is not told: $(cat err)"

# Rolling.
[ "$(head -1 rolling.whole)" = "$(printf 'documents\ttokens\twords\tbytes\twindows\tnll\tnll_se\tword_perplexity\tword_perplexity_se\tbyte_perplexity\tbyte_perplexity_se\tbits_per_byte\tbits_per_byte_se\tcontext\tbos\tseed\tdtype\treading\tdevice\tmodel\tversion')" ] ||
  fail "columns are $(head -1 rolling.whole)"
[ "$(sed 1d rolling.whole | cut -f1-4)" = "$(printf '40\t%d\t%d\t%d' $(($(wc -c <held.txt) - 40)) "$(wc -w <held.txt)" $(($(wc -c <held.txt) - 40)))" ] ||
  fail "counts are $(sed 1d rolling.whole | cut -f1-4)"
sed 1d rolling.whole | awk -F'\t' '{ t = $6 * $2; exit !((exp(t / $3) / $8 - 1) ^ 2 < 1e-6 && (exp(t / $4) / $10 - 1) ^ 2 < 1e-6 && (t / $4 / log(2) - $12) ^ 2 < 1e-9) }' ||
  fail "measures disagree: $(cat rolling.whole)"
bam-ppl -q --no-times --rolling --input lines --per-item model.h5 <held.txt | cut -f2 | sed 1d | paste -sd+ >sum
[ "$(($(cat sum)))" = $(($(wc -c <held.txt) - 40)) ] || fail "tokens of documents: $(cat sum)"
bam-ppl -q --no-times --rolling --context 200 --eps 0 model.h5 held.txt >long
bam-ppl -q --no-times --rolling --context 200 --eps 0 --chunk 7 model.h5 held.txt >chunks
alike chunks long
fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" bam-ppl -q --rolling "$@" -o no.tsv
  one_line_error "^bam-ppl: $expected"
  [ -e no.tsv ] && fail "no.tsv exists"
}
: >empty
printf '{"text":"a"}\n{"text":1}\n' >bad.jsonl
fails 1 'train.tok.zst: token shards, expected text' model.h5 train.tok.zst
fails 1 'empty: ' model.h5 empty
fails 1 'bad.jsonl:2: ' model.h5 bad.jsonl
fails 1 'none.txt: cannot open' model.h5 bad.jsonl none.txt
fails 1 'train.tok.zst: token shards, expected text' model.h5 bad.jsonl train.tok.zst
fails 1 '--context: 1000000000 tokens take .* of memory' --context 1G model.h5 held.txt
fails 2 '--bos: with --rolling' --bos no model.h5 held.txt
finish
