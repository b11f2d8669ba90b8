#!/bin/bash
# Every command that README.md, docs/, CONTRIBUTING.md, the manual pages and the tools' --help show is run, each example in
# a folder of its own with small files under the names that examples use. What the environment sets makes trainings short
# and models small; numbers of samples are cut. What a page marks as not to be run is listed, with its reason. ONLY=bam-ruler
# runs those of one page.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
missing=
for program in jq gnuplot zstd h5dump python3 make; do command -v $program >/dev/null || missing+=" $program"; done
# The Python that has the modules of examples, where there are several.
for python in "${BAM_PYTHON-}" python3 /usr/bin/python3; do
  if [ -n "$python" ] && "$python" -c 'import h5py' 2>/dev/null; then
    mkdir shims
    ln -s "$(command -v "$python")" shims/python3
    PATH=$scratch/shims:$PATH
    break
  fi
done

# small TRAINING... - a model of one layer.
small() { bam-train -q --threads 1 --layers 1 --dim 16 --heads 2 --ffn 32 --context 512 --batch-tokens 1024 --steps 1 --seed 1 "$@"; }

# prepare - the files that examples read, in the current folder.
prepare() {
  awk 'BEGIN { srand(3); for (i = 0; i < 60000; i++) { w = ""; n = 2 + int(rand() * 6); for (k = 0; k < n; k++) w = w substr("aeioubcdfghklmnprstvwyz", 1 + int(rand() * 23), 1); words = words w (rand() < 0.1 ? ".\n" : " ") } printf "%s\n", words }' >book.txt
  cp book.txt corpus.txt
  cp book.txt en.txt
  fold -s -w 80 book.txt | awk '{ print } NR % 4 == 0 { print "" }' >mine.txt
  head -c 40000 book.txt >text.txt
  tail -c 12000 book.txt >held.txt
  head -c 20000 book.txt | fold -w 500 >pages.txt
  echo 'Once upon a' >prompt.txt
  for name in book train text a b x; do bam-tokenize -q text.txt -o $name.tok.zst; done
  bam-tokenize -q book.txt -o book.tok.zst
  bam-tokenize -q held.txt -o held.tok.zst
  mkdir lists shards
  for k in 1 2; do bam-tokenize -q text.txt -o shards/0000$k.tok.zst; done
  for list in noun verb adjective; do tr -cs '[:lower:]' '\n' <book.txt | sort -u | sed -n "/^...$/s/^/${list:0:1}/p" >lists/${list}list.txt; done
  small train.tok.zst -o model.h5
  for name in a b bam fresh; do cp model.h5 $name.h5; done
  small --pe alibi train.tok.zst -o alibi.h5
  small --pe rope train.tok.zst -o rope.h5
  bam-convert -q rope.h5 -o Llama-3.2-1B
  cp "$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model" mistral.model
  cp mistral.model en.model
  bam-tokenize -q --tokenizer en.model text.txt | small - -o en.h5
  tail -c +2 "$BAM_SOURCE/tests/data/fuzz/tokenizer/byte-level" >tokenizer.json
  head -n 300 pages.txt | sed 's/.*/{"text":"&"}/' >web.jsonl
  if command -v zstd >/dev/null; then zstd -q web.jsonl; cp web.jsonl.zst web-1.jsonl.zst; cp web.jsonl.zst web-2.jsonl.zst; fi
  cp "$BAM_SOURCE/pipelines/paper/rehearsal-arc.jsonl" ARC-Easy-Test.jsonl
  cp "$BAM_SOURCE/pipelines/paper/rehearsal-mmlu.jsonl" test.jsonl
  cat test.jsonl test.jsonl test.jsonl >dev.jsonl
  printf '{"goal":"To dry","sol1":"wait","sol2":"pour water"}\n{"goal":"To eat","sol1":"a stone","sol2":"bread"}\n' >valid.jsonl
  printf '0\n1\n' >valid-labels.lst
  for k in 1 2 3 4 5 6 7 8; do printf '{"ind":%d,"activity_label":"Walking","ctx_a":"A man walks.","ctx_b":"he","endings":["sits.","sings.","falls.","flies."],"label":"1"}\n' $k; done >val.jsonl
  mkdir parquet
  python3 -c 'import pyarrow as a, pyarrow.parquet as q; q.write_table(a.table({"text": ["one", "two"], "id": [1, 2]}), "parquet/0.parquet")' 2>/dev/null || true
  ln -s "$BAM_SOURCE/pipelines" "$BAM_SOURCE/tests" "$BAM_SOURCE/man" "$BAM_SOURCE/docs" .
}

