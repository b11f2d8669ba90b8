// The options of bam-ruler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/ruler.h"
#include "item_options.h"

namespace bam {

inline cli::ValueType<Index> ruler_task_type() {
  std::vector<std::pair<std::string, Index>> names;
  for (const eval::RulerTask& task : eval::ruler_tasks()) {
    names.emplace_back(std::string(task.name), std::ssize(names));
  }
  cli::ValueType<Index> type = cli::choice<Index>(names);
  type.metavar = "TASK";
  return type;
}

struct RulerToolOptions {
  std::string model;
  std::vector<std::string> files;
  std::vector<Index> tasks = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<Length> lengths = {{4096, false}, {8192, false}, {16384, false}, {32768, false}};
  Index samples = 100;
  std::optional<eval::Haystack> haystack;
  eval::RulerMaterial::Files material;
  std::string data;
  std::string append;
  eval::BosUse bos = eval::BosUse::automatic;
  bool dump = false;
  bool share_prefix = true;
  ItemOptions items;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    const auto maybe_path = [](const std::string& none) { return cli::or_word(cli::path(), none, ""); };
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0, "With --merge, further tables.");
    options.group("Task")
        .add("tasks", tasks, cli::list(ruler_task_type()), "TASK,...", "Which of RULER's tasks.")
        .add("lengths", lengths, cli::list(cli::length()), "TOKENS,...",
             "Most tokens of prompt and answer together; 64x is 64 training contexts.")
        .add("samples", samples, cli::integer({1, 1'000'000}), "N", "Samples of each task and length.")
        .add("haystack", haystack,
             cli::optional(cli::choice<eval::Haystack>({eval::haystack_names().begin(), eval::haystack_names().end()}),
                           "own"),
             "What needles lie in, in place of what each task has.")
        .add("words", material.words, maybe_path("built-in"), "DIR",
             "A folder with the word lists that RULER draws from.")
        .add("essay", material.essay, maybe_path("built-in"), "FILE",
             "The text of essay haystacks, plain or as RULER's JSON.")
        .add("squad", material.squad, maybe_path("none"), "FILE", "SQuAD's dev-v2.0.json, for qa_1.")
        .add("hotpot", material.hotpot, maybe_path("none"), "FILE", "hotpot_dev_distractor_v1.json, for qa_2.")
        .add("data", data, maybe_path("none"), "FILE", "Ask the samples of this RULER file; --tasks names its task.")
        .add("bos", bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.");
    computation.declare(options).flag("share-prefix", share_prefix,
                                      "Read once what neighbouring prompts have in common.");
    output.declare(options);
    items.declare(options, "samples")
        .add("append", append, cli::or_word(cli::path(cli::PathUse::none), "none", ""), "FILE",
             "Add each sample's row to FILE as it is answered; samples whose rows are there are not asked again.")
        .flag("dump", dump, "Write the samples as RULER's JSON lines, and ask the model nothing.");
    table.declare(options);
  }
};

}  // namespace bam
