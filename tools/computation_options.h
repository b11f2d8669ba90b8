// How an evaluation computes: the options that all evaluation tools share.
#pragma once

#include <optional>

#include "base/memory.h"
#include "cli/run_tool.h"
#include "eval/reading.h"

namespace bam {

struct ComputationOptions {
  Products dtype = Products::real;
  Index chunk = eval::kDefaultChunk;
  std::optional<Index> max_memory;

  cli::OptionGroup& declare(cli::OptionTable& options) {
    return options.group("Computation")
        .add("dtype", dtype, cli::choice<Products>({products_names().begin(), products_names().end()}),
             "Type that the matrix products read.")
        .add("chunk", chunk, cli::count(), "TOKENS", "Tokens read at a time.")
        .add("max-memory", max_memory, cli::optional(cli::bytes(1), "available"), "BYTES",
             "Refuse what would take more memory.");
  }

  double memory_bytes() const { return max_memory ? static_cast<double>(*max_memory) : available_memory_bytes(); }
  std::string dtype_name() const { return std::string(name_in(products_names(), dtype)); }
};

// The choice of --bos, with what it means to the tool.
inline cli::ValueType<eval::BosUse> bos_type() {
  return cli::choice<eval::BosUse>({eval::bos_use_names().begin(), eval::bos_use_names().end()});
}

}  // namespace bam
