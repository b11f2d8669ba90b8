# Sourced by the scripts in tests/cli, tests/pipeline and tests/lint. Each script runs in a scratch folder of its own that
# goes when it ends; the tools are found through BAM_BIN, the sources through BAM_SOURCE.
# shellcheck shell=bash
set -u -o pipefail

: "${BAM_SOURCE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${BAM_BIN:=$BAM_SOURCE/build/bin}"
export BAM_SOURCE BAM_BIN
export PATH="$BAM_BIN:$PATH"
unset BAM_THREADS BAM_DEVICE

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

failures=0

fail() {
  echo "FAIL: $*" >&2
  failures=$((failures + 1))
}

# skip REASON - ends the script as skipped.
skip() {
  echo "skipped: $*" >&2
  exit 77
}

# expect STATUS COMMAND... - runs the command with its streams in ./out and ./err and compares its exit status.
expect() {
  local want=$1 got=0
  shift
  "$@" >out 2>err || got=$?
  [ "$got" = "$want" ] || fail "$* : exit status $got, expected $want; standard error: $(head -c 400 err)"
}

# one_line_error REGEX - the last command wrote exactly one line to standard error, and it matches.
one_line_error() {
  [ "$(wc -l <err)" = 1 ] || fail "expected one line on standard error, got: $(head -c 600 err)"
  grep -Eq -- "$1" err || fail "standard error does not match '$1': $(head -c 400 err)"
}

# same A B - two files have the same bytes.
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

finish() {
  [ "$failures" = 0 ] || { echo "$failures checks failed" >&2; exit 1; }
}
