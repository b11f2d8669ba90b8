#include "text/huggingface_files.h"

#include <array>
#include <utility>

#include "io/json.h"
#include "io/json_lines.h"
#include "text/byte_level.h"

namespace bam::text {
namespace {

// The class that reads the files of each kind.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kClasses = {
    {{"bytes", "PreTrainedTokenizerFast"},
     {"huggingface", "PreTrainedTokenizerFast"},
     {"tiktoken", "PreTrainedTokenizerFast"},
     {"sentencepiece", "LlamaTokenizer"},
     {"gpt2", "GPT2Tokenizer"}}};

void write_special(io::JsonWriter& json, std::string_view text) {
  json.field("content", text).field("lstrip", false).field("rstrip", false).field("single_word", false);
  json.field("normalized", false).field("special", true);
}

std::string config_of(const Tokenizer& tokenizer) {
  io::JsonWriter json;
  json.begin_object();
  for (const auto& [kind, name] : kClasses) {
    if (kind == tokenizer.kind()) json.field("tokenizer_class", name);
  }
  const std::string bos = tokenizer.piece(tokenizer.bos_id());
  json.field("bos_token", bos);
  if (tokenizer.eos_id()) json.field("eos_token", tokenizer.piece(*tokenizer.eos_id()));
  json.field("add_bos_token", true).field("add_eos_token", false);
  json.field("clean_up_tokenization_spaces", false).field("legacy", false);
  // A BOS that was put above the vocabulary is in none of the tokenizer's own files.
  if (Index{tokenizer.bos_id()} == tokenizer.vocab_size() - 1) {
    json.key("added_tokens_decoder").begin_object().key(std::to_string(tokenizer.bos_id())).begin_object();
    write_special(json, bos);
    json.end_object().end_object();
  }
  json.end_object();
  return io::json_lines(json.text());
}

// BPE without merges: every byte is its own token, wherever the text is split.
std::string bytes_json(const Tokenizer& tokenizer) {
  const std::string bos = tokenizer.piece(tokenizer.bos_id());
  const auto byte_level = [](io::JsonWriter& json) {
    json.begin_object().field("type", "ByteLevel").field("add_prefix_space", false).field("trim_offsets", true);
    json.field("use_regex", true).end_object();
  };
  io::JsonWriter json;
  json.begin_object().field("version", "1.0").field("truncation", nullptr).field("padding", nullptr);
  json.key("added_tokens").begin_array().begin_object().field("id", Index{tokenizer.bos_id()});
  write_special(json, bos);
  json.end_object().end_array().field("normalizer", nullptr).key("pre_tokenizer");
  byte_level(json);
  const auto sequence = [&](std::string_view kind, std::string_view id) {
    json.begin_object().key(kind).begin_object().field("id", id).field("type_id", 0).end_object().end_object();
  };
  json.key("post_processor").begin_object().field("type", "TemplateProcessing").key("single").begin_array();
  sequence("SpecialToken", bos);
  sequence("Sequence", "A");
  json.end_array().key("pair").begin_array();
  for (const char* part : {"A", "B"}) {
    sequence("SpecialToken", bos);
    sequence("Sequence", part);
  }
  json.end_array().key("special_tokens").begin_object().key(bos).begin_object().field("id", bos);
  json.key("ids").begin_array().value(Index{tokenizer.bos_id()}).end_array();
  json.key("tokens").begin_array().value(bos).end_array().end_object().end_object().end_object();
  json.key("decoder");
  byte_level(json);
  json.key("model").begin_object().field("type", "BPE").field("dropout", nullptr).field("unk_token", nullptr);
  json.field("continuing_subword_prefix", nullptr).field("end_of_word_suffix", nullptr).field("fuse_unk", false);
  json.field("byte_fallback", false).field("ignore_merges", false).key("vocab").begin_object();
  for (int byte = 0; byte < 256; ++byte) {
    json.field(characters_of_bytes(std::string(1, static_cast<char>(byte))), byte);
  }
  json.end_object().key("merges").begin_array().end_array().end_object().end_object();
  return io::json_lines(json.text());
}

}  // namespace

std::vector<io::TokenizerFile> huggingface_files(const Tokenizer& tokenizer) {
  std::vector<io::TokenizerFile> files = {{"tokenizer_config.json", config_of(tokenizer)}};
  if (tokenizer.kind() == "bytes") files.push_back({"tokenizer.json", bytes_json(tokenizer)});
  return files;
}

}  // namespace bam::text
