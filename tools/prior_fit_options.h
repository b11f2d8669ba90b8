// The options of bam-prior-fit.
#pragma once

#include <optional>

#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/attention_fit.h"
#include "train/tune.h"

namespace bam {

enum class PriorDeed : std::uint8_t { show, fit, tune, init };

inline const NameTable<PriorDeed>& prior_deed_names() {
  static const NameTable<PriorDeed> names = {
      {"show", PriorDeed::show}, {"fit", PriorDeed::fit}, {"tune", PriorDeed::tune}, {"init", PriorDeed::init}};
  return names;
}

struct PriorFitOptions {
  PriorDeed deed = PriorDeed::show;
  std::vector<std::string> files;  // the model first
  std::optional<std::string> from;
  Length context{1, true};

  std::vector<Length> lengths = {{1, true}};
  double window_eps = 1e-3;
  bool by_class = false;
  bool curves = false;
  Index points = 200;

  std::vector<std::string> families = {"uniform", "laplace", "gaussian", "ggd", "relaxed"};
  std::optional<double> mu = 0;  // none: free
  eval::FitSsmax ssmax = eval::FitSsmax::automatic;
  ErrorKind errors = ErrorKind::groups;
  bool all_families = false;
  Index queries = 64;
  Index max_tokens = 1 << 17;
  eval::BosUse bos = eval::BosUse::automatic;

  train::TuneRequest tune;
  train::TuneRequest learns;  // of which only what learns is read
  bool from_alibi = false;
  Index batch_tokens = 4096;
  std::optional<Length> passkey;
  Index passkey_samples = 20;

  std::string prior_init;
  PriorFormulas formulas;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  const std::string& model() const { return files.front(); }
  std::vector<std::string> data() const { return {files.begin() + 1, files.end()}; }

  // Options that mean something to some deeds alone.
  struct Use {
    std::string_view option;
    std::vector<PriorDeed> deeds;
  };
  static const std::vector<Use>& uses() {
    constexpr PriorDeed s = PriorDeed::show, f = PriorDeed::fit, t = PriorDeed::tune, i = PriorDeed::init;
    static const std::vector<Use> table = {{"from", {f, t, i}},
                                           {"context", {f, t}},
                                           {"dtype", {f, t}},
                                           {"chunk", {f}},
                                           {"eps", {f}},
                                           {"window", {f}},
                                           {"rope-scaling", {f}},
                                           {"max-memory", {f}},
                                           {"lengths", {s}},
                                           {"window-eps", {s}},
                                           {"by-class", {s}},
                                           {"curves", {s}},
                                           {"points", {s}},
                                           {"families", {f}},
                                           {"mu", {f}},
                                           {"ssmax", {f}},
                                           {"errors", {f}},
                                           {"all-families", {f}},
                                           {"queries", {f}},
                                           {"max-tokens", {f}},
                                           {"bos", {f}},
                                           {"from-alibi", {t}},
                                           {"train-prior", {t}},
                                           {"steps", {t}},
                                           {"lr", {t}},
                                           {"batch-tokens", {t}},
                                           {"val", {t}},
                                           {"val-every", {t}},
                                           {"border-targets", {t}},
                                           {"passkey", {t}},
                                           {"passkey-samples", {t}},
                                           {"prior-init", {i}},
                                           {"shape-init", {i}},
                                           {"scale-init", {i}},
                                           {"loc-init", {i}}};
    return table;
  }

  void declare(cli::OptionTable& options) {
    options.operand(deed, cli::choice<PriorDeed>({prior_deed_names().begin(), prior_deed_names().end()}), "DEED",
                    "What to do: show the priors of a model, fit priors to what its heads do, tune its priors, or init "
                    "them.");
    options.operands(files, cli::path(), "FILE", 0,
                     "The model, a checkpoint; for fit and tune then token shards (fit reads text too). - is standard "
                     "input.");
    options.group("Input")
        .add("from", from, cli::optional(cli::path(), "none"), "TABLE",
             "For init and tune priors, as show and fit write them; for fit counts by distance, in place of a model; - "
             "is standard input.")
        .add("context", context, cli::length(2), "TOKENS",
             "For fit and tune: tokens in a window; 4x is four training contexts.");
    declare_show(options);
    declare_fit(options);
    declare_tune(options);
    declare_init(options);
    computation.declare(options);
    output.declare(options,
                   "Where the table of show and fit, or the checkpoint of tune and init goes; - is standard output.");
    table.declare(options);
    files.clear();
  }

 private:
  void declare_show(cli::OptionTable& options) {
    options.group("For show")
        .add("lengths", lengths, cli::list(cli::length()), "TOKENS,...",
             "Visible keys for which the mass is told; 8x is eight training contexts.")
        .add("window-eps", window_eps, cli::real({.low = 0, .high = 1, .low_excluded = true, .high_excluded = true}),
             "X", "The effective window leaves less than this share of the prior outside.")
        .flag("by-class", by_class, "Write totals by class in place of heads.")
        .flag("curves", curves, "Write the curves by distance, for plotting.")
        .add("points", points, cli::integer({2, 1'000'000}), "N", "Distances to a curve, about.");
  }

