#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "base/numbers.h"
#include "cli/signals.h"

namespace bam::cli {
namespace {

constexpr double kRedraw_s = 0.2;
constexpr double kFirstPlainLine_s = 10;
constexpr double kLongestSilence_s = 300;

using Surroundings = Progress::Surroundings;

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

Surroundings standard_error() {
  const char* terminal = std::getenv("TERM");
  const bool can_redraw = isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  Surroundings here;
  here.kind = log::level() <= log::Level::quiet ? Surroundings::Kind::silent
              : can_redraw                      ? Surroundings::Kind::terminal
                                                : Surroundings::Kind::plain;
  if (here.kind == Surroundings::Kind::terminal) {
    here.columns = terminal_columns();
    here.write = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  } else {
    here.write = [](std::string_view text) { log::info(std::string(text)); };
  }
  here.now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  return here;
}

}  // namespace

Progress::Progress(ProgressInfo info) : Progress(std::move(info), standard_error()) {}

Progress::Progress(ProgressInfo info, Surroundings surroundings)
    : info_(std::move(info)), surroundings_(std::move(surroundings)), begin_s_(surroundings_.now_s()) {
  if (info_.rate_unit.empty()) info_.rate_unit = info_.unit;
  if (surroundings_.kind == Surroundings::Kind::plain) next_s_ = kFirstPlainLine_s;
  if (surroundings_.kind == Surroundings::Kind::terminal) log::before_line([this] { clear(); });
  state_.done = info_.start;
  set_status([this] {
    const std::lock_guard lock(state_mutex_);
    return line(state_.done, state_.rate_done, state_.note);
  });
}

Progress::~Progress() {
  set_status({});
  clear();
  if (surroundings_.kind == Surroundings::Kind::terminal) log::before_line({});
}

void Progress::update(Index done, Index rate_done, std::string_view note) {
  {
    const std::lock_guard lock(state_mutex_);
    state_.done = done;
    state_.rate_done = rate_done;
    state_.note = note;
  }
  if (surroundings_.kind == Surroundings::Kind::silent) return;
  const double now_s = elapsed_s();
  if (now_s < next_s_) return;
  const std::string text = line(done, rate_done, note);
  if (surroundings_.kind == Surroundings::Kind::plain) {
    next_s_ = now_s + std::clamp(now_s / 20, kFirstPlainLine_s, kLongestSilence_s);
    surroundings_.write(text);
    return;
  }
  next_s_ = now_s + kRedraw_s;
  // A line that wraps could not be wiped.
  surroundings_.write("\r\033[K" + text.substr(0, static_cast<std::size_t>(surroundings_.columns - 1)));
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_.exchange(false)) surroundings_.write("\r\033[K");
}

std::string Progress::line(Index done, Index rate_done, std::string_view note) const {
  const double now_s = elapsed_s();
  std::string text = human_count(static_cast<double>(done));
  if (info_.total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(info_.total);
    text.append("/").append(human_count(static_cast<double>(info_.total))).append(" ").append(info_.unit);
    text.append(" (").append(std::to_string(static_cast<int>(100 * share))).append("%)");
  } else {
    text.append(" ").append(info_.unit);
  }
  if (now_s > 0) {
    text.append("  ").append(human_count(static_cast<double>(rate_done) / now_s));
    text.append(" ").append(info_.rate_unit).append("/s");
  }
  const Index done_here = done - info_.start;
  if (info_.total > done && done_here > 0) {
    const double left_s = now_s * static_cast<double>(info_.total - done) / static_cast<double>(done_here);
    text.append("  ").append(human_seconds(left_s)).append(" left");
  }
  if (!note.empty()) text.append("  ").append(note);
  return text;
}

}  // namespace bam::cli
