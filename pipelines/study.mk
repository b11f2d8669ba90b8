# Five seeds of one setting, each with documents, order and first weights of its own, asked for keys and places that no
# choice of the setting has seen (seeds 601 to 605 for the training, 1601 to 1605 for the questions).
#
#   make -C pipelines -j2 study                        OUT/study/README.md
#   make -C pipelines study STUDY_LENGTHS="64x 256x"   part of it
#   make -C pipelines study STUDY_MODELS=text-alone    another model under the same recipe
STUDY         ?= $(OUT)/study
STUDY_SEEDS   ?= 601 602 603 604 605
STUDY_MODELS  ?= bam
STUDY_LENGTHS ?= 1x 8x 64x 256x 512x
STUDY_SAMPLES ?= 100
# Longer prompts take longer by the square.
study_samples_256x := 20
study_samples_512x := 10

study_tables := $(foreach model,$(STUDY_MODELS),$(foreach length,$(STUDY_LENGTHS),$(foreach seed,$(STUDY_SEEDS),$(STUDY)/$(seed)/$(model)-$(length).tsv)))

.PHONY: study
study: $(STUDY)/README.md

$(STUDY)/%.h5:
	$(MAKE) -f $(here)/Makefile --no-print-directory OUT=$(STUDY)/$(*D) SEED=$(*D) MODELS=$(*F) $@

# study_rule MODEL, LENGTH
define study_rule
$(STUDY)/%/$(1)-$(2).tsv: $(STUDY)/%/$(1).h5
	$$(submit) $$(passkey) --lengths $(2) --samples $$(or $$(study_samples_$(2)),$$(STUDY_SAMPLES)) --depths random --seed 1$$* --threads $$(THREADS) -o $$@ $$<
endef
$(foreach model,$(STUDY_MODELS),$(foreach length,$(STUDY_LENGTHS),$(eval $(call study_rule,$(model),$(length)))))

$(STUDY)/README.md: $(study_tables)
	{ echo 'Made by `make study`, $(shell $(train) --version 2>/dev/null | head -1), $(STEPS) steps of $(BATCH) tokens in windows of $(CONTEXT) tokens, on $(shell sed -n "s/^model name[^:]*: //p" /proc/cpuinfo | sort -u | head -1).'; echo; awk -f $(plots)/study.awk -v context=$(CONTEXT) $(study_tables); } > $@
