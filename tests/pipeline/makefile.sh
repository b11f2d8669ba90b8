#!/bin/bash
# pipelines/Makefile on a small text: the whole chain; the second run does nothing; an interrupted one goes on.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
command -v make >/dev/null || skip "make is not here"

awk 'BEGIN { srand(5); split("river stone house light runs falls sings waits under over near and the of", w, " ");
  for (p = 0; p < 400; p++) { for (l = 0; l < 4; l++) { s = ""; for (k = 0; k < 8; k++) s = s w[1 + int(rand() * 14)] " "; print s p % 97 "." } print "" } }' >text.txt

run_make() { make -C "$BAM_SOURCE/pipelines" --no-print-directory "OUT=$scratch/results" "TEXT=$scratch/text.txt" "BIN=$BAM_TOOLS" \
  PIECES=300 STEPS=3 THREADS=1 LENGTHS=4x,8x "$@"; }

expect 0 run_make -n
for stage in --learn bam-tokenize bam-train bam-ppl bam-passkey; do grep -q -- "$stage" out || fail "make -n does not show $stage"; done
expect 0 run_make "$scratch/results/bam.h5"
expect 0 run_make all
grep -q 'bam-train.*alibi' out || fail "the second model was not trained"
! grep -q 'bam-train.*--pe bam' out || fail "the first model was trained again"
[ "$(cut -f1 results/passkey.tsv | sort -u | tr '\n' ' ')" = "alibi bam name " ] || fail "passkey.tsv: $(cut -f1 results/passkey.tsv | sort -u)"
[ "$(grep -c '^bam' results/perplexity.tsv)" -ge 4 ] || fail "perplexity.tsv has too few rows: $(cat results/perplexity.tsv)"
expect 0 run_make all
! grep -q 'bam-' out || fail "a finished chain did something: $(cat out)"
finish
