#!/bin/bash
# Options that would do nothing are refused before anything is read: one line that names the option and why.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

mkdir folder
# idle TOOL OPTION WHY ARGUMENTS... - none of the files is there.
idle() {
  local tool=$1 expected="--$2: has no effect $3"
  shift 3
  expect 2 "$tool" -q "$@"
  one_line_error "^$tool: $expected"
  [ ! -s out ] || fail "$tool $*: wrote to standard output"
}

idle bam-tokenize tokenizer 'with --decode' --decode --tokenizer bytes a.tok.zst
idle bam-tokenize on-error 'with --info' --info --on-error skip a.tok.zst
idle bam-tokenize field 'with --validate' --validate --field text a.tok.zst
idle bam-tokenize level 'with --learn' --learn 500 --level 3 a.txt
idle bam-tokenize dedup 'with --leaks' --leaks a.tok.zst --dedup b.tok.zst
idle bam-tokenize format 'without --info, --validate or --leaks' --format jsonl a.txt
idle bam-tokenize shard-tokens 'without a folder, expected -o DIR/' --shard-tokens 5 a.txt -o a.tok.zst
idle bam-tokenize field 'with --input lines' --input lines --field text a.txt

idle bam-train val-every 'without --val' --val-every 5 a.tok.zst
idle bam-train prior-init 'with --pe rope, expected --pe bam' --pe rope --prior-init spread a.tok.zst
idle bam-train train-prior 'with --pe alibi, expected --pe bam' --pe alibi --train-prior loc a.tok.zst
idle bam-train prior-scope 'with --pe nope, expected --pe bam' --pe nope --prior-scope layer a.tok.zst
idle bam-train prior-lr 'with --train-prior none' --train-prior none --prior-lr 1 a.tok.zst
idle bam-train min-lr-fraction 'with --schedule constant' --schedule constant --min-lr-fraction 0.5 a.tok.zst
idle bam-train format 'without --dry-run' --format jsonl a.tok.zst
idle bam-train pe 'with --init-from, whose model has its own' --init-from a.h5 --pe rope a.tok.zst

idle bam-ppl bin 'with --stride, which scores no bins' --stride 8 --bin 8 a.h5 a.txt
idle bam-ppl stride 'with --rolling' --rolling --stride 4 a.h5 a.txt
idle bam-ppl max-tokens 'with --rolling' --rolling --max-tokens 4 a.h5 a.txt
idle bam-ppl context 'with --merge' --merge --context 4 a.tsv
idle bam-ppl dtype 'with --merge' --merge --dtype bf16 a.tsv
idle bam-ppl input 'with --merge' --merge --input text a.tsv
idle bam-ppl field 'with --input text' --input text --field a a.h5 a.txt

idle bam-passkey samples 'with --corpus' --corpus 5 --samples 3
idle bam-passkey merge 'with --corpus' --corpus 5 --merge
idle bam-passkey window 'with --corpus' --corpus 5 --window 3
idle bam-passkey exact-share 'without --corpus' --exact-share 1 a.h5
idle bam-passkey lengths 'with --merge' --merge --lengths 3k a.tsv
idle bam-passkey dump 'with --merge' --merge --dump a.tsv
idle bam-passkey share-prefix 'with --merge' --merge --share-prefix no a.tsv
idle bam-passkey patience 'with --dump' --dump --patience 3 a.h5
idle bam-passkey format 'with --dump' --dump --format tsv a.h5

idle bam-ruler tasks 'with --merge' --merge --tasks vt a.tsv
idle bam-ruler append 'with --merge' --merge --append b.tsv a.tsv
idle bam-ruler bos 'with --dump' --dump --bos no a.h5
idle bam-ruler lengths 'with --data' --tasks vt --data a.jsonl --lengths 2k a.h5
idle bam-ruler haystack 'without a niah task among --tasks' --tasks vt --haystack noise a.h5
idle bam-ruler squad 'without qa_1 among --tasks' --squad a.json a.h5
idle bam-ruler hotpot 'without qa_2 among --tasks' --tasks qa_1 --hotpot a.json a.h5

idle bam-mcq limit 'with --merge' --merge --limit 3 a.tsv
idle bam-mcq shots-from 'without --shots' --task arc_easy --shots-from b.jsonl a.h5 a.jsonl

idle bam-attn sample 'without --passkey' --sample 2 a.h5 a.txt
idle bam-attn depths 'without --passkey' --depths random a.h5 a.txt
idle bam-attn max-tokens 'with --passkey' --passkey 900 --max-tokens 4 a.h5
idle bam-attn top 'without --by top' --top 3 a.h5 a.txt
idle bam-attn bin 'with --by top' --by top --bin 3 a.h5 a.txt

idle bam-generate top-k 'at --temperature 0' --top-k 5 --prompt a a.h5
idle bam-generate top-p 'at --temperature 0' --temperature 0 --top-p 0.5 --prompt a a.h5

idle bam-convert dtype 'with --to bam, expected hf' --dtype bf16 folder
idle bam-convert bos-token 'with --to hf, expected bam' --bos-token x a.h5

idle bam-prior-fit mu 'with show, expected fit' show --mu free a.h5
idle bam-prior-fit steps 'with init, expected tune' init --steps 3 a.h5 -o b.h5
idle bam-prior-fit context 'with show, expected fit or tune' show --context 3 a.h5
idle bam-prior-fit window 'with tune, expected fit' tune --window 3 a.h5 a.tok.zst -o b.h5
idle bam-prior-fit points 'without --curves' show --points 3 a.h5
idle bam-prior-fit lengths 'with --by-class' show --by-class --lengths 3 a.h5
idle bam-prior-fit passkey-samples 'without --passkey' tune --passkey-samples 3 a.h5 a.tok.zst -o b.h5
idle bam-prior-fit queries 'with --from' fit --from a.tsv --queries 3
idle bam-prior-fit format 'with tune where the checkpoint goes to standard output' tune a.h5 a.tok.zst --format jsonl
idle bam-prior-fit no-header 'with init' init --no-header a.h5 -o b.h5

# A file of options and the environment are for many runs: what one of them does not need may be there.
echo 'top-k = 5' >options
expect 1 bam-generate -q --config options --prompt a a.h5
one_line_error '^bam-generate: a.h5: '
expect 1 env BAM_TOP_K=5 bam-generate -q --prompt a a.h5
one_line_error '^bam-generate: a.h5: '
expect 1 bam-generate -q --config options --temperature 1 --top-k 3 --prompt a a.h5
one_line_error '^bam-generate: a.h5: '
finish
