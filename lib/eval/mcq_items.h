// Multiple-choice questions, in the files that their authors publish, worded as lm-evaluation-harness does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config.h"

namespace bam::eval {

enum class McqTask : std::uint8_t { arc_easy, arc_challenge, hellaswag, piqa, mmlu };
const NameTable<McqTask>& mcq_task_names();

struct McqItem {
  std::string id;
  std::string subject;               // mmlu; else empty
  std::string prompt;                // what stands before " CHOICE"
  std::vector<std::string> choices;  // at least two, none empty
  Index gold = 0;
  friend bool operator==(const McqItem&, const McqItem&) = default;
};

// All items of the files, in order:
//   arc_*      JSON lines {id, question, choices {text, label}, answerKey}, or {id, question {stem, choices},
//   answerKey} hellaswag  JSON lines {activity_label, ctx_a, ctx_b, endings, label} piqa       JSON lines {goal, sol1,
//   sol2} with label, or with the labels, a line each, in labels_file mmlu       JSON lines {question, subject,
//   choices, answer}; or lines of question,A,B,C,D,letter separated by commas,
//              whose subject is in the file's name (SUBJECT_test.csv)
// "-" is standard input; zstd and gzip are undone. Throws Error "FILE:LINE: item N: ...", N from 0 in its file.
std::vector<McqItem> read_mcq_items(McqTask task, const std::vector<std::string>& files,
                                    const std::optional<std::string>& labels_file = {});

// What stands before the examples: for mmlu a line about the subject, else nothing.
std::string mcq_description(McqTask task, const std::string& subject);

// The harness's way with the texts of HellaSwag.
std::string clean_hellaswag(std::string_view text);

}  // namespace bam::eval
