// What a training would take, before it begins.
#pragma once

#include "io/table.h"
#include "train/request.h"

namespace bam::train {

struct Estimate {
  Index parameters = 0;
  Index context = 0;
  Index batch_tokens = 0;
  Index micro_windows = 0;
  Index steps = 0;
  Index tokens = 0;
  Index data_tokens = 0;  // 0 = not known: a stream
  double memory_bytes = 0;
  double flops_per_token = 0;
  double matrix_flops_per_s = 0;  // measured now
  double tokens_per_s = 0;        // at the usual share of it
  double wall_s = 0;
};

// The share of the matrix ceiling that training is expected to reach.
inline constexpr double kUsualUtilisation = 0.35;

// The vocabulary of a plan without data: that of the authors.
inline constexpr Index kAssumedVocab = 32768;

Estimate estimate(const Plan& plan, Index data_tokens, Backend& backend);

// One row. `times` false leaves out what is measured.
void write_estimate(const Estimate& estimate, io::ByteSink& sink, io::TableFormat format, bool header, bool times);

}  // namespace bam::train
