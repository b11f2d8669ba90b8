# Sourced by the scripts in tests/cli, tests/pipeline and tests/lint. Each script runs in a scratch folder of its own that
# goes when it ends; the tools are found through BAM_TOOLS, the sources through BAM_SOURCE.
# shellcheck shell=bash
set -u -o pipefail

: "${BAM_SOURCE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${BAM_TOOLS:=$BAM_SOURCE/build/bin}"
# The tools take BAM_NAME for --name, and --bin is an option: they must not see these two, nor what the user has set.
export -n BAM_SOURCE BAM_TOOLS
for name in "${!BAM_@}"; do
  case $name in
    BAM_SOURCE | BAM_TOOLS | BAM_BUILD_DIR | BAM_GOLDEN_DIR | BAM_TEST_DATA | BAM_CPU_ISA | BAM_PYTHON) ;;
    *) unset "$name" ;;
  esac
done
export PATH="$BAM_TOOLS:$PATH"

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

# has_sanitizers - the tools were built with sanitizers.
has_sanitizers() { grep -qs '^BAM_SANITIZE:.*=.' "${BAM_BUILD_DIR:-$BAM_SOURCE/build}/CMakeCache.txt"; }

# leave_leaks - LeakSanitizer does not look from here on.
leave_leaks() { export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"; }

# has_terminal - script(1) can give a pseudo-terminal here; says so aloud where it cannot (some containers).
has_terminal() {
  script -qec true /dev/null >/dev/null 2>&1 </dev/null && return 0
  echo "no pseudo-terminal here: what needs one was not run" >&2
  return 1
}

# same A B - two files have the same bytes.
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

finish() {
  [ "$failures" = 0 ] || { echo "$failures checks failed" >&2; exit 1; }
}
