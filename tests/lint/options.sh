#!/bin/bash
# Every tool takes the shared options, says of itself what its option table says, and has a man page that agrees.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

contains() { grep -Eq -- "$2" "$1" || fail "$3: $1 does not match '$2': $(head -c 300 "$1")"; }

# lint_tool PATH - what holds for every program of the family.
lint_tool() {
  local path=$1 tool option action
  tool=$(basename "$path")
  expect 0 "$path" --help
  cp out help
  contains help "^$tool - .*[^.]$" "$tool --help"
  contains help "^Usage: $tool \[options\]" "$tool --help"
  contains help '^Examples:$' "$tool --help"
  [ "$(awk 'length > 80' help | wc -l)" = 0 ] || fail "$tool --help: lines of more than 80 characters"

  expect 0 "$path" --print-man
  sed -En 's/^\.It Fl (. , Fl )?\\-([^ ]*).*/\2/p' out | sed 's/\\//g' >names
  [ -s names ] || fail "$tool --print-man: no option"
  while read -r option; do
    contains help "^ +(-., )?--$option( |$)" "$tool --help"
  done <names
  for option in device threads seed config quiet verbose help version; do
    grep -qx -- "$option" names || fail "$tool: no --$option"
  done
  # A table comes with all its options.
  if grep -qx format names; then
    for option in no-header no-times; do grep -qx -- "$option" names || fail "$tool: --format without --$option"; done
  fi
  [ "$(sort names | uniq -d | wc -l)" = 0 ] || fail "$tool: options declared twice: $(sort names | uniq -d)"

  # With --help the shared options are read and checked, and the tool does nothing else.
  expect 0 "$path" --device cpu --threads 2 --seed 7 -q --help
  expect 0 "$path" --device ref --threads all --seed 18446744073709551615 -v --help
  expect 0 env BAM_THREADS=2 BAM_DEVICE=cpu "$path" --help
  expect 2 "$path" --threads 0
  one_line_error "^$tool: --threads: '0' is out of range"
  expect 2 "$path" --device gpu
  one_line_error "^$tool: --device: 'gpu' is not a device"
  expect 2 "$path" --seed -1
  one_line_error "^$tool: --seed: '-1' is out of range"

  expect 0 "$path" --version
  contains out "^$tool [0-9]+\.[0-9]+\.[0-9]+" "$tool --version"
  contains out '^backend cpu: ' "$tool --version"
  expect 2 "$path" --thraeds 2
  one_line_error "^$tool: --thraeds: unknown option, did you mean --threads\?$"

  for action in --help --version --print-man '--print-completion bash'; do
    # shellcheck disable=SC2086
    expect 1 bash -c '"$@" >/dev/full' _ "$path" $action
    one_line_error "^$tool: standard output: cannot write"
  done
  expect 0 "$path" --print-completion bash
  bash -n out || fail "$tool: its bash completion is no shell script"
  shellcheck_if_present out "$tool"
  expect 0 "$path" --print-completion zsh
  if command -v zsh >/dev/null; then zsh -n out || fail "$tool: its zsh completion is no zsh script"; fi
}

shellcheck_if_present() {
  if command -v shellcheck >/dev/null; then shellcheck -s bash "$1" || fail "$2: shellcheck of its bash completion"; fi
}

# The completion in use: bash, with the words that a user has typed.
completes() {
  local expected=$1 tool=$2
  shift 2
  local got
  got=$(
    eval "$("$BAM_TOOLS/$tool" --print-completion bash 2>/dev/null || "$demo" --print-completion bash)"
    # shellcheck disable=SC2034
    COMP_WORDS=("$tool" "$@") COMP_CWORD=$#
    "_${tool//-/_}"
    echo "${COMPREPLY[*]}"
  )
  [ "$got" = "$expected" ] || fail "completion of '$tool $*': '$got', expected '$expected'"
}

# lint_page FILE - mandoc has nothing to say, and every page of ours that is referred to is there.
lint_page() {
  mandoc -T lint "$1" 2>&1 | grep -vE 'referenced manual not found|outdated mandoc.db' >complaints && fail "$1: $(cat complaints)"
  local name section
  while read -r name section; do
    case $name in
      bam*) [ -e "$BAM_SOURCE/man/$name.$section" ] || fail "$1: refers to $name($section), which is not there" ;;
    esac
  done < <(sed -En 's/^\.Xr ([^ ]+) ([0-9]).*/\1 \2/p' "$1")
}

demo=$BAM_TOOLS/../tests/demo-tool
lint_tool "$demo"
completes '--dtype' demo-tool --dt
completes 'f32 bf16' demo-tool --dtype ''
completes 'bf16' demo-tool --dtype = b
completes '' demo-tool --context 5
touch a.h5
completes 'a.h5' demo-tool show a
completes 'a.h5' demo-tool -o a

tools=0
for path in "$BAM_TOOLS"/bam-*; do
  [ -x "$path" ] || continue
  tools=$((tools + 1))
  lint_tool "$path"
  [ -e "$BAM_SOURCE/man/$(basename "$path").1" ] || fail "$(basename "$path") has no man page"
done
[ $tools -gt 0 ] || fail "no tool in $BAM_TOOLS"
"$BAM_SOURCE/man/update" --check "$BAM_TOOLS" >differences || fail "man pages differ from the tools, run man/update: $(cat differences)"

if ! command -v mandoc >/dev/null; then
  finish
  skip "mandoc is not installed: the man pages are not linted"
fi
shopt -s nullglob
for page in "$BAM_SOURCE"/man/*.[157]; do lint_page "$page"; done
# Whatever a table can hold makes a clean page.
{
  printf '.Dd November 1, 2025\n.Dt DEMO-TOOL 1\n.Os\n.Sh NAME\n.Nm demo-tool\n.Nd shows what all tools do\n'
  printf '.Sh SYNOPSIS\n.Nm\n.Sh DESCRIPTION\nNothing.\n'
  "$demo" --print-man
} >demo-tool.1
lint_page demo-tool.1
finish
