// boxes: eval model text io kernels base
// Samples that RULER's own generators wrote, which are not part of these sources: $BAM_TEST_DATA/benchmarks/ruler.
#include <simdjson.h>

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
      : material_({.words = folder + "/benchmarks/ruler", .essay = {}, .squad = {}, .hotpot = {}}),
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
