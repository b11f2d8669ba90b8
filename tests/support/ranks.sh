# Sourced after shell.sh by scripts that train on several ranks.
# shellcheck shell=bash

# What launchers leave behind is not for these.
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE SLURM_PROCID SLURM_STEP_NUM_TASKS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Where there is no /sys (a bare chroot) OpenMPI's hwloc says so on the standard error of every rank.
export HWLOC_HIDE_ERRORS=2
leave_leaks  # OpenMPI has some

built_with_mpi() { [ -e "$BAM_TOOLS/../lib/bam/bam-mpi.so" ]; }
needs_ranks() {
  built_with_mpi || skip "built without MPI"
  command -v mpirun >/dev/null || skip "no mpirun"
  ranks 2 true >err 2>&1 || skip "mpirun does not run here: $(head -c 200 err)"
}

# ranks N COMMAND... - under mpirun, each rank inside of `around`, the words of a command. mpirun's own words (several
# lines when a rank fails) begin otherwise than ours.
around=()
ranks() {
  local count=$1
  shift
  mpirun -q --oversubscribe --bind-to none -n "$count" "${around[@]}" "$@"
}
one_of_ours() { # REGEX
  local ours
  ours=$(grep '^bam-train: ' err)
  [ "$(grep -c . <<<"$ours")" = 1 ] || fail "expected one line of ours on standard error, got: $(head -c 2000 err)"
  grep -Eq -- "$1" <<<"$ours" || fail "standard error does not match '$1': $ours"
}

# losses LOG - the loss of each step, and those of the validations.
losses() { grep -oE '"(val_)?loss":[0-9.e-]*' "$1" | cut -d: -f2; }
near() { # LOG LOG - losses within 1e-5
  [ "$(losses "$1" | wc -l)" = "$(losses "$2" | wc -l)" ] || fail "$1 and $2 have different numbers of losses"
  paste <(losses "$1") <(losses "$2") | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d }
    END { print "largest difference of a loss: " most + 0; exit most > 1e-5 || NR == 0 }' ||
    fail "the losses of $1 and $2 differ"
}

# endless COMMAND... - a training of two ranks in the background, from its first checkpoint, long.h5, on; mpirun is `job`,
# rank R is `pids[R]`, standard error is in the file err.
endless() {
  rm -f long.h5 pid.*
  # shellcheck disable=SC2016  # the ranks' shells expand it
  ranks 2 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' - "$@" 2>err &
  job=$!
  for _ in $(seq 600); do
    [ -s long.h5 ] && break
    sleep 0.1
  done
  [ -s long.h5 ] || fail "no checkpoint after a minute: $(cat err)"
  pids=("$(cat pid.0)" "$(cat pid.1)")
}
# killed RANK - kills a rank of `endless`; the other one ends at once, with one line.
killed() {
  local status=0 other=${pids[1 - $1]}
  kill -9 "${pids[$1]}"
  wait "$job" || status=$?
  [ $status != 0 ] || fail "a killed rank $1 leaves status 0"
  one_of_ours "^bam-train: rank $1 of 2: ended without a word"
  for _ in $(seq 100); do
    kill -0 "$other" 2>/dev/null || return 0
    sleep 0.1
  done
  fail "the other rank lives on"
}
