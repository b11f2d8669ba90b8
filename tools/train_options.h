// The options of bam-train.
#pragma once

#include <limits>

#include "cli/run_tool.h"
#include "train/run.h"

namespace bam {

// "3%" of the steps, or "100" of them.
inline cli::ValueType<train::Warmup> warmup_type() {
  return {.metavar = "STEPS|N%",
          .parse = [](std::string_view text) -> train::Warmup {
            if (text.ends_with('%')) return {parse_real(text.substr(0, text.size() - 1), {0, 100}), true};
            return {static_cast<double>(parse_integer(text, {.low = 0})), false};
          },
          .format = [](const train::Warmup& w) { return format_real(w.number) + (w.is_percent ? "%" : ""); }};
}

// "500" steps, or "10m": seconds, minutes or hours.
inline cli::ValueType<train::SaveEvery> save_every_type() {
  static const std::vector<std::pair<char, double>> units = {{'s', 1}, {'m', 60}, {'h', 3600}};
  const auto parse = [](std::string_view text) -> train::SaveEvery {
    for (const auto& [unit, seconds] : units) {
      if (!text.ends_with(unit)) continue;
      return {0, seconds * parse_real(text.substr(0, text.size() - 1), {.low = 0, .high = 1e6, .low_excluded = true})};
    }
    return {parse_integer(text, {.low = 1}), 0};
  };
  const auto format = [](const train::SaveEvery& every) {
    return every.seconds > 0 ? format_real(every.seconds) + "s" : std::to_string(every.steps);
  };
  return {.metavar = "STEPS|TIME", .parse = parse, .format = format};
}

// Some of shape, scale, loc, or none.
inline cli::ValueType<train::PriorTraining> prior_training_type() {
  const auto parse = [](std::string_view text) {
    train::PriorTraining which{false, false, false};
    if (text == "none") return which;
    const auto one = cli::choice<bool train::PriorTraining::*>({{"shape", &train::PriorTraining::shape},
                                                                {"scale", &train::PriorTraining::scale},
                                                                {"loc", &train::PriorTraining::loc}});
    for (const std::string_view word : cli::detail::split_list(text)) which.*one.parse(word) = true;
    return which;
  };
  const auto format = [](const train::PriorTraining& which) {
    std::vector<std::string> words;
    if (which.shape) words.push_back("shape");
    if (which.scale) words.push_back("scale");
    if (which.loc) words.push_back("loc");
    return words.empty() ? std::string("none") : cli::detail::join(words, ",");
  };
  return {.metavar = "shape,scale,loc", .parse = parse, .format = format, .words = {"shape", "scale", "loc", "none"}};
}

template <typename Enum>
cli::ValueType<Enum> named(const NameTable<Enum>& table) {
  return cli::choice<Enum>({table.begin(), table.end()});
}

inline cli::ValueType<std::string> preset_type() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name, preset.name);
  return cli::choice<std::string>(names);
}

struct TrainToolOptions {
  train::Request request;
  std::string resume = "auto";
  bool dry_run = false;
  cli::TableOptions table;
  cli::OutputOption output;

  void declare(cli::OptionTable& options) {
    options.operands(request.files, cli::path(), "FILE", 0,
                     "Token shards; none or - is standard input. Pipes are read in order, files in any.");
    declare_model(options);
    declare_data(options);
    declare_optimizer(options);
    declare_run(options);
    output.declare(options, "The checkpoint to write; - is standard output.");
    table.declare(options);
    request.files.clear();
  }

 private:
  static cli::ValueType<Index> size_or(const char* word, Index high = std::numeric_limits<Index>::max()) {
    return cli::or_word(cli::integer({1, high}), word, 0);
  }
  // Far above what is for use, and low enough that no product of sizes overflows.
  static constexpr Index kMostLayers = 4096;
  static constexpr Index kMostChannels = Index{1} << 20;
  static constexpr Index kLongestContext = Index{1} << 30;

  void declare_model(cli::OptionTable& options) {
    train::Request& r = request;
    options.group("Model")
        .add("preset", r.preset, preset_type(), "Sizes of the model, and the defaults that say 'preset'.")
        .add("layers", r.layers, size_or("preset", kMostLayers), "N", "Layers.")
        .add("dim", r.dim, size_or("preset", kMostChannels), "N", "Width of the model.")
        .add("heads", r.heads, size_or("preset", kMostChannels), "N", "Attention heads in a layer.")
        .add("kv-heads", r.kv_heads, size_or("heads", kMostChannels), "N",
             "Heads of keys and values, shared by groups of heads.")
        .add("ffn", r.ffn, size_or("preset", kMostChannels), "N",
             "Width of the feed-forward layers; with --dim, twice that.")
        .add("pe", r.pe, named(positional_encoding_names()), "Positional encoding.")
        .add("ssmax", r.ssmax, cli::optional(named(ssmax_names()), "auto"), "off|content|full",
             "Scalable softmax: off, on the content alone, or on content and prior; auto is full for bam, else off.")
        .add("prior-scope", r.prior_scope, cli::optional(named(prior_scope_names()), "preset"), "layer|global",
             "A prior for each layer, or one for all: tiny has one, other presets have one for each.")
        .add("prior-init", r.prior_init, cli::or_word(cli::path(), "preset", ""), "authors|spread|FILE",
             "Where priors start: as ALiBi, or spread over heads with roles, or by a table; tiny starts spread, other "
             "presets as the authors'.")
        .add("shape-init", r.shape_init, cli::or_word(cli::text(), "none", ""), "VALUES",
             "Shapes (beta) instead of those: a number, a list by head, linear:A:B or normal:MEAN:SD.")
        .add("scale-init", r.scale_init, cli::or_word(cli::text(), "none", ""), "VALUES",
             "Scales likewise, as stored (the logarithm of a slope); or slopes, those of ALiBi.")
        .add("loc-init", r.loc_init, cli::or_word(cli::text(), "none", ""), "VALUES",
             "Locations likewise, as stored (mu = 2 sinh(loc)).")
        .add("train-prior", r.train_prior, prior_training_type(), "What of the prior learns.")
        .add("init-from", r.init_from, cli::optional(cli::path(), "none"), "CKPT",
             "Start from the weights of a checkpoint, whose sizes are kept; the context may be another.");
  }

