#!/bin/bash
# bam-tokenize: text to shards and back, through files and pipes, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

model=$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model
nfkc=$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-noprefix.model
quiet() { bam-tokenize -q "$@"; }
contains() { grep -Eq -- "$2" "$1" || fail "$1 does not match '$2': $(head -c 400 "$1")"; }
# ids FILE - the ids of a shard on one line, as any zstd and od show them.
ids() { zstd -dcq "$1" | od -An -v -tu2 -w1000000 | tr -s ' ' | sed 's/^ //; s/ $//'; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }
no_leftovers() { [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left: $(find . -name '*.tmp')"; }

printf '\357\273\277 One line,\r\nanother \0 one: \303\251\344\275\240\n\n' >odd.txt
i=0
while [ $i -lt 3000 ]; do
  echo "The house number $i stands by the sea, and nobody has lived there for $((i * 7)) years."
  i=$((i + 1))
done >text.txt

# Documents, BOS, EOS.
printf 'ab\r\n\nc' >lines.txt
expect 0 bam-tokenize --tokenizer bytes --input lines lines.txt -o a.tok.zst
one_line_error '^bam-tokenize: 2 documents, 5 tokens from 3 bytes \(0\.60 bytes a token\), 1 empty document, 0 records skipped, in '
[ "$(ids a.tok.zst)" = "256 97 98 256 99" ] || fail "ids are $(ids a.tok.zst)"
expect 0 quiet --tokenizer "$model" --input lines lines.txt -o a.tok.zst
ids a.tok.zst | grep -Eq '^1 [0-9 ]+ 2 1 [0-9 ]+ 2$' || fail "ids are $(ids a.tok.zst)"
[ -s err ] && fail "-q wrote to standard error"
expect 0 quiet --tokenizer "$nfkc" --input lines lines.txt -o a.tok.zst
ids a.tok.zst | grep -Eq '^1024 ' || fail "no BOS is added above the vocabulary: $(ids a.tok.zst)"
expect 0 quiet --tokenizer "$nfkc" --bos-token '<pad>' --input lines lines.txt -o a.tok.zst
ids a.tok.zst | grep -Eq '^2 ' || fail "--bos-token is not used: $(ids a.tok.zst)"

# Round trips, to the byte, from files, pipes and FIFOs, plain and compressed.
mkfifo fifo
for tokenizer in bytes "$model"; do
  for text in odd.txt text.txt; do
    expect 0 quiet --tokenizer "$tokenizer" "$text" -o a.tok.zst
    zstd -tq a.tok.zst || fail "zstd -t refuses the shard"
    bam-tokenize --decode a.tok.zst | cmp -s - "$text" || fail "$text does not come back through $tokenizer"
    quiet --tokenizer "$tokenizer" <"$text" | bam-tokenize --decode >back.txt
    same back.txt "$text"
    zstd -cq "$text" | quiet --tokenizer "$tokenizer" | cmp -s - a.tok.zst || fail "$text.zst differs"
    gzip -c "$text" >a.gz
    quiet --tokenizer "$tokenizer" a.gz | cmp -s - a.tok.zst || fail "$text.gz differs"
    cat "$text" >fifo &
    quiet --tokenizer "$tokenizer" fifo | cmp -s - a.tok.zst || fail "$text through a FIFO differs"
    quiet --tokenizer "$tokenizer" "$text" -o fifo &
    bam-tokenize --decode fifo | cmp -s - "$text" || fail "a shard through a FIFO differs"
    wait
  done
done
quiet --tokenizer bytes text.txt --input lines | bam-tokenize --decode --input lines | cmp -s - text.txt || fail "lines do not come back"
printf '{"id":1,"body":"a\\nb"}\n{"body":"\\u00e9"}\n' | quiet --tokenizer bytes --field body |
  bam-tokenize --decode --input jsonl --field body >out
[ "$(cat out)" = "$(printf '{"body":"a\\nb"}\n{"body":"\303\251"}')" ] || fail "JSON lines come back as $(cat out)"

quiet text.txt | cmp -s - <(quiet --tokenizer bytes text.txt) || fail "the default is not the bytes tokenizer"

# The bytes do not depend on the number of threads.
for tokenizer in bytes "$model"; do
  for input in text lines; do
    quiet --tokenizer "$tokenizer" --input $input --threads 1 text.txt -o one.tok.zst
    quiet --tokenizer "$tokenizer" --input $input --threads 5 text.txt -o five.tok.zst
    same one.tok.zst five.tok.zst
  done
done

# Shards put one behind the other; folders of shards.
quiet --tokenizer bytes odd.txt -o a.tok.zst
quiet --tokenizer bytes lines.txt -o b.tok.zst
cat a.tok.zst b.tok.zst >ab.tok.zst
bam-tokenize --decode --input text ab.tok.zst | cmp -s - <(cat odd.txt lines.txt) || fail "cat a b does not decode to both"
expect 0 bam-tokenize --info a.tok.zst ab.tok.zst
[ "$(head -1 out | cut -f1-8)" = "$(printf 'file\tshards\tdocuments\ttokens\ttokens_per_document\tvocab_size\tdtype\tbos_id')" ] ||
  fail "columns are $(head -1 out)"
contains out $'^a.tok.zst\t1\t1\t[0-9]+\t[0-9.]+\t257\tu16\t256\t\tbytes\tbytes\t'
contains out $'^ab.tok.zst\t2\t2\t'
bam-tokenize --info --no-header - <ab.tok.zst | cut -f2- >piped
bam-tokenize --info --no-header ab.tok.zst | cut -f2- | cmp -s - piped || fail "--info differs between file and pipe"
expect 0 quiet --tokenizer bytes --input lines text.txt -o folder/ --shard-tokens 100k
cat folder/*.tok.zst | bam-tokenize --decode --input lines | cmp -s - text.txt || fail "a folder of shards loses text"
[ "$(find folder -name '*.tok.zst' | wc -l)" = 3 ] || fail "the folder holds $(ls folder)"
expect 1 quiet --tokenizer bytes --input lines text.txt -o folder/
one_line_error '^bam-tokenize: folder: holds shards of a run with other options \(see folder/bam-tokenize.jsonl\), expected'
mkdir other
cp folder/00000.tok.zst other/
cp folder/00000.tok.zst folder/00007.tok.zst
expect 1 quiet --tokenizer bytes --input lines text.txt -o folder/ --shard-tokens 100k
one_line_error '^bam-tokenize: folder: holds shards already \(00007.tok.zst\), expected a folder without any but those of this run$'
rm folder/00007.tok.zst
# A run that failed before its first shard leaves nothing that another would have to go on with.
expect 1 quiet --tokenizer bytes --input jsonl text.txt -o begun/
expect 0 quiet --tokenizer bytes --input lines text.txt -o begun/
printf '{broken\n{"text":"b"}\n' >broken
expect 0 bam-tokenize broken -o broken.tok.zst
contains err '^bam-tokenize: warning: broken: begins with { but with no object, read as text; --input jsonl reads JSON lines$'
expect 1 quiet --tokenizer bytes --input lines text.txt -o other/
one_line_error '^bam-tokenize: other: holds shards already'

# A run that was stopped goes on behind its last finished shard, and one that is finished has nothing to do.
run=(--tokenizer "$model" --input lines --shard-tokens 20k --dedup --hold-out 0.1 text.txt text.txt -o parts/)
quiet "${run[@]}" --hold-out-to held.tok.zst || fail "a folder with documents held out"
sha256sum parts/*.tok.zst held.tok.zst >sums
[ "$(wc -l <sums)" -gt 4 ] || fail "too few shards: $(cat sums)"
expect 0 bam-tokenize "${run[@]}" --hold-out-to held.tok.zst
contains err 'parts/: finished before'
expect 1 bam-tokenize "${run[@]}" --hold-out-to other.tok.zst
one_line_error '^bam-tokenize: other.tok.zst: cannot open: .*; parts/ is finished, expected there what it held out'
expect 1 bam-tokenize "${run[@]}" --hold-out-to a.tok.zst
one_line_error '^bam-tokenize: a.tok.zst: another shard; parts/ is finished, expected there what it held out'
head -2 parts/bam-tokenize.jsonl >journal
mv journal parts/bam-tokenize.jsonl
rm parts/0000[2-9].tok.zst held.tok.zst
echo damaged >parts/00001.tok.zst
expect 0 bam-tokenize "${run[@]}" --threads 3 --hold-out-to held.tok.zst
contains err 'parts/: goes on behind [0-9]+ documents'
contains err ', 3000 duplicates dropped, [0-9]+ documents held out, '
sha256sum -c sums >out 2>&1 || fail "a run that goes on gives other shards: $(grep -v OK out)"
head -2 parts/bam-tokenize.jsonl >journal
mv journal parts/bam-tokenize.jsonl
rm parts/0000[2-9].tok.zst
cp parts/00001.tok.zst parts/00000.tok.zst
expect 1 bam-tokenize "${run[@]}" --hold-out-to held.tok.zst
one_line_error '^bam-tokenize: parts/00000.tok.zst: not the shard that parts/bam-tokenize.jsonl names'

# Other input under the same name is noticed, with what was begun and with what is finished; nothing is touched.
head -1500 text.txt >same.txt
run=(--tokenizer bytes --input lines --shard-tokens 40k -o again/)
quiet "${run[@]}" same.txt || fail "a folder"
sha256sum again/* >sums
unchanged() {
  sha256sum -c sums >out 2>&1 || fail "$1: $(grep -v OK out)"
  [ "$(find again -type f | wc -l)" = "$(wc -l <sums)" ] || fail "$1: $(ls -A again)"
}
touch -d '2001-01-01' same.txt
expect 0 bam-tokenize "${run[@]}" same.txt
contains err 'again/: finished before, nothing is left to do'
sed 's/house number 7 /house number 8 /' same.txt >other.txt
mv other.txt same.txt
expect 1 bam-tokenize "${run[@]}" same.txt
one_line_error '^bam-tokenize: again/: made of other input: it differs in the first 1500 documents, expected the same input or a folder without shards$'
unchanged "a finished run with other input"
head -2 again/bam-tokenize.jsonl >journal
mv journal again/bam-tokenize.jsonl
rm again/0000[2-9].tok.zst
sha256sum again/* >sums
expect 1 bam-tokenize -q "${run[@]}" same.txt
one_line_error '^bam-tokenize: again/: made of other input: it differs in the first [0-9]+ documents'
unchanged "a run that was begun, with other input"
echo more >>same.txt
expect 1 bam-tokenize "${run[@]}" same.txt
one_line_error '^bam-tokenize: again: holds shards of a run with other inputs'
sed 's/"version":2/"version":1/' again/bam-tokenize.jsonl >journal
mv journal again/bam-tokenize.jsonl
expect 1 bam-tokenize "${run[@]}" same.txt
one_line_error '^bam-tokenize: again: holds shards of a run of another version of this program'
rm -r again
# From a pipe.
expect 0 quiet "${run[@]}" <text.txt
expect 0 bam-tokenize "${run[@]}" <text.txt
contains err 'again/: finished before'
sha256sum again/* >sums
expect 1 bam-tokenize "${run[@]}" < <(tac text.txt)
one_line_error '^bam-tokenize: again/: made of other input: it differs in the first 3000 documents'
expect 1 bam-tokenize "${run[@]}" < <(head -2000 text.txt)
one_line_error '^bam-tokenize: again/: made of other input: it ends before 3000 documents'
expect 1 bam-tokenize "${run[@]}" < <(cat text.txt lines.txt)
one_line_error '^bam-tokenize: again/: made of other input: it goes on behind its former end'
unchanged "another input from a pipe"
usage_pair=(--tokenizer bytes text.txt -o no.tok.zst)
expect 2 bam-tokenize "${usage_pair[@]}" --hold-out 0.1
one_line_error '^bam-tokenize: --hold-out, --hold-out-to: expected both or neither'

# What is held out is in no other shard, and is found where it is.
quiet --tokenizer bytes --input lines text.txt -o train.tok.zst --hold-out 0.2 --hold-out-to valid.tok.zst
expect 0 bam-tokenize --leaks valid.tok.zst train.tok.zst
[ "$(tail -1 out | cut -f3)" = 0 ] || fail "--leaks: $(cat out)"
[ $(($(bam-tokenize --info --no-header train.tok.zst | cut -f3) + $(bam-tokenize --info --no-header valid.tok.zst | cut -f3))) = 3000 ] ||
  fail "documents are lost or doubled"
quiet --tokenizer bytes --input lines text.txt -o all.tok.zst
expect 1 bam-tokenize --leaks valid.tok.zst train.tok.zst all.tok.zst
one_line_error '^bam-tokenize: valid.tok.zst: [0-9]+ documents of the other shards are in it, expected none'

# Where nothing is held out that is said, and the shard has no document; a shard of an earlier run does not stay.
cp valid.tok.zst none.tok.zst
expect 0 bam-tokenize --tokenizer bytes --input lines lines.txt -o some.tok.zst --hold-out 1e-9 --hold-out-to none.tok.zst
contains err ', 0 documents held out, in '
expect 0 bam-tokenize --validate --no-header none.tok.zst
contains out $'^none.tok.zst\tyes\t0\t0\t'
[ -z "$(bam-tokenize --decode none.tok.zst)" ] || fail "a shard without documents has text"
expect 0 bam-tokenize --leaks none.tok.zst some.tok.zst
[ -n "$(cat valid.tok.zst none.tok.zst | bam-tokenize --decode | head -c 1)" ] || fail "a shard without documents ends a stream"

# --info counts lengths and ids.
printf 'aab\naab\n\nb\n' | quiet --tokenizer bytes --input lines -o counts.tok.zst
expect 0 bam-tokenize --info --no-header counts.tok.zst
[ "$(cut -f17- out)" = "$(printf '2\t4\t2:1 4:2\t3\t97:4 98:3 256:3\t["<0x61>","<0x62>","<bos>"]')" ] || fail "--info: $(cut -f17- out)"
expect 0 bam-tokenize --tokenizer bytes --input lines --dedup lines.txt lines.txt -o counts.tok.zst
contains err '^bam-tokenize: 2 documents, .*, 2 empty documents, 0 records skipped, 2 duplicates dropped, in '

# Special tokens in a text.
printf 'a</s>' | quiet --tokenizer "$model" --allow-special -o a.tok.zst
ids a.tok.zst | grep -Eq '^1 [0-9 ]+ 2 2$' || fail "--allow-special: $(ids a.tok.zst)"
printf 'one\na<s>b\ntwo\n' >special.txt
expect 1 bam-tokenize --input lines --tokenizer "$model" --allow-special special.txt -o no.tok.zst
one_line_error '^bam-tokenize: special.txt:2: the text of <s> in a document, which would begin another one$'
expect 0 bam-tokenize --on-error skip --input lines --tokenizer "$model" --allow-special special.txt -o b.tok.zst
contains err ': 2 documents, .*, 1 record skipped'
expect 0 bam-tokenize --input lines --tokenizer "$model" special.txt -o b.tok.zst
contains err ': 3 documents, '
expect 0 bam-tokenize --info --no-header b.tok.zst
[ "$(cut -f3 out)" = 3 ] || fail "documents in the shard: $(cut -f3 out)"
printf 'a</s>' | quiet --tokenizer "$model" -o a.tok.zst
ids a.tok.zst | grep -Eq ' 2 2$' && fail "special tokens count without --allow-special"
quiet --tokenizer bytes odd.txt -o a.tok.zst

# --validate
expect 0 bam-tokenize --validate a.tok.zst ab.tok.zst
contains out $'^ab.tok.zst\tyes\t2\t'
for size in 1 100 $(($(stat -c %s a.tok.zst) - 1)); do
  head -c "$size" a.tok.zst >cut.tok.zst
  expect 1 bam-tokenize --validate a.tok.zst cut.tok.zst b.tok.zst
  one_line_error '^bam-tokenize: cut.tok.zst: '
  contains out $'^cut.tok.zst\tno\t'
  contains out $'^b.tok.zst\tyes\t'
  expect 1 bam-tokenize --decode cut.tok.zst -o decoded.txt
  one_line_error '^bam-tokenize: cut.tok.zst: '
  absent decoded.txt
done
expect 1 bam-tokenize --decode text.txt
one_line_error '^bam-tokenize: text.txt: '

# Bad records: where, how many, and what is left of the rest.
printf '{"text":"a"}\n{"text":"\377"}\n{"text":"\\ud800"}\n{}\n\n{"text":"b"}\n{"text":"c' >bad.jsonl
expect 1 bam-tokenize --tokenizer bytes bad.jsonl -o bad.tok.zst
one_line_error '^bam-tokenize: bad.jsonl:2: not valid UTF-8$'
absent bad.tok.zst
expect 1 sh -c 'bam-tokenize --tokenizer bytes <bad.jsonl >bad.out'
one_line_error '^bam-tokenize: standard input:2: not valid UTF-8$'
expect 0 bam-tokenize --tokenizer bytes --on-error skip bad.jsonl -o bad.tok.zst
contains err '^bam-tokenize: warning: skipped bad.jsonl:3: .*surrogate'
contains err '^bam-tokenize: warning: skipped bad.jsonl:4: no field "text" in an empty object$'
contains err '^bam-tokenize: warning: skipped bad.jsonl:7: not valid JSON \(a last line without its newline: cut short\?\)$'
contains err ': 2 documents, 4 tokens from 2 bytes .*, 0 empty documents, 4 records skipped, in '
[ "$(ids bad.tok.zst)" = "256 97 256 98" ] || fail "ids are $(ids bad.tok.zst)"
printf 'good\nbad \377\n' >latin.txt
expect 0 bam-tokenize --tokenizer "$model" --input lines latin.txt -o a.tok.zst
contains err 'warning: 1 document with bytes that are not UTF-8'

# Bytes without a token: the ids of the library, and a warning with the document.
printf '{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}' >few.json
printf 'ab\nazb\nbza\nba\nzzz\n' >few.txt
expect 0 bam-tokenize -q --tokenizer few.json --input lines few.txt -o few.tok.zst
[ "$(ids few.tok.zst)" = "3 2 3 2 3 1 0 3 1 0" ] || fail "ids are $(ids few.tok.zst)"
contains err '^bam-tokenize: warning: few.txt:2: no token for the byte 122, which is lost'
contains err '^bam-tokenize: warning: 3 documents with bytes that this tokenizer has no token for'
[ "$(wc -l <err)" = 2 ] || fail "further lines: $(cat err)"

# Bad input files.
: >empty.txt
: >empty.txt.zst
: >empty.jsonl
zstd -cq empty.txt >none.txt.zst
mkdir directory
head -c 100 a.gz >cut.gz
fails() {
  local expected=$1
  shift
  expect 1 bam-tokenize "$@" -o no.tok.zst
  one_line_error "^bam-tokenize: $expected"
  absent no.tok.zst
}
fails 'empty.txt: empty, expected text$' --tokenizer bytes empty.txt
fails 'empty.txt: empty, expected text there or in the other files$' --tokenizer bytes empty.txt empty.txt
fails 'empty.txt.zst: does not begin as a file whose name ends with .zst' --tokenizer bytes empty.txt.zst text.txt
fails 'directory: is a directory' --tokenizer bytes directory
fails 'all.tok.zst: a token shard, expected text' --tokenizer bytes all.tok.zst
fails 'missing.txt: ' --tokenizer bytes missing.txt
fails 'missing.txt: ' --tokenizer bytes text.txt missing.txt
fails 'cut.gz: ' --tokenizer bytes cut.gz
fails 'missing.model: ' --tokenizer missing.model text.txt
fails 'text.txt: not a SentencePiece model' --tokenizer text.txt text.txt
printf '\n\n' >blank.jsonl
fails 'no tokens to write: 0 empty documents, 0 records skipped' --tokenizer bytes blank.jsonl
printf '{"text":""}\n{}\n' >nothing.jsonl
expect 1 bam-tokenize --tokenizer bytes --on-error skip nothing.jsonl -o no.tok.zst
contains err ': no tokens to write: 1 empty document, 1 record skipped$'
absent no.tok.zst

# A file without a byte among others is an empty document, or no line.
expect 0 bam-tokenize --tokenizer bytes empty.txt odd.txt none.txt.zst empty.jsonl -o some.tok.zst
contains err '^bam-tokenize: 1 document, .*, 2 empty documents, 0 records skipped, in '
expect 0 bam-tokenize --tokenizer bytes --input lines empty.txt lines.txt -o some.tok.zst
contains err '^bam-tokenize: 2 documents, .*, 1 empty document, '
expect 1 bam-tokenize --learn 380 empty.txt -o no.model
one_line_error '^bam-tokenize: no text to learn from'

# Memory does not grow with the input, and what is too long is told. A line of 60 MB fits, in any number of threads.
long_line() { # TIMES 13 bytes
  printf '{"number":1e400,"text":"'
  yes 'long \n words' | tr -d '\n' | head -c $((13 * $1))
  printf '"}\n'
}
long_line 4600000 >long.jsonl
if ! has_sanitizers; then
  for options in "" "--hold-out 0.5 --hold-out-to held-long.tok.zst --dedup"; do
    # shellcheck disable=SC2086
    (ulimit -v 400000 && { cat long.jsonl && echo '{"text":"a"}'; } | quiet --threads 1 --input jsonl $options -o long.tok.zst) ||
      fail "a line of 60 MB takes more than 400 MB"
  done
fi
quiet --threads 3 long.jsonl -o long.tok.zst
bam-tokenize --decode --input text long.tok.zst | cmp -s - <(yes 'long @ words' | tr -d '\n' | tr @ '\n' | head -c $((4600000 * 12))) ||
  fail "a long line does not come back"
long_line 5400000 >long.jsonl
expect 1 bam-tokenize --input jsonl -o no.tok.zst <long.jsonl
one_line_error '^bam-tokenize: standard input:1: a line of more than 67108864 bytes$'
absent no.tok.zst
echo '{"text":"a"}' >>long.jsonl
expect 0 bam-tokenize --on-error skip long.jsonl -o some.tok.zst
contains err 'skipped long.jsonl:1: a line of more than'
contains err ': 1 document, .*, 1 record skipped'
head -c 10000000 /dev/zero | tr '\0' a >uncut.txt
expect 0 bam-tokenize -q --tokenizer few.json uncut.txt -o uncut.tok.zst
bam-tokenize --decode --input text uncut.tok.zst | cmp -s - uncut.txt || fail "ten million letters without a blank do not come back"
rm uncut.tok.zst
head -c 70000000 /dev/zero | tr '\0' a >uncut.txt
expect 1 bam-tokenize -q --tokenizer few.json uncut.txt -o no.tok.zst
one_line_error '^bam-tokenize: uncut.txt: a text of more than 67108864 bytes without a place where the tokenizer lets it be cut$'
{ yes 'ab ab' | head -c 300000; cat uncut.txt; } >partly.txt
expect 1 bam-tokenize -q --on-error skip --tokenizer few.json partly.txt -o no.tok.zst
contains err '^bam-tokenize: partly.txt: a text of more than 67108864 bytes without'
absent no.tok.zst
expect 0 bam-tokenize -q --on-error skip --tokenizer few.json uncut.txt few.txt -o some.tok.zst
contains err 'skipped uncut.txt: a text of more than'
rm -f long.jsonl long.tok.zst held-long.tok.zst uncut.txt partly.txt

# Bad output.
expect 1 quiet --tokenizer bytes text.txt -o /dev/full
one_line_error '/dev/full: cannot write: No space left on device'
expect 1 sh -c "bam-tokenize -q --tokenizer bytes text.txt >/dev/full"
one_line_error 'standard output: cannot write: No space left on device'
expect 1 quiet --tokenizer bytes text.txt -o no/such/file
one_line_error 'no/such'
quiet --tokenizer bytes text.txt 2>err | head -c 1 >out
status=${PIPESTATUS[0]}
{ [ "$status" = 0 ] || [ "$status" = 141 ]; } || fail "status $status when the reader goes away"
[ -s err ] && fail "standard error when the reader goes away: $(head -c 200 err)"
echo before >kept.tok.zst
expect 1 bam-tokenize --tokenizer bytes bad.jsonl -o kept.tok.zst
[ "$(cat kept.tok.zst)" = before ] || fail "a failed run replaced the file"

# What is compressed in another way, or damaged where that shows, is no text.
for name in other.txt.zst other.txt.gz; do
  printf '\100\200 not it' >$name
  expect 1 bam-tokenize -q $name -o no.tok.zst
  one_line_error "^bam-tokenize: $name: does not begin as a file whose name ends with \.(zst|gz)$"
done
printf '\3757zXZ\000\000\004' >packed
expect 1 bam-tokenize -q packed -o no.tok.zst
one_line_error '^bam-tokenize: packed: compressed by xz, expected text, zstd or gzip$'
printf 'BZh91AY&SY\001' >packed
expect 1 bam-tokenize -q -o no.tok.zst <packed
one_line_error '^bam-tokenize: standard input: compressed by bzip2, expected text, zstd or gzip$'
[ -e no.tok.zst ] && fail "a refused input left a shard"

# Bad command lines.
usage() {
  local expected=$1
  shift
  expect 2 bam-tokenize "$@"
  one_line_error "^bam-tokenize: $expected"
  [ -s out ] && fail "$*: wrote to standard output"
}
usage '--tokeniser: unknown option, did you mean --tokenizer' --tokeniser bytes text.txt
usage "--input: 'xml' is not" --tokenizer bytes --input xml text.txt
usage "--level: '99' is out of range" --tokenizer bytes --level 99 text.txt
usage "--shard-tokens: '-1' is out of range" --tokenizer bytes --shard-tokens -1 -o folder/ text.txt
usage '--bos-token: <x> is not a special token of .*\(<s>, </s>\)' --tokenizer "$model" --bos-token '<x>' text.txt
usage '--bos-token: </s> begins documents and ends them too, expected another special token for --bos-token \(<s>, </s>\)' --tokenizer "$model" --bos-token '</s>' text.txt
usage '--bos-token: the bytes tokenizer has no special tokens' --tokenizer bytes --bos-token '<s>' text.txt
usage '--hold-out-to: standard output is also written \(--output\)' --hold-out 0.5 --hold-out-to - text.txt
usage '--hold-out-to: train/held.tok.zst is among the shards in train/, expected another folder' --hold-out 0.5 --hold-out-to train/held.tok.zst text.txt -o train/
usage '--hold-out-to: held/ is a folder, expected a file' --hold-out 0.5 --hold-out-to held/ text.txt -o no.tok.zst
usage '--decode, --info, --validate, --leaks, --learn: expected one' --decode --info a.tok.zst
if has_terminal; then
  script -qec "bam-tokenize --tokenizer bytes text.txt" /dev/null >out </dev/null
  contains out 'binary data is not for a terminal'
fi

expect 1 quiet --hold-out 1 --hold-out-to every.tok.zst text.txt -o rest.tok.zst
one_line_error 'no tokens to write: .*1 document held out'
absent every.tok.zst
absent rest.tok.zst
for _ in 1 2; do # a folder is not finished so
  expect 1 quiet --hold-out 1 --hold-out-to every.tok.zst text.txt -o rest/
  one_line_error 'no tokens to write: .*1 document held out'
  absent every.tok.zst
done

# --learn
expect 0 bam-tokenize --learn 380 text.txt -o learned.model
[ -s err ] && fail "--learn chatters: $(head -c 200 err)"
expect 0 bam-tokenize --threads 5 --learn 380 --input lines - -o again.model <text.txt
same learned.model again.model
quiet --tokenizer learned.model odd.txt | bam-tokenize --decode | cmp -s - odd.txt || fail "a learned model loses bytes"
bam-tokenize --learn 380 -v text.txt 2>&1 >/dev/null | grep -q trainer || fail "-v does not show what the trainer says"
expect 1 bam-tokenize --learn 100 text.txt -o no.model
one_line_error 'cannot learn 100 pieces: .*, expected at least'
absent no.model

no_leftovers
finish
