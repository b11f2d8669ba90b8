// boxes: text io base
// Vectors of published tokenizers, which are not part of these sources: $BAM_TEST_DATA/tokenizers and /corpora.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "io/sha256.h"
#include "io/stream.h"
#include "support/catch.h"
#include "support/token_vectors.h"
#include "text/tokenizer.h"

using namespace bam::test;
using namespace bam::text;

namespace {

std::optional<std::string> data_folder() {
  const char* folder = std::getenv("BAM_TEST_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

std::string corpus(const std::string& folder, const std::string& file) {
  const auto source = bam::io::open_decompressed(folder + "/corpora/" + file + ".zst");
  return bam::io::read_all(*source, 100 << 20);
}

std::string text_of(simdjson::simdjson_result<simdjson::dom::element> element) {
  return std::string(std::string_view(element));
}

std::string digest_of(const std::vector<Token>& ids) {
  std::string bytes;
  bytes.reserve(4 * ids.size());
  for (const Token id : ids) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift);
  }
  return bam::io::sha256_hex(bytes);
}

}  // namespace

TEST_CASE("tokenizers: Mistral v1 and v3 agree with their golden vectors") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  for (const std::string name : {"mistral-v1", "mistral-v3"}) {
    const auto tokenizer = open_tokenizer(*folder + "/tokenizers/" + name + ".model");
    const auto vectors = read_token_vectors(*folder + "/tokenizers/golden/" + name + ".jsonl");
    REQUIRE(vectors.size() > 200);
    for (const TokenVector& vector : vectors) {
      INFO(name << " " << vector.category << ": " << vector.bytes);
      CHECK(tokenizer->encode(vector.bytes) == vector.ids);
      CHECK(tokenizer->decode(vector.ids) == vector.decoded);
    }
  }
}

TEST_CASE("tokenizers: whole books have the ids that the SentencePiece library gave them in one piece") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  int compared = 0;
  simdjson::dom::parser parser;
  for (simdjson::dom::element line : parser.load_many(*folder + "/tokenizers/golden/corpus-digests.jsonl")) {
    const std::string name = text_of(line["tokenizer"]);
    if (!name.starts_with("mistral") && !name.starts_with("tiny/")) continue;
    const auto tokenizer = open_tokenizer(*folder + "/tokenizers/" + name + ".model");
    const std::string text = corpus(*folder, text_of(line["file"]));
    const std::vector<Token> ids = tokenizer->encode(text);
    INFO(name << " " << text_of(line["file"]));
    CHECK(ids.size() == std::uint64_t(line["n_tokens"]));
    CHECK(digest_of(ids) == text_of(line["sha256_u32le"]));
    CHECK(tokenizer->decode(ids) == text);
    ++compared;
  }
  CHECK(compared >= 6);
}
