# Heavy stages of a Makefile as jobs: a recipe begins with $(submit), which is nothing unless SCHED=slurm. make waits for
# the jobs; -j N has N of them in the queue at a time. Interrupted, it cancels them, and started again it goes on.
#
#   make -C pipelines -j20 SCHED=slurm THREADS=8 SBATCH="--partition=long --time=8:00:00" SBATCH_train=--gres=gpu:1
#
# SBATCH_NAME is for the stages of that kind, where a Makefile tells kinds apart (stage = NAME).
SCHED  ?= local
SBATCH ?=

submit_local :=
submit_slurm = mkdir -p $(OUT)/slurm && $(here)/slurm/submit --job-name=$(subst /,-,$(patsubst $(OUT)/%,%,$@)) --output=$(OUT)/slurm/%x.%j.log --cpus-per-task=$(THREADS) $(SBATCH) $(SBATCH_$(stage))
submit       = $(submit_$(SCHED))
ifeq ($(filter $(SCHED),local slurm),)
$(error SCHED=$(SCHED), expected local or slurm)
endif
