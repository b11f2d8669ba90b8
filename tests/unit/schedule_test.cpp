// boxes: train base
#include "train/schedule.h"

#include <cmath>
#include <numbers>

#include "support/catch.h"

using namespace bam;
using namespace bam::train;

TEST_CASE("schedule: warm-up reaches the peak at its last step, and cosine falls to the floor") {
  const Schedule schedule{ScheduleKind::cosine, 12, 3, 0.1};
  CHECK(schedule_factor(schedule, 0) == Approx(1.0 / 3));
  CHECK(schedule_factor(schedule, 2) == 1.0);
  CHECK(schedule_factor(schedule, 3) == 1.0);
  for (Index step = 3; step < 12; ++step) {
    const double expected = 0.1 + 0.9 * (1 + std::cos(std::numbers::pi * static_cast<double>(step - 3) / 9)) / 2;
    CHECK(schedule_factor(schedule, step) == Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("schedule: at and past the last step the rate is the floor and never rises") {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::wsd}) {
    for (const Index warmup : {0, 3, 10, 40}) {
      const Schedule schedule{kind, 10, warmup, 0.25};
      double before = 1;
      for (Index step = std::min<Index>(warmup, 10); step < 35; ++step) {
        const double now = schedule_factor(schedule, step);
        CHECK(now <= before);
        if (step >= 10) CHECK(now == 0.25);
        before = now;
      }
    }
  }
}

TEST_CASE("schedule: wsd holds the peak until the last fifth, and falls on a straight line") {
  const Schedule schedule{ScheduleKind::wsd, 100, 5, 0};
  CHECK(schedule_factor(schedule, 4) == 1.0);
  CHECK(schedule_factor(schedule, 80) == 1.0);
  CHECK(schedule_factor(schedule, 90) == Approx(0.5));
  CHECK(schedule_factor(schedule, 99) == Approx(0.05));
}

TEST_CASE("schedule: constant stays at the peak") {
  const Schedule schedule{ScheduleKind::constant, 10, 2, 0.1};
  CHECK(schedule_factor(schedule, 0) == 0.5);
  CHECK(schedule_factor(schedule, 9) == 1.0);
  CHECK(schedule_factor(schedule, 10) == 1.0);
}