  void declare_fit(cli::OptionTable& options) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const PriorFamily& family : prior_families()) names.emplace_back(family.name, family.name);
    const auto ssmax_names = eval::fit_ssmax_names();
    const auto& error_kinds = eval::error_kind_names();
    options.group("For fit")
        .add("families", families, cli::list(cli::choice<std::string>(names)), "NAME,...",
             "What to fit, of uniform, laplace, gaussian, ggd and relaxed.")
        .add("mu", mu, cli::optional(cli::real(), "free"), "TOKENS",
             "The location, below 0 for what lies back (-3 peaks three tokens before the query), or free to be fitted "
             "too.")
        .add("ssmax", ssmax, cli::choice<eval::FitSsmax>({ssmax_names.begin(), ssmax_names.end()}),
             "What multiplies the fitted prior: as the model has it, nothing, or ln n, for a model with ssmax full.")
        .add("errors", errors, cli::choice<ErrorKind>({error_kinds.begin(), error_kinds.end()}),
             "Standard errors by the scatter of windows or, slower, by fits to samples of windows, where there are at "
             "least 8; or by Fisher information.")
        .flag("all-families", all_families, "Write a row for each family, not for the best alone.")
        .add("queries", queries, cli::count(), "N", "Queries of a window that are looked at.")
        .add("max-tokens", max_tokens, cli::or_word(cli::count(2), "all", 0), "TOKENS",
             "Read no more than the first so many tokens.")
        .add("bos", bos, bos_type(), "Whether documents begin with BOS, as in training; auto does.");
  }

  // Some of shape, scale, loc, ssmax.
  static cli::ValueType<train::TuneRequest> learning_type() {
    using Request = train::TuneRequest;
    static const std::vector<std::pair<std::string, bool Request::*>> parts = {
        {"shape", &Request::shape}, {"scale", &Request::scale}, {"loc", &Request::loc}, {"ssmax", &Request::ssmax}};
    const auto parse = [](std::string_view text) {
      Request which;
      for (const auto& [name, part] : parts) which.*part = false;
      const auto words = cli::list(cli::choice<bool Request::*>(parts)).parse(text);
      for (bool Request::*part : words) which.*part = true;
      return which;
    };
    const auto format = [](const Request& which) {
      std::string text;
      for (const auto& [name, part] : parts) {
        if (which.*part) text += (text.empty() ? "" : ",") + name;
      }
      return text;
    };
    return {.metavar = "shape,scale,loc,ssmax",
            .parse = parse,
            .format = format,
            .words = {"shape", "scale", "loc", "ssmax"}};
  }

  void declare_tune(cli::OptionTable& options) {
    options.group("For tune")
        .flag("from-alibi", from_alibi, "Begin with the priors of ALiBi; for an alibi model that changes nothing.")
        .add("train-prior", learns, learning_type(), "What learns; ssmax is the factor s, where the model has it.")
        .add("steps", tune.steps, cli::integer({1, 10'000'000}), "N", "Optimizer steps.")
        .add("lr", tune.learning_rate, cli::real(cli::above(0)), "X", "Peak learning rate.")
        .add("batch-tokens", batch_tokens, cli::integer({2, Index{1} << 30}), "TOKENS", "Tokens in a step.")
        .add("val", tune.val, cli::optional(cli::path(), "none"), "SHARD",
             "Validation data; without it the last tenth of the windows, at most four steps' worth, is kept for that.")
        .add("val-every", tune.val_every, cli::or_word(cli::count(), "auto", 0), "N",
             "Steps between validations; auto makes ten of them. The best priors are kept.")
        .add("border-targets", tune.border_targets, cli::yes_no(),
             "Whether targets across a document's border count: yes as the authors do.")
        .add("passkey", passkey, cli::optional(cli::length(), "none"), "TOKENS",
             "Keep the priors that find most passkeys in prompts of this length, and stop when all are found.")
        .add("passkey-samples", passkey_samples, cli::integer({1, 10'000}), "N", "Prompts for that.");
  }

  void declare_init(cli::OptionTable& options) {
    const auto values = cli::or_word(cli::text(), "none", "");
    const auto words = cli::choice<std::string>({{"authors", "authors"}, {"spread", "spread"}});
    options.group("For init")
        .add("prior-init", prior_init, cli::or_word(words, "own", ""), "authors|spread|own",
             "Without a table: as ALiBi, spread over heads with roles, or the model's own.")
        .add("shape-init", formulas.shape, values, "VALUES",
             "Then shapes (beta) instead of those: a number, a list by head, linear:A:B or normal:MEAN:SD.")
        .add("scale-init", formulas.scale, values, "VALUES",
             "Scales likewise, as stored (the logarithm of a slope); or slopes, those of ALiBi.")
        .add("loc-init", formulas.loc, values, "VALUES", "Locations likewise, as stored (mu = 2 sinh(loc)).");
  }
};

}  // namespace bam
