#!/bin/bash
# pipelines/report: a folder with one table of every kind becomes one page; what it says about other folders.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

report() { "$BAM_SOURCE/pipelines/report" "$@"; }
contains() { grep -qE -- "$2" "$1" || fail "$1 does not hold '$2'"; }
is_clean() { [ ! -s err ] || fail "standard error: $(head -3 err)"; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
mkdir "my results"
cd "my results" || exit 1
for pe in bam rope; do
  bam-train -q --threads 1 --pe $pe --layers 2 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 4 --val ../train.tok.zst --val-every 2 \
    --log $pe.log.jsonl -o ../$pe.h5 ../train.tok.zst || fail "no model"
  bam-passkey -q --threads 1 --lengths 600,900 --samples 3 ../$pe.h5 -o $pe.passkey.tsv || fail "no passkeys"
  bam-ppl -q --threads 1 --context 4x --bin 1x ../$pe.h5 ../train.tok.zst -o $pe.ppl.tsv || fail "no perplexity"
done
bam-ppl -q --threads 1 --rolling ../bam.h5 ../text.txt -o bam.rolling.tsv || fail "no rolling perplexity"
bam-ppl -q --threads 1 --per-item ../bam.h5 ../train.tok.zst -o items.tsv || fail "no items"
bam-ruler -q --threads 1 --tasks niah_single_1 --lengths 2k,3k --samples 1 ../bam.h5 -o bam.ruler.tsv || fail "no RULER"
printf '{"id":"%d","question":"Which?","choices":{"text":["one","two|three"],"label":["A","B"]},"answerKey":"A"}\n' 1 2 >../items.jsonl
bam-mcq -q --threads 1 --task arc_easy --format jsonl ../bam.h5 ../items.jsonl -o bam.mcq.jsonl || fail "no multiple choice"
bam-prior-fit show -q ../bam.h5 -o priors.tsv || fail "no priors"
bam-prior-fit show -q --by-class ../bam.h5 -o classes.tsv || fail "no classes"
bam-prior-fit show -q --curves --points 20 ../bam.h5 -o curves.tsv || fail "no curves"
bam-prior-fit fit -q --threads 1 --queries 4 --max-tokens 2k ../rope.h5 ../train.tok.zst -o fit.tsv || fail "no fit"
bam-prior-fit tune -q --threads 1 --steps 2 ../bam.h5 ../train.tok.zst -o ../tuned.h5 >tune.tsv || fail "no tuning"
for by in key distance top; do bam-attn -q --threads 1 --by $by --passkey 900 ../bam.h5 -o attn-$by.tsv || fail "no attention"; done
cd .. || exit 1
echo "Words *first*." >about.md

expect 0 report --html --title "One page" --about about.md --context 64 "my results"
is_clean
page="my results/report.md"
[ "$(head -1 "$page")" = "# One page" ] || fail "the title is $(head -1 "$page")"
contains "$page" '^Words \*first\*'
for heading in "Passkeys found, in percent, by length of the prompt over the training context" RULER "Multiple choice" Perplexity \
  "Perplexity by word and byte" Priors "Classes of heads" "Prior curves" "Priors fitted to attention" "Priors tuned" Attention Training Runs; do
  contains "$page" "^## $heading\$"
done
contains "$page" '^\| model +\| 9.375x \| 14.0625x \|$'
for name in bam rope; do contains "$page" "^\| $name +\| +[0-9]+ \|"; contains "$page" "^\| $name \| 4 \| 1024 \| [0-9.]+ \| [0-9.]+ \| [0-9.e+]+ \| cpu \|"; done
# What made the rows: model, version, device, dtype, reading, seed, seconds.
version=$(bam-attn --version | sed -n '1s/^bam-attn //p')
for table in bam.passkey.tsv bam.ppl.tsv bam.rolling.tsv bam.ruler.tsv fit.tsv attn-key.tsv attn-distance.tsv attn-top.tsv; do
  grep -qF "| $table | " "$page" || fail "$table is not among the runs"
  grep -F "| $table | " "$page" | grep -qE "^\| $table \| [0-9a-f]{12} \| .* \| cpu \| f32 \| eps=1e-06 \| 0 \| [0-9.]+ \|$" || fail "$(grep -F "| $table | " "$page")"
  grep -F "| $table | " "$page" | grep -qF "| $version |" || fail "version of $table is not $version"
done
grep -F '| bam.mcq.jsonl | ' "$page" | grep -qF '| 1234 |' || fail "the seed of multiple choice is not the one it used"
! grep -q 'items.tsv' "$page" || fail "a table of items was taken"
if command -v gnuplot >/dev/null; then
  for picture in accuracy perplexity training bam.passkey rope.passkey bam.ruler curves.curves attn-key.keys attn-distance.distance; do
    grep -qF "(pictures/$picture.svg)" "$page" || fail "$picture.svg is not shown"
    tail -c 20 "my results/pictures/$picture.svg" | grep -q '</svg>' || fail "$picture.svg is not whole"
  done
  gnuplot -e "table='my results/attn-key.tsv'; picture='keys.png'" "$BAM_SOURCE/pipelines/plots/attention-keys.gp" || fail "no PNG"
  head -c 8 keys.png | grep -q PNG || fail "keys.png is no PNG"
else
  echo "gnuplot is not here: pictures were not checked" >&2
fi
html="my results/report.html"
contains "$html" '<h2>Perplexity</h2>'
contains "$html" '<tr><th>model</th><th>9.375x</th><th>14.0625x</th></tr>'
[ "$(grep -c '<table>' "$html")" = "$(grep -c '</table>' "$html")" ] || fail "tables of the HTML page are not closed"

# Tables with names of their own stand for the others of their kind; one that is twice is told apart.
cp "my results/bam.ppl.tsv" "my results/bam.again.tsv"
expect 0 report -o other.md "my results"
contains other.md '^\| bam\.again \|'
contains other.md '^\| bam\.ppl \|'
awk -f "$BAM_SOURCE/pipelines/plots/join.awk" name=a "$PWD/my results/bam.ppl.tsv" name=b "$PWD/my results/rope.ppl.tsv" >"my results/joined.tsv"
expect 0 report -o other.md "my results"
contains other.md '^\| a \|'
! grep -q '^| bam.again |' other.md || fail "single tables stand beside the joined one"

# A table of JSON lines is the one with tabs.
for format in tsv jsonl; do bam-ppl -q --threads 1 --format $format --no-times --context 4x --bin 1x bam.h5 train.tok.zst -o ppl.$format || fail "no $format"; done
awk -f "$BAM_SOURCE/pipelines/plots/tsv.awk" ppl.jsonl | cmp - ppl.tsv || fail "JSON lines become another table"

# What is wrong is one line.
cp ppl.jsonl "my results/cut.jsonl" && head -c -9 ppl.jsonl | tail -1 >>"my results/cut.jsonl"
expect 1 report "my results"
one_line_error 'cut.jsonl: line [0-9]*: not an object, expected an object of a result table'
rm "my results/cut.jsonl"
mkdir empty
expect 1 report empty
one_line_error 'empty: no result table in it, expected some of a bam tool'
expect 1 report nowhere
one_line_error 'nowhere: is not a folder'
expect 2 report --titel x empty
one_line_error "'--titel' is not known"
expect 2 report --context 4x empty
one_line_error "'4x' is not a number"
finish
