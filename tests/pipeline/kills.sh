#!/bin/bash
# kills.sh [COUNT] - a small training is killed by SIGKILL COUNT times (12 unless given), at random moments and in the
# middle of saves, and gone on with: no checkpoint under its final name is ever damaged, and each training that comes to
# its end has the bytes of one that was never disturbed.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

wanted=${1:-12}
faults=$BAM_TOOLS/../tests/faults.so
for i in $(seq 100); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --input lines text.txt -o a.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 32 --heads 4 --context 64 --batch-tokens 512 --steps 60 --val a.tok.zst --val-every 20
  --no-times)
begin=$(date +%s%N)
bam-train "${small[@]}" a.tok.zst -o whole.h5 --log whole.jsonl || fail "training failed"
whole_ms=$((($(date +%s%N) - begin) / 1000000))

intact() {
  local digest
  digest=$(head -c 200 "$1" | tr -d '\0' | sed -n '3s/^sha256 //p')
  [ -n "$digest" ] && [ "$(tail -c +513 "$1" | sha256sum | cut -d' ' -f1)" = "$digest" ]
}

kills=0
ends=0
rounds=0
while [ $kills -lt "$wanted" ]; do
  rounds=$((rounds + 1))
  [ $rounds -le $((20 * wanted)) ] || { fail "$kills kills in $rounds runs"; break; }
  # One way for each training: auto begins a finished one anew, and latest would then find that one again.
  resume=$([ $((ends % 3)) = 0 ] && echo latest || echo auto)
  train=(bam-train "${small[@]}" --save-every 1 --keep 3 --resume "$resume" a.tok.zst -o run.h5 --log run.jsonl)
  status=0
  if [ $((rounds % 2)) = 0 ] && [ -e "$faults" ]; then
    # A save has about 90 calls: this one dies in one of its first dozen.
    env LD_PRELOAD="$faults" FAULT_AT=$((RANDOM % 1000 + 1)) FAULT_HOW=kill "${train[@]}" 2>err &
    pid=$!
  else
    "${train[@]}" 2>err &
    pid=$!
    sleep "$(awk -v ms=$((RANDOM * whole_ms / 32768)) 'BEGIN { print ms / 1000 }')"
    kill -9 $pid 2>/dev/null
  fi
  wait $pid 2>/dev/null || status=$?
  for file in run.h5 run-*.h5; do
    [ ! -e "$file" ] || intact "$file" || fail "round $rounds: $file is damaged"
  done
  case $status in
    137) kills=$((kills + 1)) ;;
    0)
      ends=$((ends + 1))
      same whole.h5 run.h5
      same whole.jsonl run.jsonl
      rm -f run*.h5 run.jsonl .bam-*.tmp
      ;;
    *) fail "round $rounds: exit status $status: $(head -c 300 err)" ;;
  esac
  [ "$failures" = 0 ] || break
done
# The last one, undisturbed.
bam-train "${small[@]}" a.tok.zst -o run.h5 --log run.jsonl 2>err || fail "the last run failed: $(cat err)"
same whole.h5 run.h5
same whole.jsonl run.jsonl
echo "$kills kills in $rounds runs, $ends trainings came to their end before the last"
finish
