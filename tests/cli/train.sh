#!/bin/bash
# bam-train: what it writes, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

absent() { [ ! -e "$1" ] || fail "$1 exists"; }
no_leftovers() { [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left: $(find . -name '*.tmp')"; }
contains() { grep -Eq -- "$2" "$1" || fail "$1 does not match '$2': $(head -c 400 "$1")"; }

for i in $(seq 200); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --input lines text.txt -o a.tok.zst || fail "no shard"
bam-tokenize -q --input lines --tokenizer "$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-bytefallback.model" text.txt -o other.tok.zst
small=(--threads 1 --layers 1 --dim 32 --heads 4 --context 32 --batch-tokens 128 --steps 3)

# A model, its log, and what is in the file.
expect 0 bam-train -q "${small[@]}" a.tok.zst --val a.tok.zst --val-every 2 -o model.h5 --log log.jsonl
[ ! -s err ] || fail "-q writes to standard error: $(cat err)"
[ ! -s out ] || fail "something is on standard output"
contains log.jsonl '^\{"step":1,"loss":[0-9.]+,"lr":0.006,"grad_norm":[0-9.]+,"tokens":128,"tokens_per_s":[0-9.e+]+,"seconds":[0-9.e-]+,"seed":"[0-9]+","device":"cpu","version":"[^"]+"\}$'
contains log.jsonl '^\{"step":2,.*,"val_loss":[0-9.]+,"seconds":'
contains log.jsonl '^\{"step":3,.*,"val_loss":[0-9.]+,"seconds":'
if command -v h5dump >/dev/null; then
  h5dump -H model.h5 >header || fail "h5dump refuses the checkpoint"
  for name in params tokenizer optimizer state history provenance token_embedding prior_shape command_line; do
    grep -q "\"$name\"" header || fail "no $name in the checkpoint"
  done
  h5dump -a /state/options/lr model.h5 | grep -q '"preset"' || fail "/state/options has no lr"
fi
for pe in nope sinusoidal rope alibi bam; do
  for ssmax in off content full; do
    expect 0 bam-train -q "${small[@]}" --pe $pe --ssmax $ssmax --dtype bf16 a.tok.zst -o pe.h5
  done
done
expect 0 bam-train -q "${small[@]}" --prior-init authors --shape-init linear:0:1 --scale-init slopes --loc-init 0.1,0,0,0 \
  --train-prior loc --prior-lr 0 --prior-scope layer --optimizer adamw --schedule wsd --clip off --border-targets no a.tok.zst -o pe.h5
printf 'layer\thead\tshape\tscale\tloc\n0\t0\t1\t0\t0\n0\t1\t1\t0\t0\n0\t2\t1\t0\t0\n0\t3\t-0.5\t0\t0\n' >priors.tsv
expect 0 bam-train -q "${small[@]}" --prior-init priors.tsv a.tok.zst -o pe.h5
expect 1 bam-train -q --prior-init priors.tsv a.tok.zst -o pe.h5
one_line_error "^bam-train: priors.tsv: no prior for layer 0 head 4, expected a row for each"
expect 0 bam-train -q "${small[@]}" --device ref a.tok.zst -o pe.h5

# Weights alone: another context, the sizes of the model.
expect 0 bam-train -q --threads 1 --init-from model.h5 --context 48 --batch-tokens 96 --steps 2 a.tok.zst -o tuned.h5
expect 1 bam-train -q --init-from model.h5 --steps 2 other.tok.zst -o no.h5
one_line_error '^bam-train: other.tok.zst: does not go with the model model.h5: vocab_size'
absent no.h5

# --dry-run
expect 0 bam-train -q --dry-run --preset l12 --threads 1
[ "$(head -1 out)" = "$(printf 'parameters\tcontext\tbatch_tokens\tmicro_batch\tsteps\ttokens\tdata_tokens\tepochs\tmemory_bytes\tflops_per_token\tflops\tmatrix_flops_per_s\ttokens_per_s\twall_s')" ] ||
  fail "columns are $(head -1 out)"
contains out $'^1[0-9]{8}\t512\t589824\t4\t16954\t9999876096\t\t\t'
expect 0 bam-train -q --dry-run --no-times --format jsonl --threads 1 --context 32 --epochs 2 a.tok.zst
contains out '"epochs":2'
expect 0 bam-train -q --dry-run --threads 1 a.tok.zst -o model.h5
contains out '^[0-9]+'
head -c 14 model.h5 | grep -q '^bam-checkpoint' || fail "--dry-run writes to the name of the checkpoint"

# Bad input: one line, the right status, nothing under the final name.
refused() { # STATUS REGEX ARGUMENTS...
  local status=$1 regex=$2
  shift 2
  expect "$status" bam-train -q "$@" -o no.h5
  one_line_error "^bam-train: $regex"
  absent no.h5
}
: >empty.tok.zst
head -c 1000 a.tok.zst >cut.tok.zst
head -c $(($(stat -c %s model.h5) / 2)) model.h5 >cut.h5
refused 1 'empty.tok.zst: ' empty.tok.zst
refused 1 'missing.tok.zst: ' missing.tok.zst
refused 1 '\.: ' .
refused 1 'text.txt: ' text.txt
refused 1 'cut.tok.zst: .*truncated' cut.tok.zst
refused 1 'cut.tok.zst: .*truncated' --order stream cut.tok.zst
refused 1 'a.tok.zst: [0-9]+ tokens do not fill a window, expected at least --context \+ 1 = 100001' --context 100000 a.tok.zst
refused 1 'a.tok.zst: [0-9]+ tokens do not fill a window' --order stream --context 100000 a.tok.zst
refused 1 'other.tok.zst: does not go with a.tok.zst: ' a.tok.zst other.tok.zst
refused 1 'other.tok.zst: does not go with a.tok.zst: ' --val other.tok.zst a.tok.zst
refused 1 'missing.tok.zst: ' --val missing.tok.zst a.tok.zst
refused 1 'cut.h5: ' --init-from cut.h5 a.tok.zst
refused 1 'cut.h5: ' --resume cut.h5 a.tok.zst
refused 1 'missing.tsv: ' --prior-init missing.tsv a.tok.zst
refused 1 'missing/log: ' --log missing/log a.tok.zst
refused 2 '--dim, --heads: 30 channels do not divide into 8 heads' --dim 30 a.tok.zst
refused 2 '--dim, --heads: 128 channels do not divide into 3 heads' --heads 3 a.tok.zst
refused 2 '--heads, --kv-heads: 8 heads do not divide into 3 groups' --kv-heads 3 a.tok.zst
refused 2 '--pe, --dim, --heads: rope .* 3 in each, expected an even number' --pe rope --dim 24 a.tok.zst
expect 2 bam-train -q --dry-run --heads 3
one_line_error '^bam-train: --dim, --heads: '
refused 2 "--lr: 'abc' is not a real number" --lr abc a.tok.zst
refused 2 "--lr: '0' is out of range" --lr 0 a.tok.zst
refused 2 "--lr: 'nan' is not a real number" --lr nan a.tok.zst
refused 2 "--context: '-1' is out of range" --context -1 a.tok.zst
refused 2 '--steps: [0-9]+ steps of 1024 tokens are out of range' --steps 9e18 a.tok.zst
refused 1 'training needs .* of memory' --order stream --batch-tokens 1e18 --steps 1 a.tok.zst
refused 2 "--layers: '1e7' is out of range" --layers 1e7 a.tok.zst
refused 2 "--context: '1e99' is out of range" --context 1e99 a.tok.zst
refused 2 "--preset: 'l7' is not a choice" --preset l7 a.tok.zst
refused 2 '--contxt: unknown option, did you mean --context' --contxt 3 a.tok.zst
refused 2 '--steps, --tokens, --epochs: expected one of them' --steps 3 --epochs 2 a.tok.zst
refused 2 '--batch-tokens: 100 do not hold a window' --context 128 --batch-tokens 100 a.tok.zst
refused 2 "--shape-init: '1,2' names 2 heads, expected 8" --shape-init 1,2 a.tok.zst
refused 2 '--epochs: a stream is read once' --epochs 2 --order stream a.tok.zst
expect 2 bash -c 'cat a.tok.zst | bam-train -q --order global - -o no.h5'
one_line_error '^bam-train: --order: standard input is read once'
# shellcheck disable=SC2016
expect 2 bash -c 'bam-train -q --save-every 1 a.tok.zst -o - | cat; exit "${PIPESTATUS[0]}"'
one_line_error '^bam-train: --save-every: needs a file'
refused 2 "--save-every: '0' is out of range" --save-every 0 a.tok.zst
refused 2 "--save-every: '1.5' is" --save-every 1.5 a.tok.zst
refused 2 "--save-every: '-1' is out of range" --save-every -1m a.tok.zst
expect 1 bam-train -q --dim 16384 --heads 128 --layers 400 a.tok.zst -o no.h5
one_line_error "^bam-train: training needs .* of memory"
expect 1 bam-train -q "${small[@]:0:10}" --steps 50 --lr 1e30 --warmup 0 --clip off a.tok.zst -o no.h5
one_line_error "^bam-train: training: the .* is not finite at step"
absent no.h5
expect 1 bam-train -q "${small[@]}" a.tok.zst -o missing/no.h5
one_line_error '^bam-train: missing'
expect 0 bam-train -q "${small[@]:0:10}" --steps 3 --warmup 4 a.tok.zst -o warm.h5
one_line_error '^bam-train: warning: --warmup: 4 steps, and the training ends after 3, before the peak'
expect 0 bam-train -q "${small[@]:0:10}" --steps 3 --warmup 3 a.tok.zst -o warm.h5
[ ! -s err ] || fail "a warm-up of all steps: $(cat err)"
# A log on standard output, unless that is taken.
expect 0 bam-train -q "${small[@]}" a.tok.zst -o model.h5 --log -
[ "$(grep -c '^{"step":' out)" = 3 ] || fail "--log - writes $(head -c 300 out)"
[ -e ./- ] && fail "--log - makes a file of that name"
expect 2 bam-train -q "${small[@]}" a.tok.zst --log -
one_line_error '^bam-train: --log: standard output is also written \(--output\)|--output: standard output is also written \(--log\)'

# A log that cannot be written ends the training, with what it has learnt.
expect 0 bam-train -q "${small[@]}" --no-times a.tok.zst -o whole.h5
expect 1 bam-train -q "${small[@]}" --no-times a.tok.zst -o logged.h5 --log /dev/full
one_line_error '^bam-train: /dev/full: cannot be written: No space'
cmp -s whole.h5 logged.h5 && fail "a training goes on without its log"
expect 0 bam-train -q "${small[@]}" --no-times a.tok.zst -o logged.h5 --log rest.jsonl
same whole.h5 logged.h5
[ "$(grep -c . rest.jsonl)" = 2 ] || fail "after one step with a log that failed, $(cat rest.jsonl)"
exec 7>>busy.jsonl
flock 7
expect 1 bam-train -q "${small[@]}" a.tok.zst -o no.h5 --log busy.jsonl
one_line_error '^bam-train: busy.jsonl: another process is writing to it, expected a log of its own'
absent no.h5
exec 7>&-
# A link that means a file not yet there is written through, and stays.
mkdir elsewhere
ln -s elsewhere/next next
ln -s real.h5 elsewhere/next
expect 0 bam-train -q "${small[@]}" --no-times a.tok.zst -o next
[ "$(readlink next elsewhere/next | xargs)" = "elsewhere/next real.h5" ] || fail "an output replaced a link"
same whole.h5 elsewhere/real.h5
ln -s missing/real.h5 nowhere
expect 1 bam-train -q "${small[@]}" a.tok.zst -o nowhere
one_line_error '^bam-train: nowhere: cannot write a file in folder missing'
ln -s loop loop
expect 1 bam-train -q "${small[@]}" a.tok.zst -o loop
one_line_error '^bam-train: loop: .*symbolic links'
expect 1 bam-train -q "${small[@]}" a.tok.zst -o /dev/full
one_line_error '^bam-train: /dev/full: .*No space'

# A full disk: the old checkpoint stays.
mkdir full
if mount -t tmpfs -o size=160k tmpfs full 2>/dev/null; then
  head -c 100000 model.h5 >full/model.h5
  cp full/model.h5 before.h5
  expect 1 bam-train -q "${small[@]}" --resume no a.tok.zst -o full/model.h5
  one_line_error '^bam-train: full/model.h5: .*No space'
  same full/model.h5 before.h5
  [ "$(find full -type f | wc -l)" = 1 ] || fail "something is left on the full disk: $(ls -a full)"
  umount full
fi

# Readers that go away.
expect 0 bash -c 'bam-train -q --threads 1 --layers 1 --dim 32 --heads 4 --context 32 --batch-tokens 128 --steps 30 a.tok.zst -o piped.h5 --log >(head -1 >/dev/null)'
bam-train -q "${small[@]}" a.tok.zst | head -c 10 >/dev/null
[ "${PIPESTATUS[0]}" = 141 ] || fail "a vanished reader gives another status than 141"
no_leftovers
finish
