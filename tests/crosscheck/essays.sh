#!/bin/bash
# bam-ruler --punkt against NLTK: essays.py says what is compared. Skipped where Python lacks nltk and numpy; BAM_PYTHON names
# another Python, BAM_PUNKT a folder punkt_tab/english of nltk_data and BAM_ESSAY a text.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
python=${BAM_PYTHON:-python3}
"$python" -c 'import nltk.tokenize.punkt, numpy' 2>/dev/null || skip "$python has no nltk and numpy"
more=()
[ -z "${BAM_PUNKT-}" ] || more+=(--punkt "$BAM_PUNKT")
[ -z "${BAM_ESSAY-}" ] || more+=(--essay "$BAM_ESSAY")
expect 0 "$python" "$BAM_SOURCE/tests/crosscheck/essays.py" "$BAM_TOOLS" --folder "$scratch/essays" "${more[@]}"
cat out
[ "$(grep -c '^ok ' out)" -ge 10 ] || fail "only $(grep -c '^ok ' out) comparisons were made"
finish
