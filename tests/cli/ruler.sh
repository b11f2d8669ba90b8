#!/bin/bash
# bam-ruler: samples, tables, shares, going on where it was, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-ruler -q --no-times "$@"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }
# column NAME FILE - all values.
column() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[name] }' "$2" | paste -sd' '; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer "$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model" --input lines text.txt \
  -o train.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 2 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

# Samples, as RULER writes them.
expect 0 quiet --tasks niah_multikey_3 --lengths 1024 --samples 4 --seed 42 --dump model.h5
[ "$(sha256sum <out | cut -c1-16)" = 9054317040449f4b ] || fail "--dump: samples differ from RULER's"
cp out four.jsonl
quiet --tasks niah_multikey_3 --lengths 1024 --samples 4 --seed 42 --task 2/2 --dump model.h5 >half
sed -n '2p;4p' four.jsonl | cmp -s - half || fail "a share of the samples"
quiet --tasks qa_1 --squad "$BAM_SOURCE/tests/data/ruler/squad.json" --lengths 2048 --samples 4 --seed 42 --dump model.h5 >out
[ "$(sha256sum <out | cut -c1-16)" = b312ab7a5297f0a2 ] || fail "--dump: questions differ from RULER's"

# The table.
asked=(--tasks "niah_single_1,vt" --lengths "1500,24x" --samples 4 --seed 7)
expect 0 quiet "${asked[@]}" model.h5
cp out whole
[ "$(head -1 out)" = "$(printf 'task\tlength\treal_length\tn\tscore\tscore_se\tsuccesses\tci_low\tci_high\tnulls\tread_tokens\twritten_tokens\tmetric\tsource\thaystack\twords\tessay\tbos\tseed\tdtype\treading\tdevice\tmodel\tversion')" ] ||
  fail "columns are $(head -1 out)"
[ "$(column task out)" = "niah_single_1 niah_single_1 vt vt" ] || fail "tasks are $(column task out)"
[ "$(column length out)" = "1500 1536 1500 1536" ] || fail "lengths are $(column length out)"
[ "$(column n out)" = "4 4 4 4" ] || fail "n is $(column n out)"
[ -s err ] && fail "-q wrote to standard error"
awk -F'\t' 'NR > 1 && !($3 <= $2 && $3 > $2 - 300) { exit 1 }' out || fail "real lengths: $(cut -f2,3 out)"
quiet "${asked[@]}" --share-prefix no model.h5 >separate
cmp -s separate whole || fail "separate runs differ"

# Shares and their table.
for i in 1 2 3; do quiet "${asked[@]}" --task $i/3 --per-item --no-header model.h5 -o $i.tsv || fail "share $i"; done
[ "$(cat [123].tsv | wc -l)" = 16 ] || fail "shares have $(cat [123].tsv | wc -l) rows"
expect 0 bam-ruler "${asked[@]}" model.h5
grep -q 'skipped .* of attention at --eps 1e-06' err || fail "the share that was skipped is not said: $(head -c 300 err)"
expect 0 quiet --merge 3.tsv 1.tsv 2.tsv
sort out | cmp -s - <(sort whole) || fail "--merge differs: $(cat out)"
cat [123].tsv | quiet --merge - | cmp -s - whole || fail "--merge of a pipe differs"
for i in 1 2 3 4 5; do quiet "${asked[@]}" --chunk 200 --task $i/5 --per-item --no-header model.h5; done >fifths
[ "$(wc -l <fifths)" = 16 ] || fail "an empty share: $(cut -f1-3 fifths)"
quiet "${asked[@]}" --chunk 200 --per-item --no-header model.h5 | sort | cmp -s - <(sort fifths) || fail "items of shares differ"
quiet "${asked[@]}" --chunk 200 model.h5 | cmp -s - <(quiet --merge fifths) || fail "--merge of fifths differs"
quiet "${asked[@]}" --per-item --format jsonl model.h5 >items.jsonl
quiet --merge items.jsonl | cmp -s - whole || fail "--merge of JSON lines differs"
expect 0 quiet --merge 1.tsv
grep -q 'bam-ruler: warning: task niah_single_1, length 1500: 2 of the 4 are missing, the first is sample 1' err || fail "missing rows are not told: $(cat err)"
expect 1 quiet --merge 1.tsv 1.tsv
one_line_error '^bam-ruler: task niah_single_1, length 1500: sample 0 is there twice'
expect 1 quiet --merge whole
one_line_error '^bam-ruler: whole:1: 24 columns and not'

