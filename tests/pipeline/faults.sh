#!/bin/bash
# Each system call of a save fails once, or is the last of the process: the old checkpoint stays, or the new one is whole.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

faults=$BAM_TOOLS/../tests/faults.so
[ -e "$faults" ] || skip "no faults.so in this build"
for i in $(seq 100); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --input lines text.txt -o a.tok.zst || fail "no shard"
small=(-q --threads 1 --layers 1 --dim 16 --heads 2 --context 32 --batch-tokens 64 --no-times --pe alibi)
train() { bam-train "${small[@]}" --steps "$@" a.tok.zst; }
# faulty N HOW COMMAND...
faulty() { env LD_PRELOAD="$faults" GOMP_SPINCOUNT=2000 FAULT_FILE=dir/model FAULT_AT="$1" FAULT_HOW="$2" "${@:3}"; }

train 1 -o old.h5 || fail "training failed"
train 2 -o new.h5 || fail "training failed"
chmod 640 old.h5
save=(bam-train "${small[@]}" --steps 2 --resume no --keep 1 a.tok.zst -o dir/model.h5)
mkdir dir
begin() { rm -f dir/model*.h5 && cp -p old.h5 dir/model.h5; }  # not through one of its names into the others
begin
FAULT_LOG=$PWD/calls faulty 0 none "${save[@]}" || fail "training failed under the fault layer"
same dir/model.h5 new.h5
same dir/model-2.h5 new.h5
count=$(wc -l <calls)
echo "system calls: $count, of them $(sort calls | uniq -c | sort -rn | awk '{ printf "%s %s, ", $1, $2 }')"
renamed=$(grep -m1 -n '^rename$' calls | cut -d: -f1)
for call in stat access realpath open fcntl ftruncate pwrite fstat pread fchmod fsync linkat close rename; do
  grep -q "^$call" calls || fail "no $call is counted"
done

for tool in "bam-train ${small[*]} --steps 1 a.tok.zst" 'bam-tokenize -q --input lines text.txt'; do
  # shellcheck disable=SC2086
  expect 1 env LD_PRELOAD="$faults" GOMP_SPINCOUNT=2000 FAULT_THREADS=1 $tool -o none
  one_line_error "^${tool%% *}: cannot start a thread: expected room for more threads and processes \(ulimit -u"
  [ ! -e none ] || fail "none exists"
done

# The layer sees calls of the C library. None of those that the kernel sees on the new file escapes it.
if strace -qq -o trace true 2>/dev/null; then
  begin
  strace -f -qq -y -e signal=none -o trace "${save[@]}" || fail "training failed under strace"
  grep -oE "^[0-9 ]*[a-z0-9_]+\([0-9]+<$PWD/dir/(#|\.bam-)" trace | sed -E 's/^[0-9 ]*([a-z0-9_]+)\(.*/\1/; s/64$//; s/newfstatat|statx/fstat/' |
    grep -v ioctl | sort | uniq -c >seen
  grep -q pwrite seen || fail "strace shows no pwrite: $(head -3 trace)"
  while read -r times call; do
    counted=$(grep -cE "^$call(64)?$" calls)
    [ "$counted" -ge "$times" ] || fail "$call: $times on the new file, of which the layer sees $counted"
  done <seen
else
  echo "strace does not run here: whether the layer sees every call is not checked" >&2
fi

# Errors: three kinds in turn.
kinds=(ENOSPC EIO EDQUOT)
texts=('No space left on device' 'Input/output error' 'Disk quota exceeded')
for ((n = 1; n <= count; n++)); do
  call=$(sed -n ${n}p calls)
  begin
  status=0
  faulty $n "${kinds[n % 3]}" "${save[@]}" >out 2>err || status=$?
  if [ $status = 0 ]; then
    # A look at the output opens and closes a file for nothing; two paths that cannot be compared are told apart by their
    # text; where a file cannot be without a name, it gets one; and where it cannot have two names, there is a copy.
    [[ $call == close || $call == open* || $call == stat || $call == realpath || ($call == linkat && $n -gt $renamed) ]] ||
      fail "call $n ($call) fails, and the status is 0"
    same dir/model.h5 new.h5
    same dir/model-2.h5 new.h5
    [ "$(stat -c %a dir/model.h5)" = 640 ] || fail "call $n ($call) fails, and the new file has other permissions"
  else
    [ $status = 1 ] || fail "call $n ($call): exit status $status, expected 1"
    one_line_error "^bam-train: dir/model(-2)?.h5: .*${texts[n % 3]}"
    if [ $n -le "$renamed" ]; then same dir/model.h5 old.h5; else same dir/model.h5 new.h5; fi
    [ ! -e dir/model-2.h5 ] || same dir/model-2.h5 new.h5
  fi
  [ -z "$(find dir -type f ! -name model.h5 ! -name model-2.h5)" ] || fail "call $n ($call): something is left: $(ls -A dir)"
done

# The end of the process.
for ((n = 1; n <= count; n++)); do
  call=$(sed -n ${n}p calls)
  [[ $call == pwrite* && $((n % 4)) != 0 ]] && continue
  begin
  faulty $n kill "${save[@]}" >out 2>err && fail "the process survives its end at call $n ($call)"
  if [ $n -le "$renamed" ]; then same dir/model.h5 old.h5; else same dir/model.h5 new.h5; fi
  # Between link and rename the file has a name that nobody else knows.
  rm -f dir/.bam-*.tmp
done

# Calls that do half of what they are asked for are no error.
begin
faulty all short "${save[@]}" || fail "short reads and writes are an error"
same dir/model.h5 new.h5

# A save that goes on beside the training: its error ends it, and the checkpoint before stays.
begin
expect 1 faulty 40 ENOSPC bam-train "${small[@]}" --steps 100000 --save-every 1 --resume no a.tok.zst -o dir/model.h5
one_line_error '^bam-train: dir/model.h5: .*No space left on device'
same dir/model.h5 old.h5

# File systems without locks.
export FAULT_LOCKS=1
begin
faulty 0 none "${save[@]}" || fail "training needs file locks"
same dir/model.h5 new.h5
faulty 0 none bam-train "${small[@]}" --steps 3 --resume dir/model.h5 a.tok.zst -o dir/next.h5 2>err || fail "a resume needs file locks: $(cat err)"
finish
