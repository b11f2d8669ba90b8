#!/bin/bash
# Form: clang-format (the version the project is formatted with), shellcheck, and the length of files.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
cd "$BAM_SOURCE" || exit 1

find kernels lib tools tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0 >"$scratch/sources"
while IFS= read -r -d '' file; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 600 ] || fail "$file: $lines lines, a file that passes 600 is two"
done <"$scratch/sources"

if command -v clang-format >/dev/null && clang-format --version | grep -q 'version 14'; then
  xargs -0 clang-format --dry-run -Werror <"$scratch/sources" 2>"$scratch/format" || fail "clang-format: $(head -5 "$scratch/format")"
else
  echo "clang-format 14 is not here: form was not checked" >&2
fi

if command -v shellcheck >/dev/null; then
  scripts=(pipelines/setup pipelines/quickstart pipelines/gcide-text pipelines/report pipelines/about-quickstart pipelines/paper/cost pipelines/paper/report pipelines/slurm/{job.sbatch,submit,evaluate} tests/run .ci/run man/update tests/*/*.sh)
  shellcheck -x "${scripts[@]}" >"$scratch/shell" || fail "shellcheck: $(head -30 "$scratch/shell")"
else
  echo "shellcheck is not here: scripts were not checked" >&2
fi
finish
