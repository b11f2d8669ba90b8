// boxes: cli io kernels base
#include "cli/progress.h"

#include <vector>

#include "support/catch.h"

using namespace bam;
using namespace bam::cli;

namespace {

using Kind = Progress::Surroundings::Kind;

// A clock that stands still until it is moved, and everything that was written.
struct Scene {
  double now_s = 100;
  std::vector<std::string> written;

  Progress::Surroundings as(Kind kind, int columns = 80) {
    return {.kind = kind,
            .columns = columns,
            .write = [this](std::string_view text) { written.emplace_back(text); },
            .now_s = [this] { return now_s; }};
  }
};

}  // namespace

TEST_CASE("progress: the line has share, rate and time left") {
  Scene scene;
  Progress progress({.total = 1000, .unit = "steps", .rate_unit = "tokens"}, scene.as(Kind::terminal));
  scene.now_s += 10;
  progress.update(100, 20000, "loss 3.21");
  REQUIRE(scene.written.size() == 1);
  CHECK(scene.written[0] == "\r\033[K100/1.00k steps (10%)  2.00k tokens/s  1m30s left  loss 3.21");
}

TEST_CASE("progress: work done before this run is not part of the rate") {
  Scene scene;
  Progress progress({.total = 1000, .start = 900, .unit = "steps"}, scene.as(Kind::terminal));
  scene.now_s += 10;
  progress.update(950);
  REQUIRE(scene.written.size() == 1);
  CHECK(scene.written[0] == "\r\033[K950/1.00k steps (95%)  5 steps/s  10s left");
}

TEST_CASE("progress: without a total there is no share and no time left") {
  Scene scene;
  Progress progress({.unit = "bytes"}, scene.as(Kind::terminal));
  scene.now_s += 1;
  progress.update(2000000);
  CHECK(scene.written.at(0) == "\r\033[K2.00M bytes  2.00M bytes/s");
}

TEST_CASE("progress: a terminal is redrawn at most five times a second, and wiped") {
  Scene scene;
  {
    Progress progress({.total = 1000}, scene.as(Kind::terminal));
    for (Index i = 1; i <= 1000; ++i) {
      scene.now_s += 0.001;
      progress.update(i);
    }
  }
  CHECK(scene.written.size() >= 4);
  CHECK(scene.written.size() <= 7);
  CHECK(scene.written.back() == "\r\033[K");
}

TEST_CASE("progress: clear wipes once, and only what was drawn") {
  Scene scene;
  Progress progress({.total = 10}, scene.as(Kind::terminal));
  progress.clear();
  CHECK(scene.written.empty());
  progress.update(1);
  progress.clear();
  progress.clear();
  CHECK(scene.written.size() == 2);
}

TEST_CASE("progress: a line never wraps") {
  Scene scene;
  Progress progress({.total = 10}, scene.as(Kind::terminal, 20));
  scene.now_s += 1;
  progress.update(1, std::string(100, 'x'));
  CHECK(scene.written.at(0).size() == std::string("\r\033[K").size() + 19);
}

TEST_CASE("progress: plain lines are sparse, and none comes in the first seconds") {
  Scene scene;
  Progress progress({.total = 100000}, scene.as(Kind::plain));
  std::vector<double> times_s;
  for (Index second = 1; second <= 20000; ++second) {
    scene.now_s += 1;
    const std::size_t before = scene.written.size();
    progress.update(second);
    if (scene.written.size() > before) times_s.push_back(static_cast<double>(second));
  }
  CHECK(times_s.front() == 10);
  CHECK(times_s.at(1) == 20);
  CHECK(times_s.back() - times_s[times_s.size() - 2] == 300);
  CHECK(times_s.size() < 150);
  CHECK(scene.written.front() == "10/100k tokens (0%)  1 tokens/s  1d03h left");
}

TEST_CASE("progress: silence writes nothing") {
  Scene scene;
  {
    Progress progress({.total = 10}, scene.as(Kind::silent));
    scene.now_s += 1000;
    progress.update(5);
    progress.clear();
  }
  CHECK(scene.written.empty());
}
