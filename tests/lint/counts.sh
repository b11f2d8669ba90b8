#!/bin/bash
# Tests do not vanish unseen: fewer test cases or scripts than tests/lint/counts.txt records is a failure.
# Whoever takes tests away on purpose changes that file in the same commit.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
cd "$BAM_SOURCE" || exit 1

count_cases() { cat tests/unit/*.cpp tests/property/*.cpp tests/golden/*.cpp | grep -cE '^\s*(TEMPLATE_)?TEST_CASE(_METHOD)?\('; }
count_scripts() { find tests/cli tests/pipeline tests/lint -name '*.sh' | wc -l; }

[ -s tests/lint/counts.txt ] || fail "tests/lint/counts.txt is missing"
while read -r kind recorded; do
  found=$("count_$kind")
  [ "$found" -ge "$recorded" ] || fail "$found $kind, tests/lint/counts.txt records $recorded"
done <tests/lint/counts.txt
finish
