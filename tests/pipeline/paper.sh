#!/bin/bash
# pipelines/paper.mk: what it would cost; the rehearsal, every stage of it at the smallest; the second run does nothing; an
# interrupted one goes on.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
command -v make >/dev/null || skip "make is not here"

awk 'BEGIN { srand(5); split("river stone house light runs falls sings waits under over near and the of", w, " ");
  for (p = 0; p < 1500; p++) { for (l = 0; l < 4; l++) { s = ""; for (k = 0; k < 8; k++) s = s w[1 + int(rand() * 14)] " "; print s p % 97 "." } print "a \"quoted\" \\ word\tand a tab\n" } }' >text.txt
printf 'table\trun\tencoding\tcolumn\tvalue\tsource\npasskey\tl12/64\tbam-ssmax\t1000\t77\there\nclaims\tl12/64\tbam-ssmax\tprior_parameters\t384\there\n' >published.tsv

paper() { make -C "$BAM_SOURCE/pipelines" --no-print-directory "BIN=$BAM_TOOLS" paper "$@"; }
rehearse() {
  make -C "$BAM_SOURCE/pipelines" -f paper.mk --no-print-directory "BIN=$BAM_TOOLS" SCALE=rehearsal "OUT=$scratch/tables" \
    "TEXT=$scratch/text.txt" "PUBLISHED=$scratch/published.tsv" TEXT_BYTES=300000 PIECES=300 RUNS=l12/64 ENCODINGS="rope bam" \
    SSMAX=on STEPS=4 SAVE=2 PASSKEY_LENGTHS="512 1k" RULER_TASKS=niah_single_1 "$@"
}
cell() { awk -F'\t' -v row="$1" -v run="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == row && $2 == run { print $at[name] }' "$4"; }

# What the paper costs: the sizes are the paper's, the FLOPs are those of bam-train.
expect 0 paper DRY_RUN=1 "OUT=$scratch/tables"
cp out cost.tsv
[ ! -e tables ] || fail "the estimate made something"
[ "$(cell train l12/512 parameters cost.tsv | cut -c1-3)" = 121 ] || fail "l12 has $(cell train l12/512 parameters cost.tsv) parameters"
[ "$(cell train l24/512 parameters cost.tsv | cut -c1-4)" = 1140 ] || fail "l24 has $(cell train l24/512 parameters cost.tsv) parameters"
bam-train -q --preset l18 --pe rope --dry-run --no-times --format jsonl | sed -E 's/.*"flops":([0-9.e+]+).*/\1/' >flops
awk -v all="$(cell train l18/512 flops cost.tsv)" '{ exit !(all / 10 / $1 > 0.999 && all / 10 / $1 < 1.001) }' flops || fail "ten l18 take $(cell train l18/512 flops cost.tsv) FLOPs, one $(cat flops)"
for stage in tokens train passkey perplexity ruler choice priors sum; do grep -q "^$stage	" cost.tsv || fail "no cost of $stage"; done
[ "$(cell sum all gpu_hours cost.tsv | cut -d. -f1)" -gt 100 ] || fail "all of it takes $(cell sum all gpu_hours cost.tsv) GPU hours"
expect 2 paper DRY_RUN=1 RUNS=l13/512
grep -q 'bam-train: --preset' err || fail "a size that is not known: $(cat err)"

# Without the data nothing begins, and one line says what is missing.
expect 2 paper "OUT=$scratch/nothing" "FINEWEB=$scratch/none.jsonl"
grep -q 'none.jsonl is not here: docs/paper.md' err || fail "missing data: $(cat err)"

# Every heavy stage goes through $(submit).
expect 0 rehearse -n submit=HANDED-IN
grep -E '/bam-(tokenize --tokenizer|train|passkey|ppl|ruler|mcq) ' out | grep -v '^HANDED-IN ' >loose
[ ! -s loose ] || fail "not handed to the batch system: $(head -3 loose)"
[ "$(grep -c '^HANDED-IN .*bam-train' out)" = 2 ] || fail "two trainings are not two jobs"

# A training that was stopped goes on, and so does everything behind it.
expect 0 rehearse "$scratch/tables/tokens.done"
rehearse -n "$scratch/tables/l12/64/bam-ssmax/1/model.h5" | grep -E 'mkdir|bam-train' | sed 's/ && mv .*//' >train.sh
expect 75 bash -ec "$(cat train.sh) --max-minutes 1e-6"
[ -e tables/l12/64/bam-ssmax/1/unfinished.h5 ] || fail "nothing is left of the stopped training"
expect 0 rehearse -j2
grep -q 'unfinished.h5' err || fail "the training began anew: $(grep bam-train err)"
[ "$(wc -l <"$scratch/tables/l12/64/bam-ssmax/1/log.jsonl")" = 4 ] || fail "not four steps: $(cat "$scratch/tables/l12/64/bam-ssmax/1/log.jsonl")"

for table in passkey fineweb wikipedia ruler arc_easy arc_challenge mmlu; do
  [ "$(cut -f1-4 "$scratch/tables/$table.tsv" | sort -u | grep -c '^l12	64	\(bam\|rope\|rope-local\)-ssmax	1$')" = 3 ] || fail "$table.tsv: $(cut -f1-4 "$scratch/tables/$table.tsv" | sort -u)"
done
cmp -s "$scratch/tables/l12/64/rope-ssmax/1/fineweb.tsv" "$scratch/tables/l12/64/rope-local-ssmax/1/fineweb.tsv" && fail "local RoPE reads as RoPE does"
page=$scratch/tables/README.md
grep -qx '| bam-ssmax, published |  | 77 |' "$page" || fail "the published value is not beside the measured one: $(grep bam-ssmax "$page")"
grep -q '^| l12/64 | bam-ssmax | prior_parameters | 384 | 16 |' "$page" || fail "the claims: $(grep prior_parameters "$page")"
grep -q '^| bam-ssmax | 1 | 4 |' "$page" || fail "no priors of layer 1: $(grep '| bam-ssmax' "$page")"
grep -q '^</svg>' "$scratch/tables/passkey-l12-64.svg" || fail "the picture is not whole"
grep -qi nan "$page" "$scratch/tables/passkey-l12-64.svg" && fail "$(grep -i nan "$page")"

grep -q '<td>bam-ssmax, published</td>' "$scratch/tables/index.html" || fail "index.html: $(grep published "$scratch/tables/index.html")"
expect 0 rehearse
! grep -q 'bam-' out || fail "a finished rehearsal did something: $(cat out)"
expect 0 rehearse -n EVAL_SEED=7
{ grep -q 'bam-passkey.*--seed 7' out && ! grep -q 'bam-train' out; } || fail "another seed of the questions: $(cat out)"
expect 0 rehearse -n STEPS=5
{ grep -q 'bam-train.*--steps 5' out && ! grep -q -- '--learn' out; } || fail "more steps: $(cat out)"
finish
