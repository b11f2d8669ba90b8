#!/bin/bash
# Ids of bam-tokenize against those of the libraries that the tokenizers' files belong to: the files of tests/data, and those
# of BAM_TEST_DATA/tokenizers with the texts of BAM_TEST_DATA/corpora where that is set. BAM_PYTHON names a Python that has
# sentencepiece, tokenizers and tiktoken; what it lacks is said.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
python=${BAM_PYTHON:-python3}
command -v zstd >/dev/null || skip "zstd is not here"
"$python" -c pass 2>/dev/null || skip "$python is not here"

cat "$BAM_SOURCE"/README.md "$BAM_SOURCE"/docs/*.md "$BAM_SOURCE"/man/*.1 >pages.txt
printf 'A line.\r\n\ttabs  and   blanks \n\n\n1234567 + 89.01; na\xc3\xafve \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x99\x82 <s> it'\''s they'\''LL\xc2\xa0end  ' >odd.txt
texts=(pages.txt odd.txt)
files=("$BAM_SOURCE"/tests/data/tokenizers/*.model)
if [ -n "${BAM_TEST_DATA-}" ]; then
  files+=("$BAM_TEST_DATA"/tokenizers/*.{model,json,tiktoken})
  for name in moby-dick udhr-multilingual; do
    zstd -dcq "$BAM_TEST_DATA/corpora/$name.txt.zst" >whole.txt
    # A character that is cut in two is left out.
    head -c 300000 whole.txt | iconv -c -f UTF-8 -t UTF-8 >$name.txt 2>why || true
    texts+=("$name.txt")
  done
fi

# ids SHARD - its ids without BOS and EOS, in decimal, a line.
ids() {
  bam-tokenize -q --info "$1" >info.tsv
  local width bos eos
  width=$(column dtype | tr -d u)
  bos=$(column bos_id) eos=$(column eos_id)
  zstd -dcq "$1" | od -An -v -w$((width / 8)) -tu$((width / 8)) --endian=little | awk -v bos="$bos" -v eos="$eos" '
    { id[NR] = $1 }
    END { n = NR; if (eos != "" && id[n] == eos) n--; for (i = 1 + (id[1] == bos); i <= n; i++) { printf "%s%d", separator, id[i]; separator = " " } print "" }'
}
column() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[name] }' info.tsv; }

compared=0
for file in "${files[@]}"; do
  case ${file##*/} in *vocab.json) continue ;; esac
  status=0
  # Of two ways with the same score, a unigram model takes the one that rounding makes better, and versions of the library
  # round differently in long texts.
  own=("${texts[@]}")
  case $file in *unigram*) own=(odd.txt) ;; esac
  # The library of tokenizer.json takes special tokens in a text for what they are.
  special=()
  case $file in *.json) special=(--allow-special) ;; esac
  "$python" "$BAM_SOURCE/tests/crosscheck/ids_by_library.py" "$file" "${own[@]}" >theirs 2>why || status=$?
  if [ $status = 77 ]; then
    echo "not compared: $(basename "$file"): $(cat why)" >&2
    continue
  fi
  [ $status = 0 ] || { fail "$(basename "$file"): its library fails: $(tail -n 2 why)"; continue; }
  k=0
  for text in "${own[@]}"; do
    k=$((k + 1))
    bam-tokenize -q --tokenizer "$file" "${special[@]}" --input text "$text" -o shard.tok.zst || { fail "$(basename "$file"): $text"; continue; }
    ids shard.tok.zst >ours
    compared=$((compared + 1))
    sed -n ${k}p theirs | cmp -s - ours || fail "$(basename "$file"): ids of $text differ"
  done
done
[ $compared -gt 0 ] || skip "$python has none of sentencepiece, tokenizers and tiktoken"
echo "$compared pairs of a tokenizer and a text have the same ids"
finish