  void declare_data(cli::OptionTable& options) {
    train::Request& r = request;
    options.group("Data")
        .add("context", r.context, size_or("preset", kLongestContext), "TOKENS",
             "Tokens in a window: 128 for tiny, else 512.")
        .add("batch-tokens", r.batch_tokens, size_or("preset"), "TOKENS",
             "Tokens in a step: 1024 for tiny, else 589824. Rounded down to whole windows.")
        .add("micro-batch", r.micro_batch, size_or("auto"), "WINDOWS",
             "Windows that are computed at a time. It changes memory and speed, and the loss by rounding alone.")
        .add("order", r.order, cli::optional(named(train::order_names()), "auto"), "global|stream",
             "All windows in a random order, or as they come, mixed in a bounded buffer; auto is stream for a pipe.")
        .flag("border-targets", r.border_targets, "Score the prediction of a document's first token by the one before.")
        .add("val", r.val, cli::optional(cli::path(), "none"), "SHARD", "Held-out tokens, all of which are scored.")
        .add("val-every", r.val_every, size_or("end"), "STEPS", "Score them after so many steps, and at the end.");
  }

  void declare_optimizer(cli::OptionTable& options) {
    train::Request& r = request;
    const auto share = cli::real(cli::between(0, 1));
    options.group("Optimizer")
        .add("steps", r.steps, size_or("preset"), "N", "Steps to make: 3000 for tiny, else 16954.")
        .add("tokens", r.tokens, size_or("none"), "N", "Tokens to see instead, rounded up to whole steps.")
        .add("epochs", r.epochs, size_or("none"), "N", "Passes over all windows instead; not for streams.")
        .add("optimizer", r.optimizer, named(train::optimizer_names()), "RAdam or AdamW.")
        .add("lr", r.lr, cli::or_word(cli::real(cli::above(0)), "preset", 0.0), "X",
             "Learning rate at the peak: 0.006 for tiny, else 0.001.")
        .add("prior-lr", r.prior_lr, cli::optional(cli::real(cli::at_least(0)), "lr"), "X", "The same for priors.")
        .add("warmup", r.warmup, warmup_type(), "Steps until the peak, or a share of all steps.")
        .add(
            "schedule", r.schedule, named(train::schedule_names()),
            "After the warm-up: half a cosine down to the floor; the peak until the last fifth of the steps and then a "
            "straight line down; or the peak.")
        .add("min-lr-fraction", r.min_lr_fraction, share, "The floor, as a share of the peak.")
        .add("weight-decay", r.weight_decay, cli::real(cli::at_least(0)), "Decoupled decay of matrices.")
        .add("clip", r.clip, cli::or_word(cli::real(cli::above(0)), "off", 0.0), "X",
             "Largest norm of all gradients together.")
        .add("dtype", r.products, named(products_names()), "Type of the matrix products.");
  }

  void declare_run(cli::OptionTable& options) {
    train::Request& r = request;
    cli::ValueType<std::string> resume_type = cli::path(cli::PathUse::either);
    resume_type.words = {"auto", "latest", "no"};
    options.group("Run")
        .add("save-every", r.save_every, cli::or_word(save_every_type(), "end", {}), "STEPS|TIME",
             "Write the checkpoint after so many steps, or so much time (90s, 10m, 2h), too.")
        .add("keep", r.keep, cli::or_word(cli::count(), "none", 0), "N",
             "Keep the last N checkpoints as NAME-STEP.h5, and that of the lowest validation loss as NAME-best.h5.")
        .add("resume", resume, resume_type, "auto|latest|no|CKPT",
             "Go on with a checkpoint, whose options hold; latest is the newest of the output that is not damaged; "
             "auto goes on with an unfinished one of the same options under the name of the output.")
        .add("max-minutes", r.max_minutes, cli::or_word(cli::real(cli::above(0)), "none", 0.0), "N",
             "Save and stop with status 75 after so many minutes.")
        .add("log", r.log, cli::optional(cli::path(cli::PathUse::output), "none"), "FILE",
             "Write a JSON line for each step.")
        .flag("shard-optimizer", r.shard_optimizer,
              "With several ranks, each keeps the optimizer's state of some parameters: less memory, more traffic, the "
              "same result.")
        .flag("dry-run", dry_run, "Write a row about what the training would take, and end.");
  }
};

}  // namespace bam
