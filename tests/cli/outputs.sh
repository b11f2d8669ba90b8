#!/bin/bash
# No tool writes a file but those that it is told to, however it ends: judged by its system calls where strace works, and
# by what is in the folders afterwards.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
export LC_ALL=C HOME=$scratch/home TMPDIR=$scratch/tmp
mkdir home tmp data
cd data || exit 1

for i in $(seq 200); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
printf '{"id":"q","question":"Is 1 odd?","choices":{"text":["yes","no"],"label":["A","B"]},"answerKey":"A"}\n' >arc.jsonl
bam-tokenize -q --tokenizer bytes --input lines text.txt -o train.tok.zst || fail "no shard"
train=(bam-train -q --threads 1 --layers 1 --dim 16 --heads 2 --ffn 16 --context 32 --batch-tokens 64 --seed 5 train.tok.zst)
"${train[@]}" --steps 2 -o model.h5 || { fail "training failed"; finish; }
bam-prior-fit show -q model.h5 -o priors.tsv || fail "no table of priors"
printf '%s\n' * >../inputs

# judge WHAT OUTPUT... - there are the inputs and these outputs, and nothing else; then the outputs go.
judge() {
  local what=$1
  shift
  printf '%s\n' "$@" | sed '/^$/d' | sort - ../inputs >../expected
  ls -A >../found
  cmp -s ../expected ../found || fail "$what: wrote $(comm -13 ../expected ../found | tr '\n' ' '), not $(comm -23 ../expected ../found | tr '\n' ' ')"
  find ../home ../tmp -mindepth 1 >../found
  [ ! -s ../found ] || fail "$what: wrote $(tr '\n' ' ' <../found)"
  rm -rf "$@"
}

# other_calls OUTPUT... - the calls in ../trace that make or change other files. A temporary file has no name
# (O_TMPFILE), or one with 80 random bits, and is then new (O_EXCL). ThreadSanitizer has a file of its own (tsan.rodata).
other_calls() {
  grep -E 'O_WRONLY|O_RDWR|O_CREAT|^[0-9]+ +(creat|rename|link|unlink|mkdir|rmdir|symlink|mknod|truncate|chmod|chown)' ../trace |
    grep -vE ' = -1 |"/dev/[^"]*"|O_TMPFILE|"/proc/self/fd/[0-9]+"|"[^"]*/tsan\.rodata\.[0-9]+"' |
    grep -vE '\.bam-[0-9a-v]{16}\.tmp", (O_RDWR|O_WRONLY)\|O_CREAT\|O_EXCL|(rename|unlink|link|mkdir)[a-z0-9]*\(.*\.bam-[0-9a-v]{16}\.tmp"' >../calls
  local output
  for output in "$@"; do sed -i -E "\\#\"(\\./)?$output(/[^\"]*)?\"#d" ../calls; done
  cat ../calls
}

can_trace=
if strace -f -o ../trace true 2>/dev/null; then
  can_trace=yes
  leave_leaks  # the leak checker is a tracer itself, and there is one at most
  strace -f -qq -e trace=file -o ../trace touch ../found
  [ -n "$(other_calls)" ] || fail "a file that is made is not seen: $(cat ../trace)"
else
  echo "strace is not here, or may not trace: system calls were not judged" >&2
fi
tried=

# writes "OUTPUT..." COMMAND... - the command succeeds and writes these, or nothing.
writes() {
  local outputs status=0
  read -ra outputs <<<"$1"
  shift
  tried+=" $1 "
  ${can_trace:+strace -f -qq -e trace=file -o ../trace} "$@" >../out 2>../err </dev/null || status=$?
  [ $status = 0 ] || fail "$*: exit status $status: $(head -c 300 ../err)"
  if [ -n "$can_trace" ]; then
    other_calls "${outputs[@]}" >../others
    [ ! -s ../others ] || fail "$*: $(head -3 ../others)"
  fi
  judge "$*" "${outputs[@]}"
}

writes "" bam-tokenize -q text.txt
writes a.tok.zst bam-tokenize -q -o a.tok.zst text.txt
writes shards bam-tokenize -q --shard-tokens 1k -o shards/ text.txt
writes own.model bam-tokenize -q --learn 300 -o own.model text.txt
writes "" "${train[@]}" --steps 2
writes "a.h5 a.jsonl" "${train[@]}" --steps 4 --save-every 1 --log a.jsonl -o a.h5
writes "" bam-ppl -q model.h5 text.txt
writes ppl.tsv bam-ppl -q -o ppl.tsv model.h5 train.tok.zst
writes keys.tsv bam-passkey -q --lengths 512 --samples 2 -o keys.tsv model.h5
writes corpus.jsonl bam-passkey -q --corpus 3 --max-tokens 300 -o corpus.jsonl
writes "ruler.tsv ruler.items" bam-ruler -q --tasks niah_single_1 --lengths 1500 --samples 1 --append ruler.items -o ruler.tsv model.h5
writes mcq.tsv bam-mcq -q --task arc_easy -o mcq.tsv model.h5 arc.jsonl
writes more.txt bam-generate -q --prompt a --max-tokens 3 -o more.txt model.h5
writes table.tsv bam-prior-fit show -q -o table.tsv model.h5
writes fit.tsv bam-prior-fit fit -q -o fit.tsv model.h5 train.tok.zst
writes tuned.h5 bam-prior-fit tune -q --steps 1 -o tuned.h5 model.h5 train.tok.zst
writes attention.tsv bam-attn -q --passkey 512 -o attention.tsv model.h5
writes folder bam-convert -o folder model.h5
writes new.h5 bam-prior-fit init -q --from priors.tsv -o new.h5 model.h5
for tool in "$BAM_TOOLS"/bam-*; do
  [[ "$tried" == *" ${tool##*/} "* ]] || fail "${tool##*/} is not tried here"
done

# ends STATUS SIGNAL COMMAND... - stopped in the middle of ../pipe, it leaves nothing. Without a signal, the pipe ends.
mkfifo ../pipe
ends() {
  local expected=$1 signal=$2 status=0 pid
  shift 2
  "$@" >../out 2>../err &
  pid=$!
  exec 9>../pipe
  head -c 300 train.tok.zst >&9
  if [ -n "$signal" ]; then
    sleep 0.3
    kill -s "$signal" $pid
  fi
  exec 9>&-
  wait $pid 2>/dev/null || status=$?
  [ $status = "$expected" ] || fail "${signal:-cut} $*: exit status $status, expected $expected: $(head -c 300 ../err)"
  judge "${signal:-cut} $*"
}
ends 1 "" bam-tokenize -q --decode -o a.txt ../pipe
ends 1 "" bam-ppl -q -o a.tsv model.h5 ../pipe
ends 1 "" "${train[@]:0:${#train[@]}-1}" --steps 9 -o a.h5 ../pipe
# The files of a process that ends at once vanish with it where files without names can be had.
if [ -n "$can_trace" ] && strace -f -o ../trace bam-tokenize -q -o a.tok.zst text.txt && ! grep -q 'O_TMPFILE.* = -1' ../trace; then
  rm a.tok.zst
  for signal in TERM:143 KILL:137; do
    ends "${signal#*:}" "${signal%:*}" bam-tokenize -q --decode -o a.txt ../pipe
    ends "${signal#*:}" "${signal%:*}" bam-ppl -q -o a.tsv model.h5 ../pipe
    ends "${signal#*:}" "${signal%:*}" bam-prior-fit init -q --from ../pipe -o new.h5 model.h5
  done
else
  echo "no files without names here, or no strace to tell: what is left by a signal was not judged" >&2
fi
finish
