#include "text/huggingface_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "io/json.h"
#include "io/json_lines.h"
#include "text/byte_level.h"
#include "text/formats.h"
#include "text/sentencepiece_tokenizer.h"

namespace bam::text {
namespace {

void write_special(io::JsonWriter& json, std::string_view text) {
  json.field("content", text).field("lstrip", false).field("rstrip", false).field("single_word", false);
  json.field("normalized", false).field("special", true);
}

std::string config_of(const Tokenizer& tokenizer) {
  io::JsonWriter json;
  // Which takes tokenizer.json as it is; classes by the name of a model make their own rules of its vocabulary.
  json.begin_object().field("tokenizer_class", "PreTrainedTokenizerFast");
  const std::string bos = tokenizer.piece(tokenizer.bos_id());
  json.field("bos_token", bos);
  if (tokenizer.eos_id()) json.field("eos_token", tokenizer.piece(*tokenizer.eos_id()));
  json.field("add_bos_token", true).field("add_eos_token", false).field("clean_up_tokenization_spaces", false);
  // A BOS that was put above the vocabulary is not in a tokenizer.json that came with the tokenizer.
  if (Index{tokenizer.bos_id()} == tokenizer.vocab_size() - 1) {
    json.key("added_tokens_decoder").begin_object().key(std::to_string(tokenizer.bos_id())).begin_object();
    write_special(json, bos);
    json.end_object().end_object();
  }
  json.end_object();
  return io::json_lines(json.text());
}

// BPE without merges: every byte is its own token, wherever the text is split.
TokenizerJson bytes_json() {
  TokenizerJson json;
  json.byte_level = true;
  for (int byte = 0; byte < 256; ++byte) {
    json.entries.push_back(characters_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  return json;
}

std::optional<TokenizerJson> json_of(const Tokenizer& tokenizer, std::string& problem) {
  const std::vector<io::TokenizerFile>& files = tokenizer.files();
  if (tokenizer.kind() == "bytes") return bytes_json();
  if (tokenizer.kind() == "tiktoken") return tiktoken_json(files.at(0).bytes, tokenizer.name());
  if (tokenizer.kind() == "gpt2") return gpt2_json(files.at(1).bytes, files.at(0).bytes, tokenizer.name());
  const SentencePieceModel model = parse_sentencepiece_model(files.at(0).bytes, tokenizer.name());
  return sentencepiece_json(model, tokenizer.name(), problem);
}

// False where another entry has its name.
bool add_bos(const Tokenizer& tokenizer, TokenizerJson& json) {
  json.bos = tokenizer.bos_id();
  const auto place = static_cast<std::size_t>(json.bos);
  if (place >= json.entries.size()) json.entries.resize(place + 1);
  const std::string name = tokenizer.piece(json.bos);
  if (json.entries[place].empty()) {
    if (std::find(json.entries.begin(), json.entries.end(), name) != json.entries.end()) return false;
    json.entries[place] = name;
  }
  if (std::find(json.special.begin(), json.special.end(), json.bos) == json.special.end()) {
    json.special.push_back(json.bos);
  }
  return true;
}

}  // namespace

std::vector<io::TokenizerFile> huggingface_files(const Tokenizer& tokenizer, std::string& problem) {
  problem.clear();
  std::vector<io::TokenizerFile> files;
  if (tokenizer.kind() != "huggingface") {
    std::optional<TokenizerJson> json = json_of(tokenizer, problem);
    if (json && !add_bos(tokenizer, *json)) problem = "it has a piece that is called like its BOS";
    if (!problem.empty()) return files;
    files.push_back({"tokenizer.json", format_tokenizer_json(*json)});
  }
  files.push_back({"tokenizer_config.json", config_of(tokenizer)});
  return files;
}

}  // namespace bam::text
