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

// Those that need no data of the user's.
inline std::vector<Index> standard_ruler_tasks() {
  std::vector<Index> numbers;
  for (const eval::RulerTask& task : eval::ruler_tasks()) {
    if (task.kind != eval::RulerKind::questions) numbers.push_back(std::ssize(numbers));
  }
  return numbers;
}

// Names of tasks, by number; "standard" stands for standard_ruler_tasks.
inline cli::ValueType<std::vector<Index>> ruler_tasks_type() {
  std::vector<std::pair<std::string, Index>> names;
  for (const eval::RulerTask& task : eval::ruler_tasks()) {
    names.emplace_back(std::string(task.name), std::ssize(names));
  }
  const cli::ValueType<std::vector<Index>> listed = cli::list(cli::choice<Index>(names));
  cli::ValueType<std::vector<Index>> type = listed;
  type.words.push_back("standard");
  type.parse = [listed](std::string_view text) {
    return text == "standard" ? standard_ruler_tasks() : listed.parse(text);
  };
  type.format = [listed](const std::vector<Index>& tasks) {
    return tasks == standard_ruler_tasks() ? std::string("standard") : listed.format(tasks);
  };
  return type;
}

struct RulerToolOptions {
  std::string model;
  std::vector<std::string> files;
  std::vector<Index> tasks = standard_ruler_tasks();
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
        .add("tasks", tasks, ruler_tasks_type(), "TASK,...",
             "Which of RULER's tasks; standard is all but qa_1 and qa_2.")
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
        .add("punkt", material.punkt, maybe_path("none"), "DIR",
             "NLTK's punkt_tab/english, to cut essays into sentences as RULER does.")
        .add("squad", material.squad, maybe_path("none"), "FILE", "SQuAD's dev-v2.0.json, for qa_1.")
        .add("hotpot", material.hotpot, maybe_path("none"), "FILE", "hotpot_dev_distractor_v1.json, for qa_2.")
        .add("data", data, maybe_path("none"), "FILE", "Ask the samples of this RULER file; --tasks names its task.")
        .add("bos", bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.");
    computation.declare(options).flag("share-prefix", share_prefix,
                                      "Read once what neighbouring prompts have in common.");
    output.declare(options);
    items.declare(options, "samples")
        .add("append", append, cli::or_word(cli::path(cli::PathUse::added_to), "none", ""), "FILE",
             "Add each sample's row to FILE as it is answered; samples whose rows are there are not asked again.")
        .flag("dump", dump, "Write the samples as RULER's JSON lines, and ask the model nothing.");
    table.declare(options);
  }
};

}  // namespace bam
