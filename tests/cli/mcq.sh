#!/bin/bash
# bam-mcq: published files, tables, shares, and what it says about bad items.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-mcq -q --no-times "$@"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }
column() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[name] }' "$2" | paste -sd' '; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 2 --seed 5 --no-times)
bam-train "${small[@]}" train.tok.zst -o model.h5 || { fail "training failed"; finish; }

for i in 1 2 3 4 5; do
  printf '{"id":"q%d","question":"Is %d odd?","choices":{"text":["yes","no","maybe"],"label":["A","B","C"]},"answerKey":"%s"}\n' \
    $i $i "$([ $((i % 2)) = 1 ] && echo A || echo B)"
done >arc.jsonl
for subject in high_algebra low_algebra; do
  printf '1+1,1,2,3,4,B\n"2, then ""3""",a,b,c,d,D\n3,5,6,7,8,A\n' >${subject}_test.csv
  printf '0,0,1,2,3,A\n9,6,7,8,9,D\n' >${subject}_dev.csv
done

# The table.
expect 0 quiet --task arc_easy model.h5 arc.jsonl
cp out whole
[ "$(head -1 out)" = "$(printf 'task\tsubject\tn\tsuccesses\tacc\tacc_se\tci_low\tci_high\tacc_norm\tacc_norm_se\tacc_bytes\tacc_bytes_se\tties\tshared_tokens\tcut_items\tread_tokens\tshots\tbos\tcontext\tseed\tdtype\treading\tdevice\tmodel\tversion')" ] ||
  fail "columns are $(head -1 out)"
[ "$(column task out) $(column subject out) $(column n out)" = "arc_easy all 5" ] || fail "the table is $(cat out)"
[ -s err ] && fail "-q wrote to standard error"
quiet --task arc_easy model.h5 <arc.jsonl | cmp -s - whole || fail "standard input differs"
zstd -cq arc.jsonl | quiet --task arc_easy model.h5 - | cmp -s - whole || fail "compressed items differ"
quiet --task arc_easy - arc.jsonl <model.h5 | cmp -s - whole || fail "a model from standard input differs"
expect 0 quiet --task mmlu --shots 2 --shots-from high_algebra_dev.csv --shots-from low_algebra_dev.csv model.h5 \
  high_algebra_test.csv low_algebra_test.csv
[ "$(column subject out)" = "high_algebra low_algebra all" ] || fail "subjects are $(column subject out)"
[ "$(column n out)" = "3 3 6" ] || fail "n is $(column n out)"
[ "$(column shots out)" = "2 2 2" ] || fail "shots are $(column shots out)"
expect 0 quiet --task arc_easy --shots 2 --limit 3 --context 40 --bos no model.h5 arc.jsonl
[ "$(column n out) $(column cut_items out) $(column bos out) $(column context out)" = "3 3 no 40" ] || fail "options: $(cat out)"
quiet --task arc_easy --shots 2 --per-item model.h5 arc.jsonl >drawn
quiet --task arc_easy --shots 2 --seed 1234 --per-item model.h5 arc.jsonl | cmp -s - drawn || fail "the seed is not the harness's"
quiet --task arc_easy --shots 2 --seed 4 --per-item model.h5 arc.jsonl | cmp -s - drawn && fail "--seed changes nothing"

# Files of other systems: a mark of the byte order, CRLF, lines of blanks.
{ printf '\xef\xbb\xbf'; sed 's/$/\r/' arc.jsonl; } >windows.jsonl
quiet --task arc_easy model.h5 windows.jsonl | cmp -s - whole || fail "a mark of the byte order or CRLF changes JSON lines"
mkdir windows
{ printf '\xef\xbb\xbf'; sed 's/$/\r\n\r/' high_algebra_test.csv; } >windows/high_algebra_test.csv
quiet --task mmlu --per-item model.h5 high_algebra_test.csv >plain
quiet --task mmlu --per-item model.h5 windows/high_algebra_test.csv | cmp -s - plain || fail "a mark of the byte order, CRLF or blank lines change CSV"

