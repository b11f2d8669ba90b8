#!/bin/bash
# bam-prior-fit: show, fit, tune and init, as files and in pipes, and what they say about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { local deed=$1; shift; bam-prior-fit "$deed" -q --no-times --threads 1 "$@"; }
# column NAME FILE [FIRST-CELLS] - of the first row, or of the first that begins so.
column() {
  awk -F'\t' -v name="$1" -v begin="${3-}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    index($0, begin) == 1 { print $at[name]; exit }' "$2"
}
close_to() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { exit !((a - b) ^ 2 <= e * e) }' || fail "$4: $1, expected $2"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }

for i in $(seq 300); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
bam-tokenize -q --tokenizer bytes text.txt -o one.tok.zst || fail "no shard"
train() {
  bam-train -q --threads 1 --layers 2 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 3 --seed 5 --no-times \
    train.tok.zst "$@" || fail "training failed: $*"
}
train --pe bam --ssmax full --prior-scope layer --prior-init spread -o bam.h5
train --pe bam --ssmax full --prior-scope global --prior-init spread -o global.h5
train --pe alibi --ssmax off -o alibi.h5
train --pe nope -o nope.h5
train --pe rope -o rope.h5

# show
expect 0 quiet show alibi.h5
cp out alibi.tsv
[ "$(cut -f1-11 alibi.tsv | head -1 | tr '\t' ' ')" = "layer head keys class beta alpha mu shape scale loc ssmax_scale" ] ||
  fail "columns are $(head -1 alibi.tsv)"
[ "$(wc -l <alibi.tsv)" = 9 ] || fail "expected a row for each of 8 heads"
[ -s err ] && fail "-q wrote to standard error"
[ "$(column beta alibi.tsv) $(column alpha alibi.tsv) $(column class alibi.tsv) $(column keys alibi.tsv)" = "1 4 local 64" ] ||
  fail "the first head of ALiBi: $(sed -n 2p alibi.tsv)"
[ -z "$(column half_ssmax alibi.tsv)" ] || fail "half_ssmax without SSMax"
quiet show - <alibi.h5 | cmp -s - alibi.tsv || fail "a model from standard input differs"
expect 0 bam-prior-fit show --lengths 1x,16x,100 bam.h5
grep -q 'bam.h5: 6 local, 2 aggressive of 8 heads' err || fail "totals: $(cat err)"
[ "$(cut -f3 out | sort -nu | tr '\n' ' ')" = "keys 64 100 1024 " ] || fail "lengths: $(cut -f3 out | sort -nu | tr '\n' ' ')"
[ -n "$(column half_ssmax out)" ] || fail "no half_ssmax with SSMax"
awk -F'\t' 'NR > 1 && $4 == "aggressive" && $3 == 1024 && $15 < 0.9 { bad = 1 } END { exit bad }' out ||
  fail "heads that retrieve keep their mass within the context"
expect 0 quiet show --by-class nope.h5
[ "$(column heads out uniform) $(column heads out local) $(column heads out all)" = "8 0 8" ] || fail "classes: $(cat out)"
expect 0 quiet show --curves --points 20 --format jsonl alibi.h5
grep -q '"layer":0,"head":0,"keys":64,"class":"local","distance":0,"b":-2' out || grep -q '"distance":0,"b":-0' out || fail "curves: $(head -1 out)"
awk -F'[:,}]' '{ lines++ } END { exit !(lines > 8 * 15 && lines < 8 * 40) }' out || fail "$(wc -l <out) points of curves"

# init
expect 0 quiet init bam.h5 --prior-init authors -o authors.h5
quiet show authors.h5 >authors.tsv
for row in '0	0' '1	3'; do
  close_to "$(column alpha authors.tsv "$row")" "$(column alpha alibi.tsv "$row")" 0.001 "the authors' start is ALiBi: alpha"
done
expect 0 quiet init alibi.h5 --shape-init linear:0.5:2 --scale-init=-1 -o formula.h5
quiet show formula.h5 >formula.tsv
[ "$(column beta formula.tsv '0	0') $(column beta formula.tsv '1	3') $(column scale formula.tsv)" = "0.5 2 -1" ] || fail "formulas: $(cat formula.tsv)"
quiet show bam.h5 >bam.tsv
quiet show bam.h5 | quiet init nope.h5 --from - -o - >copied.h5 || fail "no chain from show to init"
quiet show copied.h5 | cut -f5-10 | cmp -s - <(cut -f5-10 bam.tsv) || fail "init did not take what show wrote"
bam-ppl -q copied.h5 one.tok.zst >/dev/null || fail "bam-ppl cannot read what init wrote"
quiet show global.h5 | quiet init global.h5 --from - -o same.h5 || fail "a global prior's own table"
quiet show same.h5 | cut -f1-11 | cmp -s - <(quiet show global.h5 | cut -f1-11) || fail "a global prior came back changed"
quiet init bam.h5 --from bam.tsv -o again.h5
if command -v h5diff >/dev/null; then
  h5diff bam.h5 again.h5 /params >changes || fail "own priors written again changed: $(cat changes)"
  h5diff bam.h5 authors.h5 /params | sed -n 's/^dataset: .*prior_\([a-z]*\)>$/\1/p' | sort -u >changes
  h5diff bam.h5 authors.h5 /params | grep '^dataset' | grep -v prior_ && fail "init changed more than priors"
  [ -s changes ] || fail "init changed nothing"
