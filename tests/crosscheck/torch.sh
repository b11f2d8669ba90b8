#!/bin/bash
# The model in PyTorch against bam: logits and gradients on the golden files, then what a trained model makes of a text, token
# by token, for each encoding. With SPEED=1 it also races the two, which is no test. Skipped where Python lacks torch or h5py;
# BAM_PYTHON names another Python.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
python=${BAM_PYTHON:-python3}
"$python" -c 'import torch, h5py' 2>/dev/null || skip "$python has no torch and h5py"
command -v zstd >/dev/null || skip "zstd is not here"
model() { "$python" "$BAM_SOURCE/tests/crosscheck/torch_model.py" "$@"; }

expect 0 model golden "$BAM_SOURCE"/tests/data/model/*.h5
cat out
[ "$(grep -c logits out)" -ge 19 ] || fail "only $(grep -c logits out) golden files were compared: $(cat err)"

awk 'BEGIN { srand(4); split("the a old new river stone house light runs falls sings waits under over near and but", w, " ");
  for (i = 0; i < 400; i++) { s = ""; for (k = 0; k < 9; k++) s = s w[1 + int(rand() * 17)] " "; print s "." } }' >text.txt
bam-tokenize -q --input lines text.txt -o text.tok.zst || fail "tokenize"
head -n 30 text.txt | bam-tokenize -q --input lines -o held.tok.zst - || fail "tokenize"
# largest difference, in nats, of the columns nll_sum of two tables of a token a row.
largest() { awk -F'\t' 'FNR == 1 { file++; for (i = 1; i <= NF; i++) at[file, $i] = i; next } { key = $at[file, "window"] SUBSEP $at[file, "bin"]; value = $at[file, "nll_sum"] }
  file == 1 { first[key] = value; n++ } file == 2 && key in first { both++; d = value - first[key]; if (d < 0) d = -d; if (d > most) most = d } END { print (both == n && n > 0) ? most + 0 : 1e9 }' "$1" "$2"; }
for pe in bam:full bam:content alibi:content rope:off sinusoidal:content nope:off; do
  bam-train -q --threads 1 --layers 2 --dim 32 --heads 4 --kv-heads 2 --ffn 48 --context 64 --batch-tokens 512 --steps 30 --seed 3 \
    --pe "${pe%:*}" --ssmax "${pe#*:}" text.tok.zst -o model.h5 || fail "training of $pe"
  bam-ppl -q --threads 1 --context 192 --bin 1 --eps 0 --per-item model.h5 held.tok.zst >ours.tsv || fail "bam-ppl of $pe"
  for attention in eager sdpa; do
    expect 0 model score --context 192 --attention $attention model.h5 held.tok.zst
    echo "$pe, $attention: largest difference $(largest ours.tsv out) nats over $(($(wc -l <out) - 1)) tokens"
    awk -v most="$(largest ours.tsv out)" 'BEGIN { exit !(most < 2e-4) }' || fail "$pe, $attention: a token differs by $(largest ours.tsv out) nats"
  done
done

if [ -n "${SPEED-}" ]; then
  threads=${THREADS:-1}
  for how in "--attention eager" "--attention sdpa" "--attention eager --compile" "--attention flex"; do
    # shellcheck disable=SC2086
    model speed --preset "${PRESET:-tiny}" --context "${CONTEXT:-128}" --batch "${BATCH:-16}" --prefill "${PREFILL:-2048}" --threads "$threads" $how || true
  done
  bam-train -q --threads "$threads" --preset "${PRESET:-tiny}" --prior-init authors --prior-scope layer --context "${CONTEXT:-128}" \
    --batch-tokens $((${CONTEXT:-128} * ${BATCH:-16})) --steps 10 --log log.jsonl text.tok.zst -o speed.h5
  echo "bam-train, a vocabulary of 257: $(sed -E 's/.*"tokens_per_s":([0-9.]+).*/\1/' log.jsonl | sort -n | sed -n 5p) tokens/s"
fi
finish
