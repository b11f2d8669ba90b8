// boxes: eval model text io kernels base
// Samples that RULER's own generators wrote, which are not part of these sources: $BAM_TEST_DATA/benchmarks/ruler.
#include <simdjson.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "eval/ruler_metric.h"
#include "eval/ruler_samples.h"
#include "io/sha256.h"
#include "io/stream.h"
#include "support/catch.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::string data_folder() {
  const char* folder = std::getenv("BAM_TEST_DATA");
  return folder == nullptr ? "" : folder;
}

std::string read(const std::string& path) {
  const auto source = io::open_decompressed(path);
  return io::read_all(*source, Index{1} << 30);
}

const RulerTask& task_of(std::string_view name) {
  for (const RulerTask& task : ruler_tasks()) {
    if (task.name == name) return task;
  }
  throw std::logic_error("no such task");
}

class Generators {
 public:
  explicit Generators(const std::string& folder)
      : material_({.words = folder + "/benchmarks/ruler", .essay = {}, .squad = {}, .hotpot = {}, .punkt = {}}),
        tokenizer_(text::open_tokenizer(folder + "/tokenizers/mistral-v3.model")) {}

  std::unique_ptr<RulerGenerator> make(std::string_view task, Index length, std::uint32_t seed) {
    return make_ruler_generator(task_of(task), material_, *tokenizer_, length, seed);
  }
  std::string digest(std::string_view task, Index length, int count, std::uint32_t seed) {
    const auto generator = make(task, length, seed);
    std::string lines;
    for (int i = 0; i < count; ++i) lines += generator->next().json_line() + "\n";
    return io::sha256_hex(lines).substr(0, 16);
  }

 private:
  RulerMaterial material_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
};

}  // namespace

TEST_CASE("ruler: samples are those of the original generators, byte for byte") {
  const std::string folder = data_folder();
  if (folder.empty()) return skip("BAM_TEST_DATA is not set");
  Generators generators(folder);
  std::map<std::pair<std::string, Index>, std::unique_ptr<RulerGenerator>> open;
  std::string lines = read(folder + "/benchmarks/ruler/ruler-golden.mistral-v3.seed42.jsonl.zst");
  int compared = 0;
  simdjson::dom::parser parser;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    begin = end + 1;
    const simdjson::dom::element item = parser.parse(line);
    const std::string task(item["task"].get_c_str().value());
    const Index length = item["max_seq_length"].get_int64();
    auto& generator = open[{task, length}];
    if (!generator) generator = generators.make(task, length, 42);
    // The file has two fields more, in front.
    const std::string ours = generator->next().json_line();
    CHECK(line.ends_with(ours.substr(1)));
    ++compared;
  }
  CHECK(compared == 45);
}

TEST_CASE("ruler: samples of further tasks, lengths and seeds") {
  const std::string folder = data_folder();
  if (folder.empty()) return skip("BAM_TEST_DATA is not set");
  Generators generators(folder);
  CHECK(generators.digest("cwe", 2048, 3, 7) == "9b77c269da2c62aa");
  CHECK(generators.digest("cwe", 8192, 2, 42) == "0d54a340512a5e5a");
  CHECK(generators.digest("niah_multikey_2", 2048, 3, 7) == "3952793e65c10e09");
  CHECK(generators.digest("niah_single_1", 8192, 2, 1) == "61845d49cf71e19d");
  CHECK(generators.digest("vt", 8192, 2, 42) == "48b0f98472ff652e");
  const KeyNames names(read_word_lists(folder + "/benchmarks/ruler"));
  CHECK(names.size() == 6171620);
  CHECK(names[0] == "Early-ATM");
  CHECK(names[6171619] == "zonked-zucchini");
}

TEST_CASE("ruler: scores are those of the original functions") {
  const std::string folder = data_folder();
  if (folder.empty()) return skip("BAM_TEST_DATA is not set");
  simdjson::dom::parser parser;
  const std::string lines = read(folder + "/benchmarks/ruler/metric.golden.jsonl");
  int compared = 0;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const simdjson::dom::element item = parser.parse(lines.substr(begin, end - begin));
    begin = end + 1;
    double all = 0;
    double part = 0;
    std::size_t i = 0;
    const simdjson::dom::array references = item["refs"];
    for (const simdjson::dom::element prediction : item["preds"].get_array()) {
      std::vector<std::string> wanted;
      for (const simdjson::dom::element reference : references.at(i)) {
        wanted.emplace_back(reference.get_string().value());
      }
      const std::string text(prediction.get_string().value());
      CHECK(clean_prediction(text) == item["preds_postprocessed"].at(i).get_string().value());
      all += ruler_score(RulerMatch::all, text, wanted);
      part += ruler_score(RulerMatch::part, text, wanted);
      ++i;
    }
    const auto percent = [i](double sum) { return std::round(100 * sum / static_cast<double>(i) * 100) / 100; };
    CHECK(percent(all) == Approx(item["string_match_all"].get_double().value()));
    CHECK(percent(part) == Approx(item["string_match_part"].get_double().value()));
    ++compared;
  }
  CHECK(compared == 13);
}
