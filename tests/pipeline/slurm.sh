#!/bin/bash
# pipelines/slurm with real daemons: a small quick start as jobs, one training of which is stopped, preempted and requeued,
# and an evaluation in shares, give the bytes of a local run.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
# shellcheck source=tests/support/slurm.sh
. "$BAM_SOURCE/tests/support/slurm.sh"
slurm_up
slurm=$BAM_SOURCE/pipelines/slurm
export BAM_NO_TIMES=yes BAM_QUIET=yes

awk 'BEGIN { srand(5); split("river stone house light runs falls sings waits under over near and the of", w, " ");
  for (p = 0; p < 400; p++) { for (l = 0; l < 4; l++) { s = ""; for (k = 0; k < 8; k++) s = s w[1 + int(rand() * 14)] " "; print s p % 97 "." } print "" } }' >text.txt
run_make() { make -C "$BAM_SOURCE/pipelines" --no-print-directory "TEXT=$scratch/text.txt" "BIN=$BAM_TOOLS" PIECES=300 STEPS=500 \
  DOCUMENTS=300 FLAGS="--layers 1 --dim 32 --heads 2 --ffn 32" BATCH=1024 LENGTHS=1x,4x SAMPLES=3 PPL=2x MODELS="bam alibi" "$@"; }

expect 2 run_make SCHED=cron "OUT=$scratch/none" -n
grep -q 'SCHED=cron, expected local or slurm' err || fail "another scheduler: $(cat err)"
tables=(passkey.tsv perplexity.tsv)
expect 0 run_make "OUT=$scratch/local" "${tables[@]/#/$scratch/local/}"

# The job of the model `bam` is warned once (status 75: it queues itself again), and preempted once.
job_of() { squeue -h -n bam.h5 -o %i; }
steps_made() { wc -l 2>/dev/null <jobs/bam.log.jsonl || echo 0; }
is_pending() { [ -n "$(squeue -h -n bam.h5 -t pending -o %i)" ]; }
runs_with() { [ "$(squeue -h -n bam.h5 -t running -o %i)" != "" ] && [ "$(steps_made)" -gt "$1" ]; }
interrupt() {
  slurm_until runs_with 0 || return
  scancel --batch --signal=USR1 "$(job_of)"
  slurm_until is_pending || { fail "the job was not requeued after SIGUSR1"; return; }
  steps_made >after_warning
  slurm_until runs_with "$(cat after_warning)" || { fail "the job did not go on after SIGUSR1"; return; }
  scontrol requeue "$(job_of)"
  scontrol show job "$(job_of)" | grep -o 'Restarts=[0-9]*' >restarts
}
interrupt &
interrupting=$!
expect 0 run_make -j2 SCHED=slurm "OUT=$scratch/jobs" "${tables[@]/#/$scratch/jobs/}"
wait $interrupting
[ "$(cat restarts)" = Restarts=2 ] || fail "the interrupted job: $(cat restarts)"
[ "$(cat after_warning)" -lt 500 ] || fail "the training was over when the warning came"
[ "$(cat jobs/slurm/bam.h5.*.log | grep -c 'back into the queue')" = 1 ] || fail "the job's log: $(cat jobs/slurm/bam.h5.*.log)"
for name in bam.h5 alibi.h5 "${tables[@]}"; do same "local/$name" "jobs/$name"; done
[ "$(find jobs/slurm -name '*.log' | wc -l)" = 6 ] || fail "not every heavy stage was a job: $(ls jobs/slurm)"

# Shares of an evaluation and their merge; a table of jobs that failed does not appear.
score=(bam-ppl --context 2x --bin 1x --format jsonl)
whole() { "${score[@]}" --per-item local/bam.h5 local/held.tok.zst | "${score[0]}" --merge --format jsonl -; }
whole >whole.tsv || fail "the evaluation failed"
expect 0 "$slurm/evaluate" --wait 3 shares.tsv "${score[@]}" local/bam.h5 local/held.tok.zst
same whole.tsv shares.tsv
expect 1 "$slurm/evaluate" --wait 2 none.tsv bam-ppl missing.h5 local/held.tok.zst
[ ! -e none.tsv ] || fail "a failed evaluation has a table"
grep -q 'missing.h5: ' none.tsv.parts/1.log || fail "no message of a failed share: $(cat none.tsv.parts/*.log)"
expect 2 "$slurm/evaluate" shares.tsv bam-ppl
one_line_error 'expected .*N OUTPUT TOOL ARGUMENT'

# A sweep: a line for each job, started by srun. A failed job is a failed command.
train=(bam-train --preset tiny --layers 1 --dim 16 --heads 2 --ffn 16 --context 32 --steps 2 --threads 1)
printf '%s\n' "--seed 1 -o 'swept 1.h5'" "--seed 2 -o 'swept 2.h5'" >sweep.txt
expect 0 env LAUNCH="srun --quiet" sbatch --quiet --wait --array=1-2 -o sweep.%a.log "$slurm/job.sbatch" "${train[@]}" @sweep.txt local/english.tok.zst
for seed in 1 2; do
  "${train[@]}" --seed $seed -o "plain $seed.h5" local/english.tok.zst || fail "training failed"
  same "plain $seed.h5" "swept $seed.h5"
done

# Several tasks: all are told that the time is over, and the job comes back.
cat >rank <<'RANK'
#!/bin/bash
trap 'echo "$SLURM_PROCID told"; exit 75' USR1
echo "$SLURM_PROCID ${SLURM_RESTART_COUNT-0}"
[ "${SLURM_RESTART_COUNT-0}" = 0 ] || exit 0
for _ in $(seq 300); do sleep 0.2; done
RANK
chmod +x rank
touch ranks.log
job=$(LAUNCH="srun --mpi=none" sbatch --parsable --ntasks=2 -o ranks.log "$slurm/job.sbatch" ./rank)
both_run() { [ "$(grep -c ' 0$' ranks.log)" = 2 ]; }
slurm_until both_run
scancel --batch --signal=USR1 "$job"
slurm_until slurm_queue_is_empty
[ "$(grep -cE '^[01] told$' ranks.log) $(grep -cE '^[01] 1$' ranks.log)" = "2 2" ] || fail "two tasks: $(cat ranks.log)"

expect 1 "$slurm/submit" --output=refused.log bam-train --preset tiny -o none.h5 missing.tok.zst
grep -q 'bam-train: missing.tok.zst: ' err || fail "the message of a failed job: $(cat err)"
finish
