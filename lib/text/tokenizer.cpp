#include "text/tokenizer.h"

#include "base/error.h"
#include "io/stream.h"
#include "text/bytes_tokenizer.h"
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

}  // namespace

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  std::vector<Token> ids;
  encode_part(text, true, ids);
  return ids;
}

void Tokenizer::require_in_vocabulary(Token id) const {
  if (id < 0 || id >= vocab_size()) {
    throw Error("id " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(vocab_size()) + " ids");
  }
}

void encode_document(const Tokenizer& tokenizer, std::string_view text, std::vector<Token>& ids) {
  const std::size_t start = ids.size();
  ids.push_back(tokenizer.bos_id());
  tokenizer.encode_part(text, true, ids);
  if (ids.size() == start + 1) {
    ids.resize(start);
  } else if (tokenizer.eos_id()) {
    ids.push_back(*tokenizer.eos_id());
  }
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& bytes_or_file, const std::string& bos_token) {
  if (bytes_or_file == "bytes") {
    if (!bos_token.empty()) throw UsageError("--bos-token: the bytes tokenizer has no special tokens to name");
    return make_bytes_tokenizer();
  }
  std::string bytes = io::read_file(bytes_or_file, kMostTokenizerBytes);
  BosChoice bos;
  bos.piece = bos_token;
  return make_sentencepiece_tokenizer(std::move(bytes), stem(bytes_or_file), bos, bytes_or_file);
}

std::unique_ptr<Tokenizer> make_tokenizer(const CarriedTokenizer& carried, const std::string& subject) {
  std::unique_ptr<Tokenizer> tokenizer;
  if (carried.kind == "bytes" && carried.files.empty()) {
    tokenizer = make_bytes_tokenizer();
    if (carried.bos_id != tokenizer->bos_id()) throw Error(subject + ": its BOS is not that of the bytes tokenizer");
  } else if (carried.kind == "sentencepiece" && carried.files.size() == 1) {
    BosChoice bos;
    bos.id = carried.bos_id;
    tokenizer = make_sentencepiece_tokenizer(carried.files.front().bytes, carried.name, bos, subject);
  } else {
    throw Error(subject + ": carries a tokenizer of kind \"" + carried.kind + "\" with " +
                std::to_string(carried.files.size()) + " files; known are bytes (none) and sentencepiece (one)");
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
