// The learning rate by step, as a share of its peak. A pure function of the step: a resumed run has the very same
// rates.
#pragma once

#include "base/types.h"
#include "model/config.h"

namespace bam::train {

// cosine    falls from the peak to the floor along half a cosine
// wsd       warm-up, stable, decay: the peak until the last fifth, then a straight line to the floor
// constant  the peak
enum class ScheduleKind : std::uint8_t { cosine, wsd, constant };

const NameTable<ScheduleKind>& schedule_names();

struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  Index steps = 1;
  Index warmup_steps = 0;
  double min_fraction = 0.1;  // the floor, as a share of the peak
};

// step counts from 0. In the warm-up (step + 1) / warmup_steps; from the last step on the floor (constant: the peak),
// which is never left again.
double schedule_factor(const Schedule& schedule, Index step);

}  // namespace bam::train
