// The options of bam-ppl.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_tool.h"
#include "computation_options.h"
#include "item_options.h"
#include "text/documents.h"

namespace bam {

struct PplOptions {
  std::string model;
  std::vector<std::string> files;
  Length context{1, true};
  std::optional<Length> bin;
  std::optional<Length> stride;
  bool rolling = false;
  Index max_tokens = 0;
  eval::BosUse bos = eval::BosUse::automatic;
  text::InputOptions input;
  ItemOptions items;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0,
                     "Token shards, or text, plain or .zst or .gz; none or - is standard input.");
    options.group("Windows")
        .add("context", context, cli::length(2), "TOKENS", "Tokens in a window; 4x is four training contexts.")
        .add("bin", bin, cli::optional(cli::length(), "auto"), "TOKENS",
             "Tokens in a bin, each bin a row; auto makes eight bins.")
        .add("stride", stride, cli::optional(cli::length(), "none"), "TOKENS",
             "Slide a window by this many tokens and score every token once, in place of bins by position.")
        .flag("rolling", rolling,
              "Score every document by itself, in windows that do not overlap, for perplexities by word and byte.")
        .add("max-tokens", max_tokens, cli::or_word(cli::count(2), "all", 0), "TOKENS",
             "Read no more than the first so many tokens.");
    options.group("Input")
        .add("bos", bos, bos_type(),
             "Whether documents begin with BOS, as in training (auto does); no leaves BOS and EOS out of shards too, "
             "and documents run together.")
        .add("input", input.format,
             cli::choice<text::InputFormat>({{"auto", text::InputFormat::automatic},
                                             {"text", text::InputFormat::text},
                                             {"lines", text::InputFormat::lines},
                                             {"jsonl", text::InputFormat::jsonl}}),
             "What a document is in a file that is not a shard; auto goes by name, then content.")
        .add("field", input.field, cli::text(), "NAME", "The field of a JSON line that is the document.");
    computation.declare(options);
    output.declare(options);
    items.declare(options, "windows (documents with --rolling)");
    table.declare(options);
  }
};

}  // namespace bam
