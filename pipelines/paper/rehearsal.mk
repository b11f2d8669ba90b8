# SCALE=rehearsal: what paper.mk is run on where its data and its GPUs are not: a dictionary's text (or TEXT) in place of
# FineWeb and Wikipedia, a tokenizer learnt on it, a handful of questions, and models that are trained for a few steps. The
# numbers mean nothing; every stage runs.
OUT        ?= results/rehearsal
TEXT       ?=
TEXT_BYTES ?= 3000000
PIECES     ?= 1000
data       := $(OUT)/data

FINEWEB       ?= $(data)/fineweb-0.jsonl $(data)/fineweb-1.jsonl
WIKIPEDIA     ?= $(data)/wikipedia.jsonl
TOKENIZER     ?= $(data)/tokenizer.model
ARC_EASY      ?= $(here)/paper/rehearsal-arc.jsonl
ARC_CHALLENGE ?= $(here)/paper/rehearsal-arc.jsonl
MMLU          ?= $(here)/paper/rehearsal-mmlu.jsonl
MMLU_DEV      ?= $(here)/paper/rehearsal-mmlu.jsonl

small      := --preset tiny --heads 4
l12_flags  ?= $(small) --layers 2 --dim 64 --ffn 128
l15_flags  ?= $(small) --layers 2 --dim 80 --ffn 160
l18_flags  ?= $(small) --layers 3 --dim 96 --ffn 192
l24_flags  ?= $(small) --layers 3 --dim 128 --ffn 256
RUNS       ?= l12/64 l12/128 l12/256 l15/64 l18/64 l24/64
STEPS      ?= 20
BATCH      ?= 1024
SAVE       ?= 10
DTYPE      ?= f32
THREADS    ?= 1
HOLD_OUT   ?= 0.05

PASSKEY_LENGTHS ?= 256 512 1k
PASSKEY_SAMPLES ?= 2
PPL_CONTEXT     ?= 512
PPL_BIN         ?= 64
PPL_TOKENS      ?= 4k
RULER_LENGTHS   ?= 2Ki
RULER_SAMPLES   ?= 1
MMLU_SHOTS      ?= 1

# What is held out, and the pieces of text that become documents, are chosen by lines, so that nothing is random here.
$(data):
	mkdir -p $@
$(data)/text.txt: $(TEXT) | $(data)
	$(if $(TEXT),cat $(TEXT),$(here)/gcide-text) | { head -c $(TEXT_BYTES); cat >/dev/null; } > $@
json_lines = awk -f $(here)/paper/json-lines.awk -v of=3 -v part
$(data)/fineweb-0.jsonl: $(data)/text.txt
	$(json_lines)=0 $< > $@
$(data)/fineweb-1.jsonl: $(data)/text.txt
	$(json_lines)=1 $< > $@
$(data)/wikipedia.jsonl: $(data)/text.txt
	$(json_lines)=2 $< > $@
$(data)/tokenizer.model: $(data)/text.txt
	$(BIN)/bam-tokenize --learn $(PIECES) -o $@ $<
