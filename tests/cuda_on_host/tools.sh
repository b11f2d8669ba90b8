#!/bin/bash
# --device cuda of the tools: with the backend on the host in the library's place, and what is said when there is no
# library, a wrong one, no device, or too little memory.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

host=$BAM_BUILD_DIR/tests/libbam_cuda_host.so
real=$BAM_BUILD_DIR/lib/libbam_cuda.so
[ -e "$host" ] || skip "the library for the host was not built"
with() { env BAM_CUDA_LIBRARY="$host" "$@"; }

yes "the cat sat on the mat and the dog sat on the log" | head -60 >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
shape=(-q --layers 1 --dim 32 --heads 2 --ffn 32 --context 32 --batch-tokens 128 --seed 5 --no-times --border-targets no)
small=("${shape[@]}" --steps 4)

expect 0 bam-train "${small[@]}" --device cpu --log cpu.jsonl train.tok.zst -o cpu.h5
for dtype in f32 bf16; do
  expect 0 with bam-train "${small[@]}" --device cuda --dtype "$dtype" --log "cuda-$dtype.jsonl" train.tok.zst -o "cuda-$dtype.h5"
done
# losses LOG - the loss of each step.
losses() { grep -o '"loss":[0-9.]*' "$1" | cut -d: -f2; }
# near A B SHARE - the numbers of two files differ by at most so much, and there are some.
near() {
  paste "$1" "$2" | awk -v share="$3" '{ d = $1 - $2; if (d < 0) d = -d; if (d > share * $1) bad = 1 } END { exit bad || NR == 0 }'
}
for log in cpu cuda-f32 cuda-bf16; do losses "$log.jsonl" >"$log.loss"; done
near cpu.loss cuda-f32.loss 1e-5 || fail "losses of f32 on cuda are not those of cpu: $(paste cpu.loss cuda-f32.loss)"
near cpu.loss cuda-bf16.loss 5e-3 || fail "losses of bf16 on cuda are not those of cpu: $(paste cpu.loss cuda-bf16.loss)"

# Steps that are played from a recording are the steps themselves.
for dtype in f32 bf16; do
  expect 0 with env BAM_CUDA_GRAPHS=0 bam-train "${small[@]}" --device cuda --dtype "$dtype" train.tok.zst -o one-by-one.h5
  same "cuda-$dtype.h5" one-by-one.h5
done

expect 0 with bam-train "${small[@]}" --device auto train.tok.zst -o again.h5
expect 0 with bam-train "${small[@]}" --device cuda:0 train.tok.zst -o once-more.h5
expect 0 with bam-ppl -q --device cuda --context 2x --no-times cuda-f32.h5 train.tok.zst
cut -f6 out | tail -n +2 >cuda.ppl
grep -q $'\tcuda\t' out || fail "the device is not in the rows: $(head -2 out)"
expect 0 bam-ppl -q --device cpu --context 2x --no-times cuda-f32.h5 train.tok.zst
cut -f6 out | tail -n +2 >cpu.ppl
near cpu.ppl cuda.ppl 1e-5 || fail "perplexity on cuda is not that of cpu"
expect 0 with bam-generate -q --device cuda --max-tokens 5 --prompt 'the ' cuda-f32.h5
cp out cuda.text
expect 0 bam-generate -q --device cpu --max-tokens 5 --prompt 'the ' cuda-f32.h5
same out cuda.text
expect 0 with bam-passkey -q --device cuda --lengths 600 --samples 1 --bos no cuda-f32.h5
# The other tools that compute: the device is in their rows, and the numbers are those of cpu but for rounding.
printf '{"id":"q","question":"Is 1 odd?","choices":{"text":["yes","no"],"label":["A","B"]},"answerKey":"A"}\n' >arc.jsonl
computes() {
  expect 0 with "$@" --device cuda
  grep -q $'\tcuda\t' out || fail "$1: the device is not in the rows: $(tail -1 out)"
}
computes bam-mcq -q --task arc_easy cuda-f32.h5 arc.jsonl
computes bam-ruler -q --tasks niah_single_1 --lengths 1000 --samples 1 --haystack noise cuda-f32.h5
computes bam-attn -q --max-tokens 40 --by distance cuda-f32.h5 text.txt
computes bam-prior-fit fit -q --max-tokens 40 cuda-f32.h5 text.txt
expect 0 with bam-prior-fit tune -q --steps 3 --context 32 --batch-tokens 64 --device cuda cuda-f32.h5 train.tok.zst -o tuned.h5
expect 0 with bam-train --version
grep -q '^backend cuda: an emulation on the host' out || fail "--version: $(cat out)"

# refused WITH-WHAT REGEX - the library of that path, and what is said of it.
refused() {
  expect 1 env BAM_CUDA_LIBRARY="$1" bam-train "${small[@]}" --device cuda train.tok.zst -o refused.h5
  one_line_error "^bam-train: --device cuda: .*$2"
  [ -e refused.h5 ] && fail "a refused run left a checkpoint"
  expect 0 env BAM_CUDA_LIBRARY="$1" bam-train --version
  grep -Eq "^backend cuda: not available: .*$2" out || fail "--version does not say '$2': $(cat out)"
}
refused nowhere.so 'nowhere.so is not a file'
refused text.txt 'cannot be opened: .*(invalid ELF|file too short)'
echo 'int other = 1;' | "${CXX:-c++}" -shared -fPIC -x c++ - -o other.so
refused ./other.so 'other.so: not a library of these tools'
echo 'struct Old { const char* id; void* a; void* b; }; extern "C" { Old bam_cuda_library = {"0123456789abcdef", nullptr, nullptr}; }' |
  "${CXX:-c++}" -shared -fPIC -x c++ - -o older.so
refused ./older.so 'older.so: build 0123456789abcdef, expected that of this executable, [0-9a-f]{16}$'
export BAM_HOST_DEVICES=0
refused "$host" 'no CUDA device'
unset BAM_HOST_DEVICES
expect 1 with bam-train "${small[@]}" --device cuda:3 train.tok.zst -o refused.h5
one_line_error '--device cuda:3: there is no device 3, expected below 1$'
expect 1 env BAM_HOST_DEVICE_MIB=1 BAM_CUDA_LIBRARY="$host" bam-train -q --layers 2 --dim 256 --heads 2 --context 32 --batch-tokens 128 \
  --steps 3 --device cuda train.tok.zst -o refused.h5
one_line_error 'memory'
[ -e refused.h5 ] && fail "a refused run left a checkpoint"

# A device that fails for good in the middle of a run: one line, and the last checkpoint can be gone on with.
many=("${shape[@]}" --steps 40 --save-every 1)
expect 1 with env BAM_HOST_DEVICE_WAITS=150 bam-train "${many[@]}" --device cuda train.tok.zst -o failed.h5
one_line_error '^bam-train: cuda: the device failed: an illegal memory access .*run it again$'
[ -e failed.h5 ] || fail "no checkpoint of the steps before the failure"
expect 0 with bam-train "${many[@]}" --device cuda train.tok.zst -o failed.h5
expect 0 with bam-train "${many[@]}" --device cuda train.tok.zst -o whole.h5
same failed.h5 whole.h5

# The library itself, where it was built and there is nothing to run it.
if [ -e "$real" ] && ! [ -e /dev/nvidiactl ]; then
  refused "$real" '(no NVIDIA driver|no CUDA device|expected one for .* or later)$'
fi
finish
