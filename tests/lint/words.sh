#!/bin/bash
# Words that mark unfinished work, paths of one machine, and what would make builds of the same source differ.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
cd "$BAM_SOURCE" || exit 1

# lint_words FOLDER - prints the lines that hold one. This file and binary data are left out.
lint_words() {
  grep -rnIE 'TODO|FIXME|XXX|not implemented|unimplemented|placeholder' "$1"/{kernels,lib,tools,pipelines,man,README.md,CMakeLists.txt} 2>/dev/null
  grep -rnIE '/work/|/home/|\.\./shared' "$1"/{kernels,lib,tools,pipelines,man,tests,README.md,CHANGELOG.md,CMakeLists.txt} 2>/dev/null | grep -v 'tests/lint/words.sh'
  grep -rnIE '__(FILE|DATE|TIME|TIMESTAMP)__' "$1"/{kernels,lib,tools} 2>/dev/null
  return 0
}
lint_words . >"$scratch/found"
[ ! -s "$scratch/found" ] || fail "$(cat "$scratch/found")"

mkdir -p "$scratch/planted/lib"
echo '// TODO later' >"$scratch/planted/lib/a.cpp"
lint_words "$scratch/planted" | grep -q TODO || fail "a planted word was not found"
echo 'const char* where = __FILE__;' >"$scratch/planted/lib/b.cpp"
lint_words "$scratch/planted" | grep -q 'b.cpp' || fail "the name of a source file was not found"
finish
