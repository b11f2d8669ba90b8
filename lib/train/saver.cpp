#include "train/saver.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/log.h"
#include "io/checkpoint.h"
#include "io/second_name.h"

namespace bam::train {
namespace {

namespace fs = std::filesystem;

std::string beside(const std::string& output, const std::string& mark) {
  const fs::path path(output);
  return (path.parent_path() / (path.stem().string() + "-" + mark + path.extension().string())).string();
}

// The step in the name of a kept checkpoint, or -1.
Index step_in(const std::string& name, const fs::path& output) {
  const std::string front = output.stem().string() + "-";
  const std::string back = output.extension().string();
  if (name.size() <= front.size() + back.size() || !name.starts_with(front) || !name.ends_with(back)) return -1;
  const char* first = name.data() + front.size();
  const char* last = name.data() + name.size() - back.size();
  Index step = -1;
  const auto [end, error] = std::from_chars(first, last, step);
  const bool is_whole = error == std::errc() && end == last && step >= 0;
  return is_whole && kept_name(output.filename().string(), step) == name ? step : -1;
}

std::vector<Index> kept_steps(const std::string& output) {
  std::vector<Index> steps;
  const fs::path path(output);
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const Index step = step_in(entry->path().filename().string(), path);
    if (step >= 0) steps.push_back(step);
  }
  std::ranges::sort(steps, std::greater<>());
  return steps;
}

bool is_best(const TrainingState& state) {
  const History& history = state.history;
  if (history.val_step.empty() || history.val_step.back() != state.step) return false;
  return history.val_loss.back() <= *std::ranges::min_element(history.val_loss);
}

// Why a checkpoint is not of the training with these options; empty when it is.
std::string why_foreign(const SavedTraining& saved, std::optional<Index> step, const OptionValues& options) {
  const TrainingState state = saved.state();
  if (step && state.step != *step) return "a checkpoint of step " + std::to_string(state.step);
  for (const auto& [name, value] : options) {
    const auto other = std::ranges::find(state.options, name, &OptionValues::value_type::first);
    if (is_length(name) || (other != state.options.end() && other->second == value)) continue;
    return "of a training " +
           (other != state.options.end() ? "with --" + name + " " + other->second : "without --" + name);
  }
  return "";
}

// Whether --keep of a training with these options has given this name. Throws Error where something else has it.
bool is_own(const std::string& name, std::optional<Index> step, const OptionValues& options) {
  const std::string in_the_way = "; --keep gives this name to checkpoints, expected another place for it or another -o";
  std::optional<SavedTraining> saved;
  std::string why;
  try {
    saved.emplace(name);
    why = why_foreign(*saved, step, options);
  } catch (const Error& error) {
    if (saved || !io::begins_like_checkpoint(name)) throw Error(error.what() + in_the_way);
    log::warning(std::string(error.what()) + "; it is left alone");
    return false;
  }
  if (!why.empty()) throw Error(name + ": " + why + in_the_way);
  return true;
}

// Empty where there is no file; nothing where that cannot be said, or what is there is no file.
std::optional<std::string> block_of(const std::string& output) {
  std::error_code error;
  if (output.empty() || output == "-") return std::nullopt;
  const fs::file_status status = fs::status(output, error);
  if (status.type() == fs::file_type::not_found) return std::string();
  if (!fs::is_regular_file(status)) return std::nullopt;
  std::string block(static_cast<std::size_t>(io::kCheckpointBlockBytes), '\0');
  std::ifstream file(output, std::ios::binary);
  file.read(block.data(), std::ssize(block));
  block.resize(static_cast<std::size_t>(file.gcount()));
  if (block.empty()) return std::nullopt;
  return block;
}

// A copy of all values, which is handed out once.
ParameterValues frozen(const ParameterValues& live, std::size_t count) {
  auto copy = std::make_shared<std::vector<std::vector<float>>>();
  for (std::size_t i = 0; i < count; ++i) copy->push_back(live(i));
  return [copy](std::size_t i) { return std::move((*copy)[i]); };
}

}  // namespace

