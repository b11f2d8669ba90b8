# Sourced after shell.sh by scripts that need a scheduler: Slurm's own daemons for this machine alone, as this user,
# with everything they keep in $scratch/slurm. No accounting, no control groups, no systemd.
# shellcheck shell=bash

slurm_free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

# Short intervals, so that tests do not wait: credentials that last 5 s let a requeued job start again after 6, and
# sbatch --wait looks every MinJobAge / 2 at the longest.
slurm_write_conf() {
  cat <<CONF
ClusterName=bam-test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(slurm_free_port)
SlurmdPort=$(slurm_free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
MinJobAge=4
KillWait=60
NodeName=localhost NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES State=UP
CONF
}

# Starts the daemons, which end with this script however it ends, or skips the script when they are not here or do not start.
slurm_up() {
  local program folder=${scratch:?}/slurm
  PATH=$PATH:/usr/sbin
  for program in munged slurmctld slurmd sbatch setpriv; do
    command -v $program >/dev/null || skip "$program is not here (Debian packages slurm-wlm and munge)"
  done
  slurm_pids=()
  trap 'slurm_down; rm -rf "$scratch"' EXIT
  mkdir -p "$folder/state" "$folder/spool"
  (umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
  slurm_write_conf "$folder" >"$folder/slurm.conf"
  export SLURM_CONF=$folder/slurm.conf
  setpriv --pdeathsig TERM munged --foreground --force --num-threads=1 --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" >"$folder/munged.out" 2>&1 &
  slurm_pids=($!)
  slurm_until test -S "$folder/munge.socket" || skip "munged does not start: $(tail -n 2 "$folder/munged.out")"
  setpriv --pdeathsig TERM slurmctld -D -L "$folder/slurmctld.log" >/dev/null 2>&1 &
  slurm_pids=($! "${slurm_pids[@]}")
  setpriv --pdeathsig TERM slurmd -D -N localhost -L "$folder/slurmd.log" >/dev/null 2>&1 &
  slurm_pids=($! "${slurm_pids[@]}")
  slurm_until slurm_is_idle ||
    skip "Slurm does not start: $(tail -n 2 "$folder/slurmctld.log" "$folder/slurmd.log" 2>&1)"
}

# slurm_until COMMAND... - waits until it succeeds, a minute at most.
slurm_until() {
  for _ in $(seq 300); do
    "$@" && return 0
    sleep 0.2
  done
  echo "not within a minute: $*" >&2
  return 1
}

slurm_is_idle() { sinfo -h -o %T 2>/dev/null | grep -q idle; }
slurm_queue_is_empty() { [ -z "$(squeue -h 2>/dev/null)" ]; }

# No process is left behind.
slurm_down() {
  [ ${#slurm_pids[@]} = 0 ] && return
  scancel --quiet --user="$(id -un)" 2>/dev/null
  slurm_until slurm_queue_is_empty
  kill "${slurm_pids[@]}" 2>/dev/null
  wait "${slurm_pids[@]}" 2>/dev/null
  slurm_pids=()
}
