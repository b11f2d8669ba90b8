#include "model/huggingface_tokenizer.h"

#include <simdjson.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/json_lines.h"
#include "io/stream.h"
#include "text/huggingface_files.h"

namespace bam::huggingface {
namespace {

constexpr const char* kConfig = "tokenizer_config.json";
// Before the name of a file that transformers would take for a tokenizer and read in another way.
const std::string kHidden = "bam_";
constexpr Index kMostTokenizerBytes = Index{1} << 30;

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Python writes whole numbers of any size, as transformers does for "no limit"; the parser takes those beyond 64 bits
// only as fractions.
std::string with_large_numbers_as_fractions(const std::string& json) {
  constexpr std::size_t kMostDigits = 18;
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = at + 1;
    const bool is_number = json[at] >= '0' && json[at] <= '9';
    if (json[at] == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, json.size());
    } else if (is_number) {
      end = std::min(json.find_first_not_of("0123456789+-.eE", at), json.size());
    }
    text.append(json, at, end - at);
    const bool is_whole =
        is_number && std::string_view(json).substr(at, end - at).find_first_of(".eE") == std::string_view::npos;
    if (is_whole && end - at > kMostDigits) text += "e0";
    at = end;
  }
  return text;
}

class JsonFile {
 public:
  explicit JsonFile(const std::string& path)
      : path_(path), text_(with_large_numbers_as_fractions(io::read_file(path, kMostJsonBytes))) {
    if (parser_.parse(text_).get(root_) != simdjson::SUCCESS) refuse("not a JSON object");
  }
  [[noreturn]] void refuse(const std::string& what) const { throw Error(path_ + ": " + what); }

  template <typename T>
  T get(std::string_view name, const char* expected) const {
    T value{};
    if (root_[name].get(value) != simdjson::SUCCESS) {
      refuse("no " + std::string(name) + ", expected " + std::string(expected));
    }
    return value;
  }
  simdjson::dom::object root() const { return root_; }

 private:
  std::string path_;
  simdjson::dom::parser parser_;
  simdjson::padded_string text_;
  simdjson::dom::object root_;
};

std::unique_ptr<text::Tokenizer> recorded_tokenizer(const std::string& folder) {
  const JsonFile record(folder + "/" + kTokenizerRecord);
  text::CarriedTokenizer carried;
  carried.kind = record.get<std::string_view>("kind", "a text");
  carried.name = record.get<std::string_view>("name", "a text");
  carried.vocab_size = record.get<std::int64_t>("vocab_size", "a whole number");
  carried.bos_id = static_cast<text::Token>(record.get<std::int64_t>("bos_id", "a whole number"));
  for (const simdjson::dom::element element : record.get<simdjson::dom::array>("files", "a list of names")) {
    std::string_view name;
    if (element.get(name) != simdjson::SUCCESS || name.find('/') != name.npos) record.refuse("files holds no names");
    std::string path = folder + "/" + kHidden + std::string(name);
    if (!is_there(path)) path = folder + "/" + std::string(name);
    carried.files.push_back({std::string(name), io::read_file(path, kMostTokenizerBytes)});
  }
  if (io::tokenizer_digest(carried.files) != record.get<std::string_view>("sha256", "a digest")) {
    record.refuse("its files have changed since they were written; without it, they are read as they are");
  }
  return text::make_tokenizer(carried, folder + "/" + kTokenizerRecord);
}

// bos_token, a text or an object with one; nothing where it is null or not there.
std::string configured_bos(const std::string& folder) {
  if (!is_there(folder + "/" + kConfig)) return "";
  const JsonFile config(folder + "/" + kConfig);
  const simdjson::simdjson_result<simdjson::dom::element> bos = config.root()["bos_token"];
  std::string_view text;
  if (bos.get(text) == simdjson::SUCCESS || bos["content"].get(text) == simdjson::SUCCESS) return std::string(text);
  return "";
}