# Another file is not added to, and stays as it is.
cp model.h5 precious.h5
expect 1 quiet "${asked[@]}" --append precious.h5 model.h5
one_line_error '^bam-ruler: precious.h5:1: '
same precious.h5 model.h5
expect 2 quiet "${asked[@]}" --append table.tsv model.h5 -o ./table.tsv
one_line_error '^bam-ruler: --append: table.tsv is also written \(--output\)'
expect 2 quiet "${asked[@]}" --append - model.h5
one_line_error '^bam-ruler: --append: standard output is no file to add to'

# Going on where it was: rows that are there stay, a torn one goes.
quiet "${asked[@]}" --append items.tsv model.h5 >appended || fail "--append failed"
cmp -s appended whole || fail "--append gives another table"
head -c $(($(wc -c <items.tsv) * 2 / 3)) items.tsv >part.tsv
rows=$(($(wc -l <part.tsv) - 1))
quiet "${asked[@]}" --append part.tsv model.h5 >resumed || fail "--append did not go on"
cmp -s resumed whole || fail "a resumed run differs"
[ "$(sed 1d part.tsv | sort | cut -f1-5 | uniq | wc -l)" = 16 ] || fail "rows after going on: $(wc -l <part.tsv)"
[ "$rows" -gt 3 ] || fail "nothing was there to go on from"
head -$((rows + 1)) items.tsv | cmp -s - <(head -$((rows + 1)) part.tsv) || fail "rows that were there changed"
cp items.tsv before.tsv
quiet "${asked[@]}" --append items.tsv model.h5 >/dev/null
same items.tsv before.tsv

awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  { d = $at["depth"]; if ($1 == "vt" ? d != "" : !(d > 0 && d < 1)) exit 1 }' items.tsv || fail "depths: $(cut -f1,5 items.tsv)"

# Samples from a file.
expect 0 quiet --tasks niah_multikey_3 --data four.jsonl model.h5
[ "$(column n out) $(column source out) $(column length out)" = "4 four.jsonl " ] || fail "--data: $(cat out)"
printf '{"index":0,"input":"Say 1.","outputs":["x","y"]}\n' | zstd -q >one.jsonl.zst
expect 0 quiet --tasks qa_1 --data one.jsonl.zst --per-item model.h5
[ "$(column outputs out)" = '["x", "y"]' ] || fail "outputs: $(column outputs out)"

{ printf '\xef\xbb\xbf'; sed 's/$/\r/' four.jsonl; } >windows.jsonl
quiet --tasks niah_multikey_3 --data four.jsonl model.h5 | sed 's/four/windows/' >plain
quiet --tasks niah_multikey_3 --data windows.jsonl model.h5 | cmp -s - plain || fail "a mark of the byte order or CRLF changes --data"

# Essays cut into sentences with the parameters of NLTK.
mkdir punkt
printf 'mr\nvs' >punkt/abbrev_types.txt
printf 'it' >punkt/sent_starters.txt
printf 'j\tdoe' >punkt/collocations.tab
printf 'he\t34\nthe\t34\n' >punkt/ortho_context.tab
essay=(--tasks niah_single_2 --lengths 2k --samples 3 --seed 42)
expect 0 quiet "${essay[@]}" --punkt punkt --dump model.h5
[ "$(sha256sum <out | cut -c1-16)" = d06fba3c2cb926cd ] || fail "--punkt: samples differ from those of NLTK's sentences: $(sha256sum <out)"
quiet "${essay[@]}" --dump model.h5 | cmp -s - out && fail "--punkt changes nothing"
expect 0 quiet "${essay[@]}" --punkt punkt model.h5
[ "$(column essay out)" = "built-in by punkt" ] || fail "essay is $(column essay out)"