fi
quiet init bam.h5 --prior-init authors -o second.h5
same authors.h5 second.h5

# fit
expect 0 quiet fit alibi.h5 one.tok.zst
cp out fit.tsv
[ "$(wc -l <fit.tsv)" = 9 ] || fail "expected a row for each head, got $(wc -l <fit.tsv)"
[ "$(column errors fit.tsv) $(column windows fit.tsv)" = "windows 162" ] || fail "errors and windows: $(sed -n 2p fit.tsv)"
quiet fit alibi.h5 <one.tok.zst | cmp -s - fit.tsv || fail "a shard from standard input differs"
quiet fit alibi.h5 text.txt | cmp -s - fit.tsv || fail "text differs from its shard"
quiet fit alibi.h5 one.tok.zst --chunk 5 | cut -f1-3,6 | cmp -s - <(cut -f1-3,6 fit.tsv) || fail "--chunk changes verdicts"
quiet fit rope.h5 one.tok.zst | quiet init bam.h5 --from - -o fitted.h5 || fail "no chain from fit to init"
bam-ppl -q fitted.h5 one.tok.zst >/dev/null || fail "bam-ppl cannot read fitted priors"
quiet fit rope.h5 one.tok.zst --all-families >all.tsv
[ "$(wc -l <all.tsv)" = 41 ] || fail "--all-families: $(wc -l <all.tsv) lines"
quiet init bam.h5 --from all.tsv -o fitted2.h5
same fitted.h5 fitted2.h5
expect 0 quiet fit alibi.h5 one.tok.zst --families ggd --mu free --max-tokens 256
[ "$(column family out) $(column tokens out) $(column errors out)" = "ggd 256 fisher" ] || fail "options of fit: $(sed -n 2p out)"
expect 0 quiet fit alibi.h5 one.tok.zst --families laplace --errors bootstrap --seed 3
[ "$(column errors out) $(column alpha out)" = "bootstrap $(quiet fit alibi.h5 one.tok.zst --families laplace | column alpha /dev/stdin)" ] ||
  fail "--errors bootstrap: $(sed -n 2p out)"
cp out sampled.tsv
quiet fit alibi.h5 one.tok.zst --families laplace --errors bootstrap --seed 3 | cmp -s - sampled.tsv || fail "the bootstrap of one seed differs"

# Counts made elsewhere: weights of exp(-t / 5) give alpha 5.
{
  printf 'layer\thead\tkeys\tdistance\tweight\n'
  awk 'BEGIN { for (t = 0; t < 64; t++) printf "0\t0\t64\t%d\t%.6f\n", t, 1000 * exp(-t / 5) }'
  printf '0\t1\t1\t0\t5\n0\t2\t9\t4\t7\n0\t3\t3\t1\tnan\n'
} >counts.tsv
expect 0 quiet fit --from counts.tsv
close_to "$(column alpha out '0	0')" 5 0.001 "alpha"
[ "$(column family out '0	0')" = laplace ] || fail "family: $(sed -n 2p out)"
[ "$(cut -f3 out | tail -n +2 | tr '\n' ' ')" = "identified no-data point not-finite " ] || fail "verdicts: $(cut -f3 out | tr '\n' ' ')"
[ "$(column mu out '0	2')" = -4 ] || fail "mu of a point: $(column mu out '0	2')"
bam-prior-fit fit -q --from counts.tsv --no-header | cut -f1-44 | cmp -s - <(tail -n +2 out) || fail 'the column of seconds changes others'
quiet fit --from - <counts.tsv | cmp -s - out || fail "counts from standard input differ"