std::string kept_name(const std::string& output, Index step) {
  return beside(output, std::to_string(step));
}

std::string best_name(const std::string& output) {
  return beside(output, "best");
}

bool is_kept_name(const std::string& output, const std::string& path) {
  const auto folder = [](const fs::path& file) {
    std::error_code error;
    return fs::weakly_canonical(file.has_parent_path() ? file.parent_path() : fs::path("."), error);
  };
  const std::string name = fs::path(path).filename().string();
  const bool is_named_so = step_in(name, output) >= 0 || name == fs::path(best_name(output)).filename();
  return is_named_so && folder(path) == folder(output);
}

std::vector<std::string> kept_checkpoints(const std::string& output) {
  std::vector<std::string> names;
  for (const Index step : kept_steps(output)) names.push_back(kept_name(output, step));
  return names;
}

Saver::Saver(std::string output, Index keep) : output_(std::move(output)), keep_(keep), in_place_(block_of(output_)) {}

void Saver::claim(const OptionValues& options) {
  if (keep_ == 0) return;
  for (const Index step : kept_steps(output_)) {
    if (is_own(kept_name(output_, step), step, options)) kept_.insert(step);
  }
  std::error_code error;
  if (fs::exists(best_name(output_), error)) (void)is_own(best_name(output_), std::nullopt, options);
}

Saver::~Saver() {
  if (writing_.valid()) writing_.wait();
}

bool Saver::is_writing() {
  if (!writing_.valid()) return false;
  if (writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return true;
  writing_.get();
  return false;
}

void Saver::write_aside(const TrainingCheckpoint& checkpoint) {
  TrainingCheckpoint copy = checkpoint;
  const std::size_t count = checkpoint.infos.size();
  copy.parameters = frozen(checkpoint.parameters, count);
  copy.m = frozen(checkpoint.m, count);
  copy.v = frozen(checkpoint.v, count);
  writing_ = std::async(std::launch::async, [this, copy = std::move(copy)] { write_and_keep(copy); });
}

void Saver::write(const TrainingCheckpoint& checkpoint) {
  if (writing_.valid()) writing_.get();
  write_and_keep(checkpoint);
}

void Saver::write_and_keep(const TrainingCheckpoint& checkpoint) {
  const std::optional<std::string> there = block_of(output_);
  if (there && in_place_ && !there->empty() && *there != *in_place_) {
    throw Error(output_ + ": written by another process while this training went on, expected an output of its own");
  }
  save_checkpoint(output_, checkpoint);
  in_place_ = block_of(output_);
  if (keep_ > 0) give_names(checkpoint.state);
}

// Gives the newest checkpoint its other names, and takes away those that are no longer kept. Later steps are those of a
// training that this one has replaced.
void Saver::give_names(const TrainingState& state) {
  io::give_second_name(output_, kept_name(output_, state.step));
  if (is_best(state)) io::give_second_name(output_, best_name(output_));
  kept_.insert(state.step);
  const auto take_away = [this](Index step) {
    std::error_code gone;
    fs::remove(kept_name(output_, step), gone);
    kept_.erase(step);
  };
  while (*kept_.rbegin() > state.step) take_away(*kept_.rbegin());
  while (std::ssize(kept_) > keep_) take_away(*kept_.begin());
}

std::unique_ptr<SavedTraining> open_newest(const std::string& output) {
  std::vector<std::string> names = kept_checkpoints(output);
  std::error_code error;
  if (fs::exists(output, error)) names.insert(names.begin(), output);
  std::string damage;
  for (const std::string& name : names) {
    // Another name of the file that was tried a moment ago.
    if (name != output && fs::equivalent(name, output, error)) continue;
    if (!damage.empty()) log::warning(damage + "; going back to " + name);
    try {
      return std::make_unique<SavedTraining>(name);
    } catch (const Error& failure) {
      damage = failure.what();
    }
  }
  if (!damage.empty()) throw Error(damage);
  return nullptr;
}

}  // namespace bam::train
