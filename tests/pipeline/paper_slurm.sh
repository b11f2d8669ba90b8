#!/bin/bash
# pipelines/paper.mk with real daemons of Slurm: every heavy stage of the smallest rehearsal is a job.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
# shellcheck source=tests/support/slurm.sh
. "$BAM_SOURCE/tests/support/slurm.sh"
slurm_up

awk 'BEGIN { srand(5); split("river stone house light runs falls sings waits under over near and the of", w, " ");
  for (p = 0; p < 1500; p++) { for (l = 0; l < 4; l++) { s = ""; for (k = 0; k < 8; k++) s = s w[1 + int(rand() * 14)] " "; print s p % 97 "." } print "" } }' >text.txt
rehearse() {
  make -C "$BAM_SOURCE/pipelines" -f paper.mk --no-print-directory -j4 "BIN=$BAM_TOOLS" SCALE=rehearsal SCHED=slurm "OUT=$scratch/tables" \
    "TEXT=$scratch/text.txt" TEXT_BYTES=300000 PIECES=300 RUNS=l12/64 ENCODINGS=bam SSMAX=on STEPS=4 SAVE=2 PASSKEY_LENGTHS=512 \
    RULER_TASKS=niah_single_1 SBATCH_train=--time=9 "$@"
}
expect 0 rehearse
for stage in tokens.done wikipedia.tok.zst model.h5 passkey-512.tsv fineweb.tsv wikipedia.tsv ruler.tsv arc_easy.tsv arc_challenge.tsv mmlu.tsv; do
  [ "$(find tables/slurm -name "*$stage.*.log" | wc -l)" = 1 ] || fail "$stage was not a job: $(ls tables/slurm)"
done
grep -q '<td>bam-ssmax</td>' tables/index.html || fail "index.html has no row of the model"
expect 0 rehearse
! grep -q 'bam-' out || fail "a finished rehearsal did something: $(cat out)"
finish
