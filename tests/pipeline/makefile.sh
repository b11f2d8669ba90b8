#!/bin/bash
# pipelines/Makefile on a small text: the whole chain; the second run does nothing; an interrupted one goes on.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
command -v make >/dev/null || skip "make is not here"

awk 'BEGIN { srand(5); split("river stone house light runs falls sings waits under over near and the of", w, " ");
  for (p = 0; p < 400; p++) { for (l = 0; l < 4; l++) { s = ""; for (k = 0; k < 8; k++) s = s w[1 + int(rand() * 14)] " "; print s p % 97 "." } print "" } print "A pass key opens.\n\nTwo passkeys open." }' >text.txt

run_make() { make -C "$BAM_SOURCE/pipelines" --no-print-directory "OUT=$scratch/results" "TEXT=$scratch/text.txt" "BIN=$BAM_TOOLS" \
  PIECES=300 STEPS=3 LENGTHS=1x,4x,8x SAMPLES=3 PPL=4x MODELS="bam alibi" "$@"; }

expect 0 run_make -n
for stage in --learn --corpus bam-tokenize bam-train bam-ppl bam-passkey report; do grep -q -- "$stage" out || fail "make -n does not show $stage"; done
[ ! -e results ] || fail "make -n made something"

# What cannot be meant so is refused, in a line, before anything is made.
refused() { # WORDS SETTING...
  expect 2 run_make "${@:2}" all
  { [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err; } || fail "${*:2}: $(cat err)"
  [ ! -e results ] || fail "${*:2}: something was made"
}
refused "MODELS: foo" MODELS="bam foo rope-local"
refused "no such file" TEXT=missing.txt
refused "STEPS: 'abc'" STEPS=abc
refused "SEED: ''" SEED=
refused "OUT: '" OUT="$scratch/two words"
# A text without a paragraph to hold out is found before the training.
head -4 text.txt >short.txt
expect 2 run_make OUT="$scratch/short" TEXT="$scratch/short.txt" PIECES=280 all
grep -q 'short.txt: no fortieth paragraph' err || fail "a short text: $(cat err)"
[ ! -e short/bam.h5 ] || fail "a model was trained on a text with nothing to hold out"

# A training that was stopped goes on.
expect 0 run_make "$scratch/results/documents.tok.zst" "$scratch/results/english.tok.zst"
run_make -n "$scratch/results/bam.h5" | grep bam-train | sed 's/ && mv .*//' >train.sh
expect 75 bash -c "$(cat train.sh) --max-minutes 1e-6"
[ -e results/bam.unfinished.h5 ] || fail "nothing is left of the stopped training"
expect 0 run_make "$scratch/results/bam.h5"
grep -q 'bam.unfinished.h5' err || fail "the training began anew: $(cat err)"
{ [ -e results/bam.h5 ] && [ ! -e results/bam.unfinished.h5 ]; } || fail "the finished training is not where it belongs"

expect 0 run_make -j2 all
grep -q 'bam-train.*alibi' out || fail "the second model was not trained"
! grep -q 'bam-train.*--pe bam' out || fail "the first model was trained again"
[ "$(cut -f1 results/passkey.tsv | sort -u | tr '\n' ' ')" = "alibi bam name " ] || fail "passkey.tsv: $(cut -f1 results/passkey.tsv | sort -u)"
grep -q '^bam	512	' results/passkey.tsv || fail "passkey.tsv has no length 512"
! grep -q '^bam	128	' results/passkey.tsv || fail "a length that does not hold the prompt was asked"
[ "$(grep -c '^bam' results/perplexity.tsv)" -ge 4 ] || fail "perplexity.tsv has too few rows: $(cat results/perplexity.tsv)"
! grep -qi 'pass *key' results/text.txt || fail "the text names the pass key"
if command -v gnuplot >/dev/null; then
  for plot in bam.passkey alibi.passkey accuracy perplexity training; do
    grep -q '^</svg>' "results/pictures/$plot.svg" || fail "$plot.svg is not whole"
    ! grep -qiE '[^a-z](nan|inf)[^o]' "results/pictures/$plot.svg" || fail "$plot.svg: $(grep -iE 'nan|inf' "results/pictures/$plot.svg" | head -3)"
    grep -q "pictures/$plot.svg" results/README.md || fail "README.md does not show $plot"
  done
fi
grep -qE '^length. Perplexity is of [1-9][0-9]* held-out tokens' results/README.md || fail "README.md does not count what was held out"
! grep -q 'cannot open' err || fail "the chain: $(grep 'cannot open' err)"
grep -q '^| alibi |' results/README.md || fail "README.md has no row of alibi: $(head -c 2000 results/README.md)"
grep -q '^<tr><td>alibi</td>' results/index.html || fail "index.html has no row of alibi: $(grep -m3 '<tr>' results/index.html)"
[ "$(grep -c '</svg>' results/index.html)" = "$(grep -c '^!\[' results/README.md)" ] || fail "index.html has $(grep -c '</svg>' results/index.html) pictures"
expect 0 run_make all
! grep -q 'bam-' out || fail "a finished chain did something: $(cat out)"

# Other settings: what depends on them is made anew, and nothing else.
expect 0 run_make SEED=2 -n
grep -q 'bam-train.*--seed 2' out || fail "another seed trains nothing"
! grep -q -- '--learn' out || fail "another seed learns a tokenizer"
expect 0 run_make SAMPLES=4 -n
{ grep -q 'bam-passkey.*--samples 4' out && ! grep -q 'bam-train' out; } || fail "other samples: $(cat out)"
expect 0 run_make CONTEXT=160 "$scratch/results/bam.h5"
grep -q -- '--max-tokens 160' out || fail "the documents are not of the other context"

# The study: seeds of its own, one table.
expect 0 run_make STUDY_SEEDS="101 102" STUDY_LENGTHS="4x 8x" STUDY_SAMPLES=2 study
[ "$(grep -c '^| bam | [48]x |.* [0-2]/2 | [0-2]/2 |.* [0-4]/4 |' results/study/README.md)" = 2 ] || fail "the study: $(cat results/study/README.md)"
finish
