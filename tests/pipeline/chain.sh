#!/bin/bash
# Text -> shard -> model -> perplexity in one pipe, through FIFOs, and through files read in order: the same numbers.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

# A text of 60 kB that is not noise, and another one held out.
prose() { awk -v seed="$1" -v lines="$2" 'BEGIN { srand(seed); split("the a old new river stone house light runs falls sings waits under over near and but", w, " ");
  for (i = 0; i < lines; i++) { s = ""; for (k = 0; k < 9; k++) s = s w[1 + int(rand() * 17)] " "; print s "." } }'; }
prose 1 1200 >train.txt
prose 2 100 >held.txt

model=(--preset tiny --layers 1 --dim 32 --heads 4 --ffn 48 --context 32 --batch-tokens 256 --steps 12 --seed 3 --threads 2 -q)
score=(--no-times --threads 2 -q)

bam-tokenize -q -o held.tok.zst held.txt || fail "tokenize held.txt"
bam-tokenize -q train.txt | bam-train "${model[@]}" -o - - | bam-ppl "${score[@]}" - held.tok.zst >pipe.tsv || fail "the pipe: ${PIPESTATUS[*]}"
[ "$(wc -l <pipe.tsv)" -ge 2 ] || fail "no table came out of the pipe"

mkfifo shard.fifo model.fifo
bam-tokenize -q -o shard.fifo train.txt &
bam-train "${model[@]}" -o model.fifo shard.fifo &
timeout 60 bam-ppl "${score[@]}" model.fifo held.tok.zst >fifo.tsv || fail "through FIFOs"
jobs -p | xargs -r kill 2>/dev/null
wait

bam-tokenize -q -o train.tok.zst train.txt || fail "tokenize train.txt"
bam-train "${model[@]}" --order stream -o model.h5 train.tok.zst || fail "from a file"
bam-ppl "${score[@]}" model.h5 held.tok.zst >file.tsv || fail "score the file"

# All but the model's digest, which covers the command line of its provenance.
numbers() { awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "model") skip = i } { for (i = 1; i <= NF; i++) if (i != skip) printf "%s\t", $i; print "" }' "$1"; }
for way in pipe fifo file; do numbers $way.tsv >$way.numbers; done
same pipe.numbers fifo.numbers
same pipe.numbers file.numbers

# Another order gives another model: the comparison above can fail.
bam-train "${model[@]}" --order global -o other.h5 train.tok.zst || fail "global order"
bam-ppl "${score[@]}" other.h5 held.tok.zst >other.tsv || fail "score the other"
numbers other.tsv >other.numbers
! cmp -s pipe.numbers other.numbers || fail "global and stream order gave the same numbers"
finish
