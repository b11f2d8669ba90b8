// boxes: eval io base
// Questions that others publish: multiple choice, RULER's own samples, and what RULER makes samples of.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "eval/mcq_items.h"
#include "eval/ruler.h"
#include "memory_file.h"

namespace {

using namespace bam;

void read_choices(std::size_t task, const std::string& bytes) {
  const test::MemoryFile file(bytes);
  for (const eval::McqItem& item : eval::read_mcq_items(eval::mcq_task_names()[task].second, {file.path()})) {
    if (item.choices.size() < 2 || item.gold < 0 || item.gold >= std::ssize(item.choices)) abort();
  }
}

void read_samples(std::size_t task, const std::string& bytes) {
  const test::MemoryFile file(bytes);
  const auto& tasks = eval::ruler_tasks();
  for (const eval::RulerPrompt& prompt : eval::read_ruler_data(file.path(), tasks[task % tasks.size()])) {
    if (prompt.outputs.empty()) abort();
  }
}

void read_material(std::size_t kind, const std::string& bytes) {
  const test::MemoryFile file(bytes);
  eval::RulerMaterial material(
      {.words = {}, .essay = file.path(), .squad = file.path(), .hotpot = file.path(), .punkt = {}});
  if (kind == 0) {
    (void)material.essay_words();
    return;
  }
  const auto& tasks = eval::ruler_tasks();
  const auto task = std::find_if(tasks.begin(), tasks.end(), [&](const eval::RulerTask& each) {
    return each.name == (kind == 1 ? "qa_1" : "qa_2");
  });
  const eval::RulerMaterial::Questions& questions = material.questions(*task);
  for (const eval::RulerMaterial::Question& question : questions.questions) {
    for (const Index document : question.documents) (void)questions.documents.at(static_cast<std::size_t>(document));
    for (const Index document : question.nearby) (void)questions.documents.at(static_cast<std::size_t>(document));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t kind = data[0] % 32;
  try {
    if (kind < 5) {
      read_choices(kind, bytes);
    } else if (kind < 8) {
      read_material(kind - 5, bytes);
    } else {
      read_samples(kind - 8, bytes);
    }
  } catch (const Error&) {
  }
  return 0;
}