# lacks SCRIPT - prints what the machine lacks to run it.
lacks() {
  local name
  for name in $missing; do if grep -qw "$name" "$1"; then echo "$name"; fi; done
  if [[ $missing != *python3* ]]; then
    grep -oE 'import [a-z0-9_., ]+' "$1" | sed 's/import //; s/ as [a-z]*//g' | tr -d ' ' | tr , '\n' | while read -r name; do
      python3 -c "import $name" 2>/dev/null || echo "the Python module $name"
    done
  fi
}

# Numbers of samples and documents are what makes these long.
cut_down() { sed -E 's/(--samples) [0-9]+/\1 1/; s/(--corpus) [0-9]+k/\1 100/; s/(--lengths 512,1k),32k/\1,4k/; s#--task 3/8#--task 1/8#' "$1"; }

run_example() {
  local status=0
  rm -rf run
  cp -a prepared run
  case $1 in
    */bam-ruler*) cp prepared/en.h5 run/model.h5 ;; # with bytes as tokens some tasks need more than these lengths
    */bam-tokenize*) rm -r run/shards ;;
  esac
  cut_down "$1" >example
  (
    cd run || exit 1
    export BAM_STEPS=2 BAM_LAYERS=1 BAM_DIM=16 BAM_HEADS=2 BAM_FFN=32 BAM_BATCH_TOKENS=1024 BAM_SAMPLES=1 BAM_THREADS=1 I=1
    export BIN=$BAM_TOOLS STEPS=2 PIECES=300 LENGTHS=4x,8x SAMPLES=1 PPL=4x # what pipelines/Makefile takes
    timeout 300 bash -eu -o pipefail ../example
  ) >log 2>&1 </dev/null || status=$?
  # A reader such as head(1) goes away early.
  if [ $status = 141 ] && grep -qw head "$1"; then status=0; fi
  [ $status = 0 ] || fail "$(basename "$1" .sh): exit status $status: $(tail -c 600 log) in: $(cat "$1")"
}

mkdir examples prepared
for page in "$BAM_SOURCE"/README.md "$BAM_SOURCE"/CONTRIBUTING.md "$BAM_SOURCE"/docs/*.md "$BAM_SOURCE"/man/*.[157]; do
  if [ -e "$page" ]; then awk -v dir=examples -f "$BAM_SOURCE/tests/support/examples.awk" "$page"; fi
done
for tool in "$BAM_TOOLS"/bam-*; do
  "$tool" --help | awk '/^Examples:/ { on = 1; next } /^$/ { on = 0 } on && /^  [^ ]/' >"examples/$(basename "$tool")--help.sh"
done
# What is told in passing: man -l man/bam-train.1
# shellcheck disable=SC2016
grep -ohE '`man -l [a-z0-9/.-]+`' "$BAM_SOURCE"/README.md | tr -d '`' | sort -u >examples/README.md.pages.sh
command -v man >/dev/null || sed -i 's/man -l/cat/' examples/README.md.pages.sh

[ "$(find examples -name '*.sh' | wc -l)" -ge 40 ] || fail "only $(find examples -name '*.sh' | wc -l) examples were found"
(cd prepared && prepare) || fail "the files that examples read could not be made"
for example in examples/"${ONLY-}"*.sh; do
  lacking=$(lacks "$example" | paste -sd, -)
  if [ -n "$lacking" ]; then
    echo "not run: $(basename "$example" .sh): $lacking is not here" >&2
  else
    run_example "$example"
  fi
done
for example in examples/*.skip; do
  [ "$(cat "$example")" = "no command" ] || echo "not run: $(basename "$example" .skip): $(cat "$example")" >&2
done

# The test itself: an example that fails is a failure.
echo 'bam-train --no-such-option' >examples/planted.sh
before=$failures
run_example examples/planted.sh 2>/dev/null
if [ "$failures" = $((before + 1)) ]; then failures=$before; else fail "a wrong example was not found"; fi
finish
