#include "train/schedule.h"

#include <cmath>
#include <numbers>

namespace bam::train {

const NameTable<ScheduleKind>& schedule_names() {
  static const NameTable<ScheduleKind> table = {
      {"cosine", ScheduleKind::cosine}, {"wsd", ScheduleKind::wsd}, {"constant", ScheduleKind::constant}};
  return table;
}

double schedule_factor(const Schedule& schedule, Index step) {
  const auto real = [](Index x) { return static_cast<double>(x); };
  const double floor = schedule.kind == ScheduleKind::constant ? 1.0 : schedule.min_fraction;
  if (step >= schedule.steps) return floor;
  if (step < schedule.warmup_steps) return real(step + 1) / real(schedule.warmup_steps);
  switch (schedule.kind) {
    case ScheduleKind::cosine: {
      const double done = real(step - schedule.warmup_steps) / real(schedule.steps - schedule.warmup_steps);
      return floor + (1 - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
    }
    case ScheduleKind::wsd: {
      const double left = real(schedule.steps - step) / (0.2 * real(schedule.steps));
      return left >= 1 ? 1.0 : floor + (1 - floor) * left;
    }
    case ScheduleKind::constant:
      break;
  }
  return 1.0;
}

}  // namespace bam::train
