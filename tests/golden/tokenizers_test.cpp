// boxes: text io base
// Vectors of published tokenizers, which are not part of these sources: $BAM_TEST_DATA/tokenizers and /corpora.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "io/sha256.h"
#include "io/stream.h"
#include "support/catch.h"
#include "support/token_vectors.h"
#include "text/characters.h"
#include "text/formats.h"
#include "text/huggingface_files.h"
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

// The tokenizer file of a golden file.
struct Published {
  std::string golden;
  std::string file;
};
const std::vector<Published> kPublished = {
    {"mistral-v1", "mistral-v1.model"},
    {"mistral-v3", "mistral-v3.model"},
    {"gpt2", "gpt2-vocab.json"},
    {"r50k_base", "r50k_base.tiktoken"},
    {"cl100k_base", "cl100k_base.tiktoken"},
    {"dolma2.tokenizer", "dolma2.tokenizer.json"},
};

// WHATWG: what the vectors of byte-level tokenizers say about bytes that are not UTF-8.
std::string decoded_of(const TokenVector& vector, const Tokenizer& tokenizer) {
  return tokenizer.kind() == "sentencepiece" ? vector.decoded : repaired_utf8(vector.decoded);
}

}  // namespace

TEST_CASE("tokenizers: published tokenizers agree with their golden vectors") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  int with_special = 0;
  for (const Published& published : kPublished) {
    const std::string path = *folder + "/tokenizers/" + published.file;
    const auto plain = open_tokenizer(path);
    const auto special = open_tokenizer(path, "", true);
    const auto vectors = read_token_vectors(*folder + "/tokenizers/golden/" + published.golden + ".jsonl");
    REQUIRE(vectors.size() > 200);
    for (const TokenVector& vector : vectors) {
      INFO(published.golden << " " << vector.category << ": " << vector.bytes);
      const bool is_huggingface = plain->kind() == "huggingface";
      // The vectors of SentencePiece never look for special tokens, those of Hugging Face always do.
      if (plain->kind() != "sentencepiece") CHECK(special->encode(vector.bytes) == vector.special_ids);
      if (!is_huggingface || special->encode(vector.bytes) == plain->encode(vector.bytes)) {
        CHECK(plain->encode(vector.bytes) == vector.ids);
      } else {
        CHECK(plain->decode(plain->encode(vector.bytes)) == vector.bytes);
      }
      if (special->encode(vector.bytes) != plain->encode(vector.bytes)) ++with_special;
      CHECK(plain->decode(vector.ids) == decoded_of(vector, *plain));
      if (plain->kind() != "sentencepiece") CHECK(special->decode(vector.special_ids) == decoded_of(vector, *plain));
    }
  }
  CHECK(with_special > 0);
}

TEST_CASE("tokenizers: whole books have the ids of the original implementations") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  int compared = 0;
  simdjson::dom::parser parser;
  for (simdjson::dom::element line : parser.load_many(*folder + "/tokenizers/golden/corpus-digests.jsonl")) {
    const std::string name = text_of(line["tokenizer"]);
    std::string file = name + ".model";
    for (const Published& published : kPublished) {
      if (published.golden == name) file = published.file;
    }
    if (name.starts_with("gpt-neox")) continue;  // its file is not there
    const auto tokenizer = open_tokenizer(*folder + "/tokenizers/" + file);
    const std::string text = corpus(*folder, text_of(line["file"]));
    const std::vector<Token> ids = tokenizer->encode(text);
    INFO(name << " " << text_of(line["file"]));
    CHECK(ids.size() == std::uint64_t(line["n_tokens"]));
    CHECK(digest_of(ids) == text_of(line["sha256_u32le"]));
    CHECK(tokenizer->decode(ids) == text);
    ++compared;
  }
  CHECK(compared >= 12);
}

TEST_CASE("tokenizers: published tokenizers that a shard carries are those of the file") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  const std::string text = corpus(*folder, "udhr-multilingual.txt") + "<|endoftext|></s> [INST]";
  for (const Published& published : kPublished) {
    INFO(published.file);
    const auto tokenizer = open_tokenizer(*folder + "/tokenizers/" + published.file);
    const bam::io::ShardHeader header = shard_header(*tokenizer);
    const auto carried = make_tokenizer(header, tokenizer->files(), "carried");
    CHECK(carried->kind() == tokenizer->kind());
    CHECK(carried->name() == tokenizer->name());
    CHECK(carried->sha256() == tokenizer->sha256());
    CHECK(carried->vocab_size() == tokenizer->vocab_size());
    CHECK(carried->bos_id() == tokenizer->bos_id());
    CHECK(carried->eos_id() == tokenizer->eos_id());
    const std::vector<Token> ids = tokenizer->encode(text);
    CHECK(carried->encode(text) == ids);
    CHECK(carried->decode(ids) == tokenizer->decode(ids));
    // A rank file is known by its digest: with one bit changed it is none.
    if (carried->kind() != "tiktoken") continue;
    std::vector<bam::io::TokenizerFile> changed = tokenizer->files();
    changed[0].bytes[changed[0].bytes.size() / 2] ^= 1;
    CHECK_THROWS_AS(make_tokenizer(header, changed, "carried"), bam::Error);
  }
}

TEST_CASE("tokenizers: published tokenizers keep their ids as a tokenizer.json") {
  const auto folder = data_folder();
  if (!folder) return skip("BAM_TEST_DATA is not set");
  for (const Published& published : kPublished) {
    INFO(published.file);
    const auto ours = open_tokenizer(*folder + "/tokenizers/" + published.file);
    if (ours->kind() == "huggingface") continue;
    std::string problem;
    const std::vector<bam::io::TokenizerFile> files = huggingface_files(*ours, problem);
    REQUIRE(problem.empty());
    REQUIRE(files.front().name == "tokenizer.json");
    const auto theirs = make_huggingface(files.front().bytes, {"exported", "exported", {}, false});
    CHECK(theirs->bos_id() == ours->bos_id());
    CHECK(theirs->vocab_size() == ours->vocab_size());
    for (const TokenVector& vector :
         read_token_vectors(*folder + "/tokenizers/golden/" + published.golden + ".jsonl")) {
      if (vector.category == "invalid_utf8") continue;
      INFO(vector.bytes);
      CHECK(theirs->encode(vector.bytes) == vector.ids);
      CHECK(theirs->decode(vector.ids) == ours->decode(vector.ids));
    }
  }
}
