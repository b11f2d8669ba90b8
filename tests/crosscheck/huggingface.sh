#!/bin/bash
# bam-convert against transformers, and bam-mcq against lm-evaluation-harness on an exported model; huggingface.py says what
# is compared. Skipped where Python lacks torch or transformers; BAM_PYTHON names another Python.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
python=${BAM_PYTHON:-python3}
"$python" -c 'import torch, transformers' 2>/dev/null || skip "$python has no torch and transformers"
command -v zstd >/dev/null || skip "zstd is not here"

more=()
for file in "$BAM_SOURCE"/tests/data/tokenizers/*.model; do more+=(--tokenizer "$file"); done
if [ -n "${BAM_TEST_DATA-}" ]; then
  more+=(--data "$BAM_TEST_DATA")
  for file in "$BAM_TEST_DATA"/tokenizers/{*.model,*.tiktoken,gpt2-vocab.json,*.tokenizer.json}; do
    [ -e "$file" ] && more+=(--tokenizer "$file")
  done
fi
export HF_HUB_OFFLINE=1 HF_HOME=$scratch/hf HF_MODULES_CACHE=$scratch/modules
expect 0 "$python" "$BAM_SOURCE/tests/crosscheck/huggingface.py" "$BAM_TOOLS" --folder "$scratch/models" "${more[@]}"
cat out
[ "$(grep -c '^ok ' out)" -ge 60 ] || fail "only $(grep -c '^ok ' out) comparisons were made"
finish
