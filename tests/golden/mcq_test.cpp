// boxes: eval model text io kernels base
// Items of published tests, which are not part of these sources: $BAM_TEST_DATA/benchmarks/mc.
#include <simdjson.h>

#include <cstdlib>

#include "eval/mcq_items.h"
#include "support/catch.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::string data_folder() {
  const char* folder = std::getenv("BAM_TEST_DATA");
  return folder == nullptr ? "" : std::string(folder) + "/benchmarks/mc/";
}

}  // namespace

TEST_CASE("mcq: HellaSwag comes out as the harness prepares it") {
  const std::string folder = data_folder();
  if (folder.empty()) return skip("BAM_TEST_DATA is not set");
  const std::string name = folder + "hellaswag.original-fields.12";
  const std::vector<McqItem> items = read_mcq_items(McqTask::hellaswag, {name + ".jsonl"});
  simdjson::dom::parser parser;
  std::size_t i = 0;
  for (const simdjson::dom::element expected : parser.load_many(name + ".expected-preprocessed.jsonl")) {
    REQUIRE(i < items.size());
    const McqItem& item = items[i++];
    CHECK(item.id == std::to_string(expected["ind"].get_int64().value()));
    CHECK(item.prompt == expected["query"].get_string().value());
    CHECK(item.gold == expected["gold"].get_int64().value());
    std::vector<std::string> choices;
    for (const simdjson::dom::element choice : expected["choices"].get_array()) {
      choices.emplace_back(choice.get_string().value());
    }
    CHECK(item.choices == choices);
  }
  CHECK(i == 12);
}

TEST_CASE("mcq: published files are read whole") {
  const std::string folder = data_folder();
  if (folder.empty()) return skip("BAM_TEST_DATA is not set");
  const auto count = [&](McqTask task, const std::string& file) {
    return read_mcq_items(task, {folder + file}).size();
  };
  CHECK(count(McqTask::arc_easy, "arc_easy.validation.200.jsonl") == 200);
  CHECK(count(McqTask::arc_challenge, "arc_challenge.validation.200.jsonl") == 200);
  CHECK(count(McqTask::mmlu, "mmlu.test.200.jsonl") == 200);
  CHECK(count(McqTask::mmlu, "mmlu.dev.40.jsonl") == 40);
  CHECK(read_mcq_items(McqTask::piqa, {folder + "piqa.valid.100.jsonl"}, folder + "piqa.valid-labels.100.lst") ==
        read_mcq_items(McqTask::piqa, {folder + "piqa.hf-form.100.jsonl"}));
}
