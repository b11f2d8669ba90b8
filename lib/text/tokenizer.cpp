#include "text/tokenizer.h"

#include <array>

#include "base/error.h"
#include "base/log.h"
#include "io/stream.h"
#include "text/bytes_tokenizer.h"
#include "text/formats.h"
#include "text/sentencepiece_tokenizer.h"

namespace bam::text {
namespace {

// The largest published tokenizer files hold tens of megabytes.
constexpr Index kMostTokenizerBytes = Index{1} << 30;

std::string stem(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

void check_carried(const Tokenizer& tokenizer, const CarriedTokenizer& carried, const std::string& subject) {
  if (tokenizer.vocab_size() != carried.vocab_size) {
    throw Error(subject + ": says " + std::to_string(carried.vocab_size) + " ids, but the tokenizer it carries has " +
                std::to_string(tokenizer.vocab_size()));
  }
}

// The first line is base64, a blank and a number.
bool looks_like_ranks(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t blank = line.find(' ');
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  return blank != std::string_view::npos && blank > 0 && blank + 1 < line.size() && blank % 4 == 0 &&
         line.substr(0, blank).find_first_not_of(kBase64) == std::string_view::npos &&
         line.substr(blank + 1).find_first_not_of(kDigits) == std::string_view::npos;
}

struct Gpt2Files {
  std::string vocabulary;
  std::string merges;
  std::string name;
};

// Either file of a pair names both: vocab.json and merges.txt, or encoder.json and vocab.bpe, behind the same
// beginning.
std::optional<Gpt2Files> gpt2_files(const std::string& path) {
  constexpr std::array<std::array<std::string_view, 2>, 2> kPairs = {
      {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}}};
  for (const auto& pair : kPairs) {
    for (const std::string_view end : pair) {
      if (!path.ends_with(end)) continue;
      const std::string beginning = path.substr(0, path.size() - end.size());
      std::string name = stem(beginning.substr(beginning.rfind('/') + 1));
      while (name.ends_with('-') || name.ends_with('_') || name.ends_with('.')) name.pop_back();
      return Gpt2Files{beginning + std::string(pair[0]), beginning + std::string(pair[1]),
                       name.empty() ? "gpt2" : name};
    }
  }
  return std::nullopt;
}

// By content: a JSON object, lines of base64 and rank, else a SentencePiece model.
std::unique_ptr<Tokenizer> make_from_bytes(std::string bytes, const FormatChoice& choice) {
  const std::size_t front = bytes.find_first_not_of(" \t\r\n");
  if (front != std::string::npos && bytes[front] == '{') return make_huggingface(std::move(bytes), choice);
  if (looks_like_ranks(bytes)) return make_tiktoken(std::move(bytes), choice);
  return make_sentencepiece_tokenizer(std::move(bytes), choice.name, {choice.bos, choice.allow_special},
                                      choice.subject);
}

}  // namespace

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  constexpr std::size_t kBytesAnId = 3;  // fewer than most texts have
  std::vector<Token> ids;
  ids.reserve(text.size() / kBytesAnId + 1);
  if (const auto lost = encode_part(text, true, ids)) log::warning("a text: " + lost_message(*lost));
  return ids;
}

void Tokenizer::require_in_vocabulary(Token id) const {
  if (id < 0 || id >= vocab_size()) {
    throw Error("id " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(vocab_size()) + " ids");
  }
}

std::string lost_message(unsigned char byte) {
  return "no token for the byte " + std::to_string(byte) + ", which is lost, as it is with the tokenizer's own library";
}

std::optional<unsigned char> encode_document(const Tokenizer& tokenizer, std::string_view text,
                                             std::vector<Token>& ids) {
  const std::size_t start = ids.size();
  ids.push_back(tokenizer.bos_id());
  const std::optional<unsigned char> lost = tokenizer.encode_part(text, true, ids);
  if (ids.size() == start + 1) {
    ids.resize(start);
  } else if (tokenizer.eos_id()) {
    ids.push_back(*tokenizer.eos_id());
  }
  return lost;
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& bytes_or_file, const std::string& bos_token,
                                          bool allow_special) {
  if (bytes_or_file == "bytes") {
    if (!bos_token.empty()) throw UsageError("--bos-token: the bytes tokenizer has no special tokens to name");
    if (allow_special) throw UsageError("--allow-special: the bytes tokenizer has no special tokens");
    return make_bytes_tokenizer();
  }
  FormatChoice choice{stem(bytes_or_file), bytes_or_file, {bos_token, std::nullopt}, allow_special};
  if (const auto pair = gpt2_files(bytes_or_file)) {
    choice.subject = pair->vocabulary;
    choice.name = pair->name;
    std::string vocabulary = io::read_file(pair->vocabulary, kMostTokenizerBytes);
    return make_gpt2(std::move(vocabulary), io::read_file(pair->merges, kMostTokenizerBytes), choice);
  }
  return make_from_bytes(io::read_file(bytes_or_file, kMostTokenizerBytes), choice);
}

std::unique_ptr<Tokenizer> make_tokenizer(const CarriedTokenizer& carried, const std::string& subject) {
  FormatChoice choice{carried.name, subject, {"", carried.bos_id}, false};
  const auto& files = carried.files;
  std::unique_ptr<Tokenizer> tokenizer;
  if (carried.kind == "bytes" && files.empty()) {
    tokenizer = make_bytes_tokenizer();
    if (carried.bos_id != tokenizer->bos_id()) throw Error(subject + ": its BOS is not that of the bytes tokenizer");
  } else if (carried.kind == "sentencepiece" && files.size() == 1) {
    tokenizer = make_sentencepiece_tokenizer(files[0].bytes, carried.name, {choice.bos, false}, subject);
  } else if (carried.kind == "huggingface" && files.size() == 1) {
    tokenizer = make_huggingface(files[0].bytes, choice);
  } else if (carried.kind == "tiktoken" && files.size() == 1) {
    tokenizer = make_tiktoken(files[0].bytes, choice);
  } else if (carried.kind == "gpt2" && files.size() == 2) {
    const std::size_t merges = files[0].name == "merges.txt" ? 0 : 1;
    tokenizer = make_gpt2(files[1 - merges].bytes, files[merges].bytes, choice);
  } else {
    throw Error(subject + ": carries a tokenizer of kind \"" + carried.kind + "\" with " +
                std::to_string(files.size()) +
                " files; known are bytes (none), sentencepiece, huggingface, tiktoken (one each) and gpt2 (two)");
  }
  check_carried(*tokenizer, carried, subject);
  return tokenizer;
}

std::unique_ptr<Tokenizer> make_tokenizer(const io::ShardHeader& header, const std::vector<io::TokenizerFile>& files,
                                          const std::string& subject) {
  return make_tokenizer({header.tokenizer_kind, header.tokenizer_name, header.vocab_size, header.bos_id, files},
                        subject);
}

io::ShardHeader shard_header(const Tokenizer& tokenizer) {
  io::ShardHeader header;
  header.width = io::ShardHeader::width_for(tokenizer.vocab_size());
  header.vocab_size = tokenizer.vocab_size();
  header.bos_id = tokenizer.bos_id();
  header.eos_id = tokenizer.eos_id();
  header.tokenizer_name = tokenizer.name();
  header.tokenizer_kind = tokenizer.kind();
  header.tokenizer_sha256 = tokenizer.sha256();
  return header;
}

}  // namespace bam::text
