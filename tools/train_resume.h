// Which training goes on: --resume, and what its options mean then.
#pragma once

#include <array>
#include <filesystem>

#include "base/log.h"
#include "train/saver.h"
#include "train_options.h"

namespace bam {

// What decides the parameters: recorded in the checkpoint, and the same when a training goes on.
inline constexpr std::array kLasting = {
    "preset",   "layers",         "dim",         "heads",      "kv-heads",        "ffn",
    "pe",       "ssmax",          "prior-scope", "prior-init", "shape-init",      "scale-init",
    "loc-init", "train-prior",    "init-from",   "context",    "batch-tokens",    "micro-batch",
    "order",    "border-targets", "steps",       "tokens",     "epochs",          "optimizer",
    "lr",       "prior-lr",       "warmup",      "schedule",   "min-lr-fraction", "weight-decay",
    "clip",     "dtype",          "seed"};

inline train::OptionValues lasting_options(const cli::Context& context) {
  train::OptionValues values;
  for (const char* name : kLasting) values.emplace_back(name, context.options->find(name)->current());
  return values;
}

// The options of the training that goes on hold unless they are given; given, they have to be the same.
inline void adopt(const train::SavedTraining& saved, cli::Context& context) {
  const bool has_length = context.is_set("steps") || context.is_set("tokens") || context.is_set("epochs");
  for (const auto& [name, value] : saved.state().options) {
    const cli::Option* option = context.options->find(name);
    if (option == nullptr || (train::is_length(name) && has_length)) continue;
    if (option->source == cli::Source::defaults) {
      option->assign({value});
    } else if (option->current() != value) {
      throw Error("--" + name + ": " + option->current() + ", but " + saved.name() + " was begun with " + value +
                  ", expected the same (or --init-from)");
    }
  }
  context.seed = parse_seed(context.options->find("seed")->current());
}

using Saved = std::unique_ptr<train::SavedTraining>;

// An unfinished training of the same options under the name of the output.
inline Saved find_unfinished(const std::string& path, const cli::Context& context) {
  // Anything but a checkpoint is replaced like any file.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || !io::begins_like_checkpoint(path)) return nullptr;
  train::OptionValues before;
  Saved saved;
  try {
    saved = train::open_newest(path);
  } catch (const Error& failure) {
    log::warning(std::string(failure.what()) + "; it will be replaced");
    return nullptr;
  }
  try {
    const train::TrainingState state = saved->state();
    if (state.finished()) return nullptr;
    before = state.options;
  } catch (const Error&) {
    return nullptr;  // a model alone
  }
  for (const auto& [name, value] : before) {
    const cli::Option* option = context.options->find(name);
    if (option != nullptr && option->current() == value) continue;
    log::warning(path + ": an unfinished training with --" + name + " " + value + " will be replaced");
    return nullptr;
  }
  return saved;
}

inline Saved find_saved(const TrainToolOptions& o, cli::Context& context) {
  if (o.resume == "no") return nullptr;
  if (o.resume == "auto") return find_unfinished(o.output.path, context);
  if (o.resume == "latest") {
    if (o.output.path == "-") throw UsageError("--resume latest: needs a file, expected -o FILE");
    Saved newest = train::open_newest(o.output.path);
    if (newest == nullptr) {
      log::info("no checkpoint " + o.output.path + " yet: starting anew");
    } else {
      adopt(*newest, context);
    }
    return newest;
  }
  std::error_code error;
  if (o.resume == o.output.path && !std::filesystem::exists(o.resume, error) && !error) {
    log::info(o.resume + " is not there yet: starting anew");
    return nullptr;
  }
  auto saved = std::make_unique<train::SavedTraining>(o.resume);
  adopt(*saved, context);
  return saved;
}

}  // namespace bam