# tune
expect 0 quiet tune alibi.h5 train.tok.zst --steps 4 --batch-tokens 256 -o tuned.h5
cp out tuned.tsv
close_to "$(column loss_start tuned.tsv)" "$(column loss_model tuned.tsv)" 0.000003 "ALiBi as a start"
[ "$(column steps tuned.tsv) $(column parameters tuned.tsv)" = "4 16" ] || fail "tune: $(cat tuned.tsv)"
awk -v a="$(column loss_best tuned.tsv)" -v b="$(column loss_start tuned.tsv)" 'BEGIN { exit !(a <= b) }' || fail "loss rose: $(cat tuned.tsv)"
quiet tune alibi.h5 train.tok.zst --steps 4 --batch-tokens 256 -o - >piped.h5 || fail "tune to a pipe"
same tuned.h5 piped.h5
quiet tune - train.tok.zst --from-alibi --steps 4 --batch-tokens 256 -o fromalibi.h5 <alibi.h5 >/dev/null || fail "a model from standard input"
same tuned.h5 fromalibi.h5
if command -v h5diff >/dev/null; then
  quiet init bam.h5 --scale-init=-3 -o off.h5
  expect 0 quiet tune off.h5 train.tok.zst --val one.tok.zst --train-prior scale --steps 3 --batch-tokens 256 -o mended.h5
  [ "$(h5diff off.h5 mended.h5 /params | grep '^dataset' | grep -cv prior_scale)" = 0 ] || fail "tune changed more than scales"
  [ "$(h5diff off.h5 mended.h5 /params | grep -c '^dataset')" = 2 ] || fail "tune changed nothing"
fi
expect 0 quiet tune bam.h5 one.tok.zst --steps 2 --batch-tokens 256 --passkey 900 --passkey-samples 2 -o keyed.h5
[ "$(column passkey_start out)" = 0.000000 ] || fail "passkey_start: $(cat out)"

# Bad input: one line, status 1, no output.
fails() {
  local expected=$1 deed=$2
  shift 2
  expect 1 quiet "$deed" "$@" -o no.out
  one_line_error "^bam-prior-fit: $expected"
  absent no.out
}
: >empty
head -c 3000 bam.h5 >cut.h5
fails 'none.h5: ' show none.h5
fails 'cut.h5: ' show cut.h5
fails 'text.txt: ' show text.txt
fails 'rope.h5: rope is no prior over distances' show rope.h5
fails 'empty: empty' init bam.h5 --from empty
fails 'text.txt:1: no column' init bam.h5 --from text.txt
head -3 bam.tsv >short.tsv
fails 'short.tsv: no prior for layer 0 head 2' init bam.h5 --from short.tsv
quiet fit --from counts.tsv >nan.tsv
fails 'nan.tsv:3: .* is not a number' init bam.h5 --from nan.tsv
fails '/params/layers/0/prior_scale: a value is beyond single precision' init bam.h5 --scale-init 1e300
fails 'empty: empty' fit --from empty
printf 'layer\thead\tkeys\tdistance\n0\t0\t5\t5\n' >beyond.tsv
fails 'beyond.tsv:2: distance is 5, expected a whole number from 0 to 4' fit --from beyond.tsv
fails 'empty: empty' fit bam.h5 empty
fails 'none.tok.zst: ' tune bam.h5 none.tok.zst
fails 'text.txt: ' tune bam.h5 text.txt
bam-tokenize -q --tokenizer "$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model" text.txt -o other.tok.zst
fails 'other.tok.zst: does not fit the model bam.h5' fit bam.h5 other.tok.zst
fails 'other.tok.zst: does not fit the model bam.h5' tune bam.h5 other.tok.zst
head -c 100 text.txt | bam-tokenize -q --tokenizer bytes --input text - -o tiny.tok.zst
fails 'tiny.tok.zst: 101 tokens, expected at least 129' tune bam.h5 tiny.tok.zst
fails '--context: .* of memory' fit --context 1G bam.h5 one.tok.zst
expect 1 bash -c 'bam-prior-fit show -q bam.h5 >/dev/full'
one_line_error 'standard output: cannot write: No space left on device'

# Bad command lines.
usage() {
  local expected=$1
  shift
  expect 2 bam-prior-fit "$@"
  one_line_error "^bam-prior-fit: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
usage 'DEED is missing' --no-times
usage "DEED: 'shwo' is not" shwo bam.h5
usage 'FILE is missing, expected a model' show
usage 'FILE is missing, expected token shards' tune bam.h5 -o no.h5
usage "'alibi.h5' is not expected" show bam.h5 alibi.h5
usage '--from: counts take the place of a model' fit --from counts.tsv bam.h5
usage 'init: nothing to write' init bam.h5 -o no.h5
usage '--from, --from-alibi: expected one' tune --from bam.tsv --from-alibi bam.h5 train.tok.zst -o no.h5
usage '--by-class, --curves: expected one' show --by-class --curves bam.h5
usage "--families: 'cauchy' is not" fit --families cauchy bam.h5 one.tok.zst
usage '-: standard input can be read once' fit -
usage '--shape-init: ' init --shape-init 1,2 bam.h5 -o no.h5
usage "--shape-init: 'normal:0:-1' has a negative deviation, expected at least 0" init --shape-init normal:0:-1 bam.h5 -o no.h5
usage '--output: .* is also read' init --prior-init spread bam.h5 -o bam.h5
absent no.h5
finish
