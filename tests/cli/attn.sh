#!/bin/bash
# bam-attn: tables by key, distance and top, of texts and passkey prompts, and what it says about bad input.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

attn() { bam-attn -q --no-times --threads 1 "$@"; }
# column NAME FILE - its cells, a line each.
column() { awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i; next } { print $k }' "$2"; }
total() { column "$1" "$2" | awk '{ s += $1 } END { printf "%.4f\n", s }'; }

for i in $(seq 200); do echo "Line $i of $((i * 37 % 101)) tells of house $((i * i % 997))."; done >text.txt
bam-tokenize -q --tokenizer bytes text.txt -o text.tok.zst || fail "no shard"
train() {
  bam-train -q --threads 1 --layers 2 --dim 32 --heads 4 --context 64 --batch-tokens 256 --steps 3 --seed 5 --no-times \
    text.tok.zst "$@" || fail "training failed: $*"
}
train --pe bam --ssmax full --prior-init spread -o bam.h5
train --pe rope -o rope.h5

# by key: each query's attention sums to 1, in rows that hold each visible key once
expect 0 attn bam.h5 text.tok.zst --max-tokens 100
[ "$(head -1 out | tr '\t' ' ')" = "layer head query from to attention content prior token needle tokens bos seed dtype reading device model version" ] ||
  fail "columns are $(head -1 out)"
[ "$(wc -l <out)" = 801 ] || fail "expected 100 keys of 8 heads, got $(wc -l <out)"
for part in attention content prior; do [ "$(total $part out)" = 8.0000 ] || fail "$part sums to $(total $part out)"; done
[ "$(column query out | sort -u)" = 99 ] || fail "the query is not the last token"
[ "$(column token out | sed -n '2,5p' | tr -d '\n')" = "Line" ] || fail "tokens: $(column token out | head -5)"
[ -z "$(column needle out | tr -d '\n')" ] || fail "a text has a needle"
expect 0 attn bam.h5 text.tok.zst --max-tokens 100 --layer -1 --head 1,3 --query 9,-1 --bin 32
[ "$(cut -f1-5 out | sed 1d | tr '\t\n' '. ')" = "1.1.9.0.9 1.1.99.0.31 1.1.99.32.63 1.1.99.64.95 1.1.99.96.99 1.3.9.0.9 1.3.99.0.31 1.3.99.32.63 1.3.99.64.95 1.3.99.96.99 " ] ||
  fail "rows are $(cut -f1-5 out)"
expect 0 attn bam.h5 text.txt --max-tokens 100 --chunk 7 -o a.tsv
expect 0 attn bam.h5 text.txt --max-tokens 100 --chunk 7 -o b.tsv
same a.tsv b.tsv
attn bam.h5 --max-tokens 100 --chunk 7 <text.txt | cmp -s - a.tsv || fail "standard input differs from the file"
attn - text.txt --max-tokens 100 --chunk 7 <bam.h5 | cmp -s - a.tsv || fail "a model from standard input differs"

# by distance
expect 0 attn bam.h5 text.txt --max-tokens 128 --by distance --query 0..-1/4
for part in attention content prior uniform; do [ "$(total $part out)" = 8.0000 ] || fail "by distance $part sums to $(total $part out)"; done
[ "$(column queries out | sort -u)" = 32 ] || fail "queries: $(column queries out | sort -u)"
expect 0 attn bam.h5 text.txt --max-tokens 128 --by distance --query all --bin 64 --format jsonl
grep -q '^{"layer":0,"head":0,"from":64,"to":127,"attention":' out || fail "jsonl: $(head -2 out)"

# top, with tokens as text; the window holds
expect 0 attn bam.h5 text.txt --max-tokens 100 --by top --top 3 --query 50,99
[ "$(column rank out | sort -u | tr '\n' ' ')" = "1 2 3 " ] || fail "ranks: $(column rank out | sort -u)"
[ "$(wc -l <out)" = 49 ] || fail "expected 3 keys of 2 queries of 8 heads"
expect 0 attn rope.h5 text.txt --max-tokens 100 --by top --top 100 --window 16
[ "$(column distance out | sort -n | tail -1)" = 15 ] || fail "a query sees further than the window: $(column distance out | sort -n | tail -1)"
grep -q 'eps=1e-06,window=16' out || fail "the reading is not recorded: $(sed -n 2p out)"
expect 0 attn rope.h5 text.txt --max-tokens 100 --by distance --window 16
[ "$(awk -F'\t' 'NR > 1 && $3 >= 16 && $5 > 0' out | wc -l)" = 0 ] || fail "attention beyond the window"

# a passkey prompt is that of bam-passkey, and one query of a long one is cheap
bam-passkey -q --lengths 900 --samples 5 --seed 3 --dump bam.h5 >prompts || fail "no prompts"
key=$(sed -n '3s/.*"key":"\([0-9]*\)".*/\1/p' prompts)
expect 0 bam-attn --no-times --threads 1 --passkey 900 --samples 5 --sample 2 --seed 3 --by key --bin 1 --layer 0 --head 0 bam.h5
grep -q "the key $key stands in tokens" err || fail "the key is not $key: $(cat err)"
awk -F'\t' 'NR > 1 && $10 == 1 { printf "%s", $9 }' out | grep -q "$key" || fail "the needle does not hold the key"
# Rows of one query, not of all: 8192 keys squared would be half a gigabyte in one head.
expect 0 attn --passkey 8k --max-memory 64M bam.h5
[ "$(total attention out)" = 8.0000 ] || fail "a long prompt's attention sums to $(total attention out)"
[ "$(wc -l <out)" -le $((8 * 512 + 1)) ] || fail "more than 512 rows a query: $(wc -l <out)"
[ "$(column needle out | awk '{ s += $1 } END { print (s > 100) }')" = 1 ] || fail "no needle in a passkey prompt"

# what is wrong is one line
expect 2 attn bam.h5 text.txt --layer 2
one_line_error '^bam-attn: --layer: 2 is not there, expected -2 to 1, of 2 layers$'
expect 2 attn bam.h5 text.txt --max-tokens 100 --query 100
one_line_error '--query: 100 is not there, expected -100 to 99, of 100 tokens$'
expect 2 attn bam.h5 text.txt --head 1..x
one_line_error "--head: '1..x' is no place"
expect 2 attn --passkey 900 bam.h5 text.txt
one_line_error '--passkey: is the text, expected no FILE'
expect 2 attn --passkey 900 --sample 20 bam.h5
one_line_error '--sample: 20 is not there, expected 0 to 19'
expect 2 attn --passkey 30 bam.h5
one_line_error '--passkey: 30 tokens are too few'
expect 1 attn --passkey 900 --max-memory 10k bam.h5
one_line_error '--passkey: 900 tokens take .* may be used'
: >empty.txt
expect 1 attn bam.h5 empty.txt
one_line_error 'empty.txt: empty'
expect 1 attn bam.h5 text.txt --max-memory 10k
one_line_error 'text.txt: .* tokens take .* may be used'
expect 2 attn - -
one_line_error 'standard input can be read once'
expect 1 attn bam.h5 text.txt -o folder/none.tsv
finish
