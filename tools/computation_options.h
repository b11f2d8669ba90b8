// How an evaluation computes: the options that all evaluation tools share.
#pragma once

#include <cstdio>
#include <optional>

#include "base/log.h"
#include "base/memory.h"
#include "cli/run_tool.h"
#include "eval/reading.h"
#include "eval/run_stamp.h"

namespace bam {

struct ComputationOptions {
  Products dtype = Products::real;
  Index chunk = eval::kDefaultChunk;
  double eps = 1e-6;
  std::optional<Length> window;
  RopeScaling rope_scaling;
  std::optional<Index> max_memory;

  cli::OptionGroup& declare(cli::OptionTable& options) {
    return options.group("Computation")
        .add("dtype", dtype, cli::choice<Products>({products_names().begin(), products_names().end()}),
             "Type that the matrix products read.")
        .add("chunk", chunk, cli::count(), "TOKENS", "Tokens read at a time.")
        .add("eps", eps, cli::real(cli::between(0, 0.5)), "EPS",
             "Leave out blocks of keys that are proven to hold, together, less than EPS of a row's attention; 0 leaves "
             "out nothing.")
        .add("window", window, cli::optional(cli::length(), "none"), "TOKENS",
             "Keys that a query sees, itself included; 1x, the training context, makes RoPE local.")
        .add("rope-scaling", rope_scaling, rope_scaling_type(),
             "Stretches rotary angles by a factor F: position interpolation, a larger theta, or YaRN.")
        .add("max-memory", max_memory, cli::optional(cli::bytes(1), "available"), "BYTES",
             "Refuse what would take more memory.");
  }

  // The model, reading as these options say.
  LoadedModel load(const std::string& path, Backend& backend) const {
    LoadedModel loaded = load_model(path, backend, dtype);
    const Index keys = window ? eval::tokens_of(*window, loaded, "--window") : 0;
    loaded.model->set_reading({.skip_eps = eps, .window = keys, .rope_scaling = rope_scaling});
    return loaded;
  }

  // What every row says of the run.
  eval::RunStamp stamp(const cli::Context& context, const LoadedModel& loaded, const Backend& backend) const {
    return {std::to_string(context.seed), dtype_name(),  format_reading(loaded.model->reading()),
            std::string(backend.name()),  loaded.digest, context.version};
  }

  double memory_bytes() const { return max_memory ? static_cast<double>(*max_memory) : available_memory_bytes(); }
  // What was left out: the share of all pairs, and with -v by layer and head.
  void report(const SkipCounts& counts) const {
    if (eps == 0 || counts.visible.empty()) return;
    log::info("skipped " + percent(counts.share()) + " of attention at --eps " + format_real(eps));
    for (std::size_t layer = 0; layer < counts.visible.size(); ++layer) {
      std::string heads;
      for (std::size_t head = 0; head < counts.skipped[layer].size(); ++head) {
        heads.append(" ").append(percent(counts.share(layer, head)));
      }
      log::detail("skipped in layer " + std::to_string(layer) + ", by head:" + heads);
    }
  }

  static cli::ValueType<RopeScaling> rope_scaling_type() {
    return {.metavar = "none|linear:F|ntk:F|yarn:F",
            .parse = [](std::string_view text) { return parse_rope_scaling(text); },
            .format = [](const RopeScaling& scaling) { return format_rope_scaling(scaling); },
            .words = {"none"}};
  }

  static std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
  }

  std::string dtype_name() const { return std::string(name_in(products_names(), dtype)); }
};

// The choice of --bos, with what it means to the tool.
inline cli::ValueType<eval::BosUse> bos_type() {
  return cli::choice<eval::BosUse>({eval::bos_use_names().begin(), eval::bos_use_names().end()});
}

}  // namespace bam