# Bad input: one line, and no table.
fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" quiet "$@"
  one_line_error "^bam-ruler: $expected"
  [ ! -s out ] || fail "$*: wrote to standard output: $(head -c 200 out)"
}
expect 1 quiet none.h5 -o no.tsv
absent no.tsv
mkdir directory
: >empty
printf '{"input":"a","outputs":["b"]}\n{"input":"a","outputs":[]}\n' >bad.jsonl
fails 1 'none.h5: ' none.h5
fails 1 '--lengths: 200 tokens are too few for niah_single_1: ' --tasks niah_single_1 --lengths 200 model.h5
# What cannot be asked is refused before anything is answered.
fails 1 '--lengths: 800 tokens are too few for vt: ' --tasks niah_single_1,vt --lengths 1500,800 --samples 2 --append early.tsv model.h5
absent early.tsv
fails 1 '--samples: .*squad.json has [0-9]+ questions' --tasks niah_single_1,qa_1 --lengths 2k --samples 5000 \
  --squad "$BAM_SOURCE/tests/data/ruler/squad.json" --append early.tsv model.h5
absent early.tsv
{ for i in $(seq 64); do echo '{"input":"Say 1.","outputs":["1"]}'; done; sed 1q four.jsonl; } >long.jsonl
fails 1 'long.jsonl: [0-9]+ tokens take .* of memory' --tasks niah_multikey_3 --data long.jsonl --max-memory 500Ki --append early.tsv model.h5
absent early.tsv
fails 1 '--lengths: 1000000000 tokens take .* of memory|--lengths: 1000000001 tokens take .* of memory' --tasks fwe --lengths 1G model.h5
fails 1 'bad.jsonl:2: "outputs" without any' --tasks vt --data bad.jsonl model.h5
echo '{"input":"a","outputs":["b"],"answer_prefix":7}' >prefix.jsonl
fails 1 'prefix.jsonl:1: "answer_prefix" is not a text' --tasks vt --data prefix.jsonl model.h5
echo '{"input":"a","outputs":["b"],"length":"12"}' >length.jsonl
fails 1 'length.jsonl:1: "length" is not a number of tokens' --tasks vt --data length.jsonl model.h5
fails 1 'directory/abbrev_types.txt: ' --tasks niah_single_2 --lengths 2k --punkt directory model.h5
fails 1 'empty: ' --tasks vt --data empty model.h5
fails 1 'directory/nounlist.txt: ' --tasks cwe --lengths 2k --words directory model.h5
fails 1 'none.txt: ' --tasks niah_single_2 --lengths 2k --essay none.txt model.h5
fails 1 'model.h5: a checkpoint, expected text' --tasks niah_single_2 --lengths 2k --essay model.h5 model.h5
fails 1 'empty: ' --tasks qa_2 --lengths 2k --hotpot empty model.h5
fails 1 'four.jsonl: not a JSON array|four.jsonl: not valid JSON' --tasks qa_2 --lengths 2k --hotpot four.jsonl model.h5
fails 2 '--tasks: qa_1 needs --squad FILE' --tasks qa_1 --lengths 2k model.h5
fails 2 '--dump: expected one of the --tasks and one of the --lengths' --dump model.h5
fails 2 '--dump: does not go with --per-item' --tasks vt --lengths 2k --dump --per-item model.h5
fails 2 '--data: expected one of the --tasks' --data four.jsonl model.h5
fails 2 '--seed: 4294967296 is out of range' --seed 4294967296 model.h5
fails 2 "--tasks: 'niah' is not" --tasks niah model.h5
fails 2 "--task: '0/3' is not a share" --task 0/3 model.h5
fails 2 '--merge, --per-item: expected one of them' --merge --per-item 1.tsv
fails 2 'model.h5: a second file is for --merge alone' model.h5 model.h5

expect 1 bash -c 'bam-ruler -q --tasks vt --lengths 1500 --samples 1 model.h5 >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'
expect 1 quiet --tasks vt --lengths 1500 --samples 1 --append /dev/full model.h5
one_line_error '^bam-ruler: /dev/full: not a file'
finish
