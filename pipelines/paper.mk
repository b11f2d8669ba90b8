# The paper's tables: every size, training context, positional encoding and softmax is trained on the reader's own copy of
# FineWeb and measured; OUT/README.md, and OUT/index.html for a browser, hold the tables beside the values that were
# published. docs/paper.md says where the data comes from. A stage is one line of the tools; what is done is not done again;
# interrupted, it goes on.
#
#   make -C pipelines paper DRY_RUN=1                     what each stage costs; make's own --dry-run shows the commands
#   make -C pipelines paper FINEWEB='/data/fineweb/*.jsonl.zst' WIKIPEDIA=/data/wikipedia.jsonl.zst
#   make -C pipelines paper RUNS=l12/512 ENCODINGS='rope bam' SEEDS='1 2 3' STEPS=2000
#   make -C pipelines paper SCHED=slurm -j100             every heavy stage as a batch job
#   make -C pipelines paper SCALE=rehearsal -j2           every stage on small data, in minutes
here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
SCALE ?= paper
ifeq ($(SCALE),rehearsal)
include $(here)/paper/rehearsal.mk
endif

OUT       ?= results/paper
# The reader's own data; relative names are looked up where make runs (-C pipelines).
FINEWEB       ?= data/fineweb/*.jsonl.zst
WIKIPEDIA     ?= data/wikipedia.jsonl.zst
TOKENIZER     ?= data/mistral-7b-v0.3.tokenizer.model
ARC_EASY      ?= data/ARC-Easy-Test.jsonl
ARC_CHALLENGE ?= data/ARC-Challenge-Test.jsonl
MMLU          ?= data/mmlu-test.jsonl
MMLU_DEV      ?= data/mmlu-dev.jsonl
# The paper's values, to stand beside what is measured.
PUBLISHED     ?= $(here)/paper/published.tsv
# RULER's own word lists and essays where the reader has them: --words DIR --essay FILE
RULER_DATA    ?=

# What is trained: SIZE/CONTEXT, by encoding, with and without scalable softmax, from each seed.
RUNS      ?= l12/512 l12/1024 l12/2048 l15/512 l18/512 l24/512
ENCODINGS ?= nope sinusoidal rope alibi bam
SSMAX     ?= off on
SEEDS     ?= 1
STEPS     ?= 16954
BATCH     ?= 589824
DTYPE     ?= bf16
SAVE      ?= 500
FLAGS     ?=
# One document in so many is held out.
HOLD_OUT  ?= 0.002

# What is measured.
PASSKEY_LENGTHS ?= 512 1k 2k 4k 8k 16k 32k 64k 128k 256k 512k
PASSKEY_SAMPLES ?= 20
PPL_CONTEXT     ?= 32Ki
PPL_BIN         ?= 1Ki
PPL_TOKENS      ?= 8Mi
RULER_LENGTHS   ?= 1Ki 2Ki 4Ki 8Ki 16Ki 32Ki
RULER_SAMPLES   ?= 100
RULER_TASKS     ?= niah_single_1 niah_single_2 niah_single_3 niah_multikey_1 niah_multikey_2 niah_multikey_3 niah_multivalue niah_multiquery
SHOTS           ?= 0
MMLU_SHOTS      ?= 0
EVAL_SEED       ?= 42

# For the estimate of GPU hours: the dense peak of a GPU in FLOP/s, here of an H100 SXM in bf16, and the share of it in use.
PEAK_FLOPS  ?= 989e12
UTILISATION ?= 0.4
THREADS     ?= $(if $(filter slurm,$(SCHED)),8,all)
BIN         ?= $(or $(wildcard $(or $(BAM_BUILD_DIR),$(here)/../build)/bin),$(patsubst %/,%,$(dir $(shell command -v bam-train))))

tokenize := $(BIN)/bam-tokenize
train    := $(BIN)/bam-train
passkey  := $(BIN)/bam-passkey
ppl      := $(BIN)/bam-ppl
ruler    := $(BIN)/bam-ruler
mcq      := $(BIN)/bam-mcq
priors   := $(BIN)/bam-prior-fit
tools    := $(here)/paper
comma    := ,
space    := $(subst ,, )
listed    = $(subst $(space),$(comma),$(strip $(1)))
export BIN

# The recipe of a heavy stage begins with $(submit); $(stage) is its kind: tokens, train or evaluate.
include $(here)/slurm/slurm.mk

# A model is OUT/SIZE/CONTEXT/ENCODING/SEED/model.h5. Local RoPE is a way to read the model that RoPE has.
encodings := $(foreach encoding,$(ENCODINGS),$(if $(filter off,$(SSMAX)),$(encoding)) $(if $(filter on,$(SSMAX)),$(encoding)-ssmax))
local     := $(patsubst rope%,rope-local%,$(filter rope rope-ssmax,$(encodings)))
cells      = $(foreach run,$(RUNS),$(foreach encoding,$(1),$(foreach seed,$(SEEDS),$(OUT)/$(run)/$(encoding)/$(seed))))
models    := $(call cells,$(encodings))
read_only := $(call cells,$(local))
size       = $(word 1,$(subst /, ,$(1)))
context    = $(word 2,$(subst /, ,$(1)))
encoding   = $(word 3,$(subst /, ,$(1)))
seed       = $(word 4,$(subst /, ,$(1)))
size_flags = $(or $($(1)_flags),--preset $(1))
pe_flags   = --pe $(patsubst %-ssmax,%,$(1)) --ssmax $(if $(filter %-ssmax,$(1)),$(if $(filter bam%,$(1)),full,content),off) $(if $(filter bam%,$(1)),--prior-init authors --prior-scope layer)
reading    = $(if $(filter rope-local%,$(call encoding,$(1))),--window 1x) --dtype $(DTYPE) --threads $(THREADS)

passkey_tables := $(PASSKEY_LENGTHS:%=passkey-%.tsv)
tables         := passkey fineweb wikipedia ruler arc_easy arc_challenge mmlu priors
all_tables     := $(tables:%=$(OUT)/%.tsv)

# The prerequisite OUT/NAME.set changes when the values do.
tokens_settings := $(strip $(TOKENIZER) $(HOLD_OUT) $(FINEWEB) $(WIKIPEDIA))
train_settings  := $(strip $(STEPS) $(BATCH) $(DTYPE) $(FLAGS) $(foreach run,$(RUNS),$(call size_flags,$(call size,$(run)))))
eval_settings   := $(strip $(PASSKEY_SAMPLES) $(PPL_CONTEXT) $(PPL_BIN) $(PPL_TOKENS) $(RULER_LENGTHS) $(RULER_SAMPLES) $(RULER_TASKS) $(RULER_DATA) $(SHOTS) $(MMLU_SHOTS) $(EVAL_SEED) $(DTYPE))
changed          = $(if $(findstring <$(file <$(OUT)/$(1).set)>,<$($(1)_settings)>),,changed)

estimate = @ENCODINGS='$(encodings)' READ='$(encodings) $(local)' SEEDS='$(SEEDS)' STEPS='$(STEPS)' BATCH='$(BATCH)' LENGTHS='$(PASSKEY_LENGTHS)' SAMPLES='$(PASSKEY_SAMPLES)' PPL_CONTEXT='$(PPL_CONTEXT)' PPL_TOKENS='$(PPL_TOKENS)' RULER_LENGTHS='$(RULER_LENGTHS)' RULER_SAMPLES='$(RULER_SAMPLES)' RULER_TASKS='$(words $(RULER_TASKS))' ITEM_FILES='$(ARC_EASY) $(ARC_CHALLENGE) $(MMLU)' PEAK_FLOPS='$(PEAK_FLOPS)' UTILISATION='$(UTILISATION)' DTYPE='$(DTYPE)' $(tools)/cost $(foreach run,$(RUNS),'$(run) $(call size_flags,$(call size,$(run)))')

.DEFAULT_GOAL := paper
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: paper cost changed

paper: $(if $(DRY_RUN),cost,$(OUT)/index.html)

cost:
	@$(estimate)

$(OUT):
	mkdir -p $@
$(OUT)/tokens.set: $(call changed,tokens) | $(OUT)
	echo '$(tokens_settings)' > $@
$(OUT)/train.set: $(call changed,train) | $(OUT)
	echo '$(train_settings)' > $@
$(OUT)/eval.set: $(call changed,eval) | $(OUT)
	echo '$(eval_settings)' > $@

ifneq ($(SCALE),rehearsal)
$(FINEWEB) $(WIKIPEDIA) $(TOKENIZER) $(ARC_EASY) $(ARC_CHALLENGE) $(MMLU) $(MMLU_DEV):
	@echo "$@ is not here: docs/paper.md says what it is; FINEWEB=, WIKIPEDIA=, TOKENIZER=, ARC_EASY=, ... say where" >&2; exit 1
endif

# A folder of shards that was left unfinished is gone on with; one of other settings or files is begun anew.
$(OUT)/tokens.done: stage = tokens
$(OUT)/tokens.done: $(FINEWEB) $(TOKENIZER) $(OUT)/tokens.set
	if [ -e $@ ] || [ $(OUT)/tokens.set -nt $(OUT)/tokens.begun ]; then rm -rf $(OUT)/train $@ && touch $(OUT)/tokens.begun; fi
	$(submit) $(tokenize) --tokenizer $(TOKENIZER) --input jsonl --hold-out $(HOLD_OUT) --hold-out-to $(OUT)/fineweb.tok.zst --threads $(THREADS) -o $(OUT)/train/ $(filter-out $(TOKENIZER) $(OUT)/tokens.set,$^) && touch $@
$(OUT)/fineweb.tok.zst: $(OUT)/tokens.done ;
$(OUT)/wikipedia.tok.zst: stage = tokens
$(OUT)/wikipedia.tok.zst: $(WIKIPEDIA) $(TOKENIZER) $(OUT)/tokens.set
	$(submit) $(tokenize) --tokenizer $(TOKENIZER) --input jsonl --threads $(THREADS) -o $@ $(filter-out $(TOKENIZER) $(OUT)/tokens.set,$^)

# An unfinished training has a name of its own, and bam-train goes on with it.
$(models:%=%/model.h5): stage = train
$(models:%=%/model.h5): $(OUT)/%/model.h5: $(OUT)/tokens.done $(OUT)/train.set
	mkdir -p $(@D)
	$(submit) $(train) $(call size_flags,$(call size,$*)) $(call pe_flags,$(call encoding,$*)) $(FLAGS) --context $(call context,$*) --steps $(STEPS) --batch-tokens $(BATCH) --seed $(call seed,$*) --dtype $(DTYPE) --threads $(THREADS) --save-every $(SAVE) --log $(@D)/log.jsonl -o $(@D)/unfinished.h5 $(OUT)/train/*.tok.zst && mv $(@D)/unfinished.h5 $@
.SECONDEXPANSION:
$(read_only:%=%/model.h5): $$(subst rope-local,rope,$$@)
	mkdir -p $(@D) && ln -f $< $@

# The authors put no BOS before a passkey prompt, and take BOS and EOS out of the text that is scored by position.
$(OUT)/%.tsv: stage = evaluate
define passkey_rule
$(OUT)/%/passkey-$(1).tsv: $(OUT)/%/model.h5 $(OUT)/eval.set
	$$(submit) $$(passkey) --bos no --lengths $(1) --samples $$(PASSKEY_SAMPLES) --seed $$(EVAL_SEED) $$(call reading,$$*) -o $$@ $$<
endef
$(foreach length,$(PASSKEY_LENGTHS),$(eval $(call passkey_rule,$(length))))
$(OUT)/%/fineweb.tsv: $(OUT)/%/model.h5 $(OUT)/fineweb.tok.zst $(OUT)/eval.set
	$(submit) $(ppl) --bos no --context $(PPL_CONTEXT) --bin $(PPL_BIN) --max-tokens $(PPL_TOKENS) $(call reading,$*) -o $@ $< $(OUT)/fineweb.tok.zst
$(OUT)/%/wikipedia.tsv: $(OUT)/%/model.h5 $(OUT)/wikipedia.tok.zst $(OUT)/eval.set
	$(submit) $(ppl) --bos no --context $(PPL_CONTEXT) --bin $(PPL_BIN) --max-tokens $(PPL_TOKENS) $(call reading,$*) -o $@ $< $(OUT)/wikipedia.tok.zst

# Answers of another model are not gone on with.
$(OUT)/%/ruler.tsv: $(OUT)/%/model.h5 $(OUT)/eval.set
	if [ $< -nt $(@D)/ruler.items ] || [ $(OUT)/eval.set -nt $(@D)/ruler.items ]; then rm -f $(@D)/ruler.items; fi
	$(submit) $(ruler) --tasks $(call listed,$(RULER_TASKS)) --lengths $(call listed,$(RULER_LENGTHS)) --samples $(RULER_SAMPLES) $(RULER_DATA) --seed $(EVAL_SEED) $(call reading,$*) --append $(@D)/ruler.items -o $@ $<
$(OUT)/%/arc_easy.tsv: $(OUT)/%/model.h5 $(ARC_EASY) $(OUT)/eval.set
	$(submit) $(mcq) --task arc_easy --shots $(SHOTS) $(call reading,$*) -o $@ $< $(ARC_EASY)
$(OUT)/%/arc_challenge.tsv: $(OUT)/%/model.h5 $(ARC_CHALLENGE) $(OUT)/eval.set
	$(submit) $(mcq) --task arc_challenge --shots $(SHOTS) $(call reading,$*) -o $@ $< $(ARC_CHALLENGE)
$(OUT)/%/mmlu.tsv: $(OUT)/%/model.h5 $(MMLU) $(MMLU_DEV) $(OUT)/eval.set
	$(submit) $(mcq) --task mmlu --shots $(MMLU_SHOTS) $(if $(filter-out 0,$(MMLU_SHOTS)),$(MMLU_DEV:%=--shots-from %)) $(call reading,$*) -o $@ $< $(MMLU)
$(OUT)/%/priors.tsv: $(OUT)/%/model.h5
	$(priors) show -o $@ $<

# The rows of all models, with what they are before each.
gather = awk -f $(tools)/gather.awk $(filter %.tsv,$^) > $@
$(OUT)/passkey.tsv: $(foreach model,$(models) $(read_only),$(passkey_tables:%=$(model)/%))
	$(gather)
$(OUT)/priors.tsv: $(patsubst %,%/priors.tsv,$(filter $(foreach run,$(RUNS),$(OUT)/$(run)/bam%),$(models)))
	$(gather)
$(filter-out $(OUT)/passkey.tsv $(OUT)/priors.tsv,$(all_tables)): $(OUT)/%.tsv: $(foreach model,$(models) $(read_only),$(model)/%.tsv)
	$(gather)

# picture_rule RUN - passkeys by length, a line for each encoding.
define picture_rule
$(OUT)/passkey-$(subst /,-,$(1)).svg: $(OUT)/passkey.tsv
	awk -F'\t' -v OFS='\t' 'NR == 1 { print "name", $$$$0 } $$$$1 == "$(call size,$(1))" && $$$$2 == "$(call context,$(1))" { print $$$$3, $$$$0 }' $$< > $$@.table
	@command -v gnuplot >/dev/null || { echo "gnuplot, which draws the pictures, is not here: apt-get install gnuplot-nox" >&2; exit 1; }
	gnuplot -e "table='$$@.table'; picture='$$@'; context=$(call context,$(1)); title='$(1): passkeys found, by length'" $$(here)/plots/by-length.gp && rm $$@.table
endef
$(foreach run,$(RUNS),$(eval $(call picture_rule,$(run))))
$(OUT)/cost.tsv: $(OUT)/train.set $(OUT)/eval.set
	$(estimate) > $@

$(OUT)/README.md: $(all_tables) $(foreach run,$(RUNS),$(OUT)/passkey-$(subst /,-,$(run)).svg) $(OUT)/cost.tsv $(PUBLISHED)
	$(tools)/report $(OUT) $(PUBLISHED) '$(STEPS) steps of $(BATCH) tokens, $(DTYPE), seeds $(SEEDS), SCALE=$(SCALE)' $(RUNS) > $@
# The same page for a browser.
$(OUT)/index.html: $(OUT)/README.md
	awk -v dir=$(OUT) -f $(here)/plots/page.awk $< > $@