std::string tokenizer_file(const std::string& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model", "vocab.json"}) {
    if (is_there(folder + "/" + name)) return folder + "/" + name;
  }
  throw Error(folder + ": no tokenizer.json, tokenizer.model or vocab.json, expected one of them, or --tokenizer");
}

std::unique_ptr<text::Tokenizer> open_found(const std::string& folder, const ImportChoice& choice,
                                            std::optional<Index> bos_id) {
  const std::string file = choice.tokenizer.empty() ? tokenizer_file(folder) : choice.tokenizer;
  if (!choice.bos_token.empty()) return text::open_tokenizer(file, choice.bos_token);
  if (!choice.tokenizer.empty()) return text::open_tokenizer(file);
  std::string bos = configured_bos(folder);
  if (bos.empty()) {
    std::unique_ptr<text::Tokenizer> tokenizer = text::open_tokenizer(file);
    const bool names_another =
        bos_id && *bos_id >= 0 && *bos_id < tokenizer->vocab_size() && *bos_id != tokenizer->bos_id();
    if (!names_another) return tokenizer;
    bos = tokenizer->piece(static_cast<text::Token>(*bos_id));
  }
  try {
    return text::open_tokenizer(file, bos);
  } catch (const UsageError&) {
    throw Error(file + ": its BOS is " + io::json_quote(bos) +
                ", which is not one of its special tokens; expected --bos-token");
  }
}

}  // namespace

std::unique_ptr<text::Tokenizer> read_tokenizer_of(const std::string& folder, const ImportChoice& choice, Index vocab,
                                                   std::optional<Index> bos_id) {
  const bool recorded =
      choice.tokenizer.empty() && choice.bos_token.empty() && is_there(folder + "/" + kTokenizerRecord);
  std::unique_ptr<text::Tokenizer> tokenizer =
      recorded ? recorded_tokenizer(folder) : open_found(folder, choice, bos_id);
  if (tokenizer->vocab_size() > vocab) {
    const bool added = tokenizer->vocab_size() == vocab + 1 && tokenizer->bos_id() == vocab;
    throw Error(folder + ": its tokenizer has " + std::to_string(tokenizer->vocab_size()) + " ids" +
                (added ? ", an added BOS among them," : "") + " and the model " + std::to_string(vocab) +
                (added ? "; expected --bos-token, a special token that begins texts" : ", expected at least as many"));
  }
  return tokenizer;
}

void write_file(io::OutputFolder& folder, const std::string& name, std::string_view bytes) {
  io::OutputFile file(folder.place(name));
  file.write(bytes);
  file.commit();
}

namespace {

std::string record_of(const StoredTokenizer& stored) {
  io::JsonWriter json;
  json.begin_object().field("kind", stored.header.tokenizer_kind).field("name", stored.header.tokenizer_name);
  json.field("vocab_size", stored.header.vocab_size).field("bos_id", Index{stored.header.bos_id});
  json.field("sha256", stored.header.tokenizer_sha256).key("files").begin_array();
  for (const io::TokenizerFile& file : stored.files) json.value(file.name);
  json.end_array().end_object();
  return io::json_lines(json.text());
}

}  // namespace

void write_tokenizer_to(io::OutputFolder& folder, const StoredTokenizer& stored, const text::Tokenizer& tokenizer,
                        bool has_config) {
  std::string problem;
  if (!has_config) {
    for (const io::TokenizerFile& file : text::huggingface_files(tokenizer, problem)) {
      write_file(folder, file.name, file.bytes);
    }
  }
  for (const io::TokenizerFile& file : stored.files) {
    write_file(folder, (problem.empty() ? "" : kHidden) + file.name, file.bytes);
  }
  if (!problem.empty()) {
    log::warning("transformers gets no tokenizer, since none of its own gives the same ids: " + problem +
                 "; bam-tokenize makes them");
  }
  write_file(folder, kTokenizerRecord, record_of(stored));
}

}  // namespace bam::huggingface
