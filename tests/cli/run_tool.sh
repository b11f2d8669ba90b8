#!/bin/bash
# What every tool does the same way, on a tool that does nothing else (tests/support/demo_tool.cpp).
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

demo=$BAM_TOOLS/../tests/demo-tool
[ -x "$demo" ] || { fail "no $demo"; finish; }

contains() { grep -Eq -- "$2" "$1" || fail "$1 does not match '$2': $(head -c 400 "$1")"; }

# Help, version, man page, completions go to standard output with status 0, and a full disk or a vanished reader shows.
for action in --help -h --version --print-man "--print-completion bash" "--print-completion zsh"; do
  # shellcheck disable=SC2086
  expect 0 "$demo" $action
  [ -s out ] || fail "$action: nothing on standard output"
  [ -s err ] && fail "$action: standard error is not empty"
  # shellcheck disable=SC2086
  expect 1 sh -c "$demo $action >/dev/full"
  one_line_error '^demo-tool: standard output: cannot write: No space left on device$'
done
expect 0 "$demo" --version
contains out '^demo-tool [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]+(-dirty)?\))?$'
contains out '^backend cpu: .'

# Usage errors: status 2, one line, nothing on standard output.
usage_error() {
  local expected=$1
  shift
  expect 2 "$demo" "$@"
  one_line_error "^demo-tool: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
usage_error 'DEED is missing, expected DEED \[FILE\.\.\.\]$'
usage_error "DEED: 'jump' is not a choice, expected show, " jump
usage_error "'c' is one operand too many" show a b c
usage_error '--contxt: unknown option, did you mean --context\?$' show --contxt 5
usage_error "--context: '-1' is out of range, expected a whole number of at least 2" show --context -1
usage_error "--lr: 'abc' is not a real number, expected a real number above 0$" show --lr abc
usage_error "--seed: '1e99' is out of range" show --seed 1e99
usage_error '--context: a value is missing, expected TOKENS$' show --context
usage_error '--quiet: excludes --verbose' show -q -v
usage_error "--lr: 'a b' is not" show --lr $'a\nb'

# Where values come from.
printf 'context = 20\nlr = 0.5 # half\n' >conf
expect 0 env BAM_CONTEXT=10 BAM_LR=0.1 BAM_STOP=end BAM_BUILD_DIR=x BAM_THREADS=3 "$demo" show --config conf --lr 0.7
contains out $'^context\t20\tconfig$'
contains out $'^lr\t0.7\tcommand-line$'
contains out $'^stop\tend\tenvironment$'
contains out $'^threads-used\t3\t'
contains out $'^dtype\tf32\tdefault$'
printf '\357\273\277context = 20\r\n' >marked
expect 0 "$demo" show --config marked
contains out $'^context\t20\tconfig$'
expect 2 env BAM_THREADS=many "$demo" show
one_line_error "^demo-tool: BAM_THREADS: 'many' is not a whole number"
printf 'context = 20\ncontxt = 20\n' >conf
expect 2 "$demo" show --config conf
one_line_error '^demo-tool: conf:2: contxt: unknown option, did you mean context\?$'
expect 1 "$demo" show --config missing
one_line_error '^demo-tool: missing: '
expect 0 "$demo" show --message "it's 5 > 3"
contains out "^command-line.demo-tool show --message 'it'.''s 5 > 3'"
expect 0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$demo" show
contains out $'^threads-used\t1\t'

# Whatever is thrown is one line and a status.
expect 1 "$demo" error --message $'a.h5: first\nsecond\tthird\x1b[2J'
one_line_error '^demo-tool: a.h5: first second third\?\[2J$'
expect 2 "$demo" usage
one_line_error '^demo-tool: --context: larger than the data, expected at most 5$'
expect 1 "$demo" memory
one_line_error '^demo-tool: out of memory$'
expect 1 "$demo" fault
one_line_error '^demo-tool: internal error: never seen by users$'

# Standard output: full, closed, gone, small and large.
for lines in 1 100000; do
  expect 1 sh -c "$demo print --lines $lines >/dev/full"
  one_line_error '^demo-tool: standard output: cannot write: '
  expect 1 sh -c "$demo print --lines $lines >&-"
  one_line_error '^demo-tool: standard output: cannot write: '
done
expect 0 sh -c "$demo print --lines 0 >/dev/full"
expect 0 sh -c "$demo print --lines 0 >&- <&-"
expect 141 bash -c "$demo print --lines 1000000 | head -1; exit \${PIPESTATUS[0]}"
[ -s err ] && fail "a vanished reader was reported: $(head -c 200 err)"
[ "$(cat out)" = 'line 0' ] || fail "head got: $(cat out)"
expect 1 bash -c "ulimit -f 512; exec $demo print --lines 100000 >big"
one_line_error '^demo-tool: standard output: cannot write: File too large$'

# Binary data is for files and pipes.
expect 0 "$demo" binary
[ "$(wc -c <out)" = 3 ] || fail "binary: wrong bytes"
expect 0 "$demo" binary -o file
[ "$(wc -c <file)" = 3 ] || fail "binary -o: wrong bytes"
if has_terminal; then
  expect 2 script -qec "$demo binary" /dev/null
  contains out 'demo-tool: standard output: binary data is not for a terminal, expected a pipe or -o FILE'
  expect 0 script -qec "TERM=xterm $demo climb" /dev/null
  contains out $'\r\x1b\\[K[0-9]+/100 steps \\([0-9]+%\\)'
  tail -c 4 out | grep -q $'\r\x1b\\[K' || fail "the progress line was left on the terminal"
  expect 0 script -qec "TERM=xterm $demo climb -q" /dev/null
  [ -s out ] && fail "-q: progress was shown"
fi
expect 0 "$demo" climb
[ -s err ] && fail "a short job off the terminal showed progress"

# Signals. A tool with nothing to save ends as the signal says.
wait_for() {
  for _ in $(seq 2000); do
    grep -q "$2" "$1" 2>/dev/null && return
    sleep 0.01
  done
  fail "never saw '$2' in $1"
}
ended() {
  local status=0
  wait "$1" || status=$?
  [ "$status" = "$2" ] || fail "$3: exit status $status, expected $2"
}
for signal in TERM:143 INT:130 USR1:138; do
  : >log
  # A script starts background jobs with SIGINT ignored; env undoes that.
  env --default-signal=INT "$demo" wait >log & pid=$!
  wait_for log waiting
  kill -s "${signal%:*}" $pid
  ended $pid "${signal#*:}" "$signal to a tool that does not save"

  : >log
  DEMO_SAVES=1 env --default-signal=INT "$demo" wait >log & pid=$!
  wait_for log waiting
  kill -s "${signal%:*}" $pid
  ended $pid 75 "$signal to a tool that saves"
  grep -q saving log || fail "$signal: did not save"
done
# The same signal twice at once, as timeout(1) sends it, is one; a later one ends the tool.
: >log
DEMO_SAVES=1 DEMO_SLOW_SAVE=1 "$demo" wait >log & pid=$!
wait_for log waiting
before=${EPOCHREALTIME/[.,]/}
kill -TERM $pid
wait_for log saving
kill -TERM $pid
kill -USR1 $pid
if [ $((${EPOCHREALTIME/[.,]/} - before)) -lt 1000000 ]; then
  wait_for log 'still at it'
else
  echo "this machine is too slow for two signals within a second: their echo is not tested" >&2
fi
while kill -TERM $pid 2>/dev/null; do sleep 0.2; done
ended $pid 143 "a second SIGTERM"
# Ignored signals stay ignored.
: >log
DEMO_SAVES=1 env --ignore-signal=INT "$demo" wait >log & pid=$!
wait_for log waiting
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' "/proc/$pid/status")
[ $((0x$ignored >> 1 & 1)) = 1 ] || fail "SIGINT was ignored and no longer is"
kill -TERM $pid
ended $pid 75 "SIGTERM"

finish