# Shares and their table.
for i in 1 2; do quiet --task arc_easy --task $i/2 --per-item --no-header model.h5 arc.jsonl >$i.tsv || fail "share $i"; done
[ "$(cat 1.tsv 2.tsv | cut -f4 | sort | paste -sd' ')" = "q1 q2 q3 q4 q5" ] || fail "shares are $(cut -f4 1.tsv 2.tsv)"
quiet --merge 2.tsv 1.tsv | cmp -s - whole || fail "--merge differs"
for i in $(seq 100); do sed "s/q/q$i-/;s/odd/$((i * i * i * 7919 % 1000003)) or $i/" arc.jsonl; done | head -80 >many.jsonl
quiet --task arc_easy --threads 1 model.h5 many.jsonl >many
for i in 1 2 3 4; do
  quiet --task arc_easy --threads 1 --task $i/4 --per-item --no-header model.h5 many.jsonl >$i.many || fail "share $i"
done
[ "$(wc -l <1.many) $(wc -l <3.many) $(wc -l <4.many)" = '32 16 0' ] || fail "shares of many: $(wc -l [1-4].many)"
cat [1-4].many | cmp -s - <(quiet --task arc_easy --threads 1 --per-item --no-header model.h5 many.jsonl) || fail "items of shares differ"
quiet --merge [1-4].many | cmp -s - many || fail "--merge of many differs"
expect 0 quiet --task arc_easy --task 9/9 model.h5 arc.jsonl
[ "$(wc -l <out)" = 1 ] || fail "an empty share: $(cat out)"
expect 1 quiet --merge 1.tsv 2.tsv 1.tsv
one_line_error '^bam-mcq: task arc_easy, shots 0: item 0 is there twice'

# Bad input: one line, and no table.
fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" quiet "$@"
  one_line_error "^bam-mcq: $expected"
  [ ! -s out ] || fail "$*: wrote to standard output: $(head -c 200 out)"
}
expect 1 quiet --task arc_easy none.h5 arc.jsonl -o no.tsv
absent no.tsv
: >empty
{ cat arc.jsonl; echo '{"id":"q6","question":"Is 6 odd?"}'; } >missing.jsonl
head -c 300 arc.jsonl >cut.jsonl
fails 1 'none.h5: ' --task arc_easy none.h5 arc.jsonl
fails 1 'none.jsonl: ' --task arc_easy model.h5 none.jsonl
fails 1 'empty: ' --task arc_easy model.h5 empty
fails 1 'missing.jsonl:6: item 5: no "choices"' --task arc_easy model.h5 missing.jsonl
fails 1 'cut.jsonl:[0-9]: item [0-9]: not valid JSON' --task arc_easy model.h5 cut.jsonl
echo '{"goal":"a","sol1":"b","sol2":"c","label":1.0}' >label.jsonl
fails 1 'label.jsonl:1: item 0: "label" is not a whole number' --task piqa model.h5 label.jsonl
fails 1 'arc.jsonl:1: item 0: no "goal"' --task piqa model.h5 arc.jsonl
fails 1 'high_algebra_test.csv: not JSON lines' --task arc_easy model.h5 high_algebra_test.csv
fails 1 '--shots: 5 examples are asked for and 5 are there' --task arc_easy --shots 5 model.h5 arc.jsonl
fails 1 'item 0: the prompt: [0-9]+ tokens take .* of memory, and 1.00 KiB may be used' --task arc_easy --max-memory 1Ki model.h5 arc.jsonl
fails 2 '--task: missing, expected arc_easy' model.h5 arc.jsonl
fails 2 "--task: 'arc' is not" --task arc model.h5 arc.jsonl
fails 2 '--task: given twice' --task arc_easy --task piqa model.h5 arc.jsonl
fails 2 '--labels: for piqa alone' --task arc_easy --labels empty model.h5 arc.jsonl
fails 2 '-: standard input can be read once' --task arc_easy - -
expect 1 bash -c 'bam-mcq -q --task arc_easy model.h5 arc.jsonl >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'
finish
