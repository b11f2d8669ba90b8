// The options of bam-mcq.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/mcq.h"
#include "item_options.h"

namespace bam {

// --task names the task, and a share of the items where it looks like one; it may be given twice.
struct TaskOrShare {
  std::optional<eval::McqTask> task;
  std::optional<eval::Share> share;
};

inline cli::ValueType<std::vector<TaskOrShare>> mcq_task_type() {
  const auto names = cli::choice<eval::McqTask>({eval::mcq_task_names().begin(), eval::mcq_task_names().end()});
  cli::ValueType<TaskOrShare> type{.metavar = "TASK|I/N"};
  type.words = names.words;
  type.parse = [names](std::string_view text) {
    TaskOrShare value;
    if (text.find('/') == std::string_view::npos) {
      value.task = names.parse(text);
    } else {
      value.share = eval::parse_share(text);
    }
    return value;
  };
  type.format = [names](const TaskOrShare& value) {
    if (value.task) return names.format(*value.task);
    return share_type().format(value.share.value_or(eval::Share{}));
  };
  return cli::repeated(type);
}

struct McqToolOptions {
  std::string model;
  std::vector<std::string> files;
  std::vector<TaskOrShare> tasks;
  Index shots = 0;
  std::vector<std::string> shots_from;
  std::string labels;
  Index limit = 0;
  Index context = 0;
  eval::BosUse bos = eval::BosUse::automatic;
  ItemOptions items;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0, "Items as published; none or - is standard input.");
    options.group("Task")
        .add("task", tasks, mcq_task_type(), "TASK|I/N",
             "What the items are: arc_easy, arc_challenge, hellaswag, piqa or mmlu. Given again as I/N: do only the "
             "I-th "
             "of N shares of the items, for job arrays.")
        .add("shots", shots, cli::count(0), "N", "Solved examples in front of each item.")
        .add("shots-from", shots_from, cli::repeated(cli::path()), "FILE",
             "Where examples are drawn from: the training or, for mmlu, the dev items; none draws from the items "
             "themselves.")
        .add("labels", labels, cli::or_word(cli::path(), "none", ""), "FILE", "The labels of piqa, a line each.")
        .add("limit", limit, cli::or_word(cli::count(), "all", 0), "N", "Only the first N items.")
        .add("context", context, cli::or_word(cli::count(), "none", 0), "TOKENS",
             "Cut what is longer from the left to so many tokens.")
        .add("bos", bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.");
    computation.declare(options);
    output.declare(options);
    items.declare(options, "items", false);
    table.declare(options);
  }
};

}  // namespace bam
