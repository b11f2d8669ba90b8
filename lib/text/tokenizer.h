// Tokenizers: bytes to ids and back. A tokenizer is what its files say and nothing else, so that a shard or a
// checkpoint that carries the files needs no other.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "io/shard.h"
#include "io/tokenizer_files.h"

namespace bam::text {

using io::Token;

// What decode(encode(x)) == x holds for.
enum class Fidelity {
  bytes,       // any bytes
  text,        // valid UTF-8, but for the characters that the tokenizer itself uses (SentencePiece: U+2581 is a blank)
               // and bytes that it has no token for
  normalised,  // only what its normaliser leaves alone
};

// Safe for use by several threads at once: all members are const and keep nothing.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const std::string& kind() const { return facts_.kind; }  // for programs: "bytes", "gpt2", ...
  const std::string& name() const { return facts_.name; }  // for people: "mistral-v3"
  Index vocab_size() const { return facts_.vocab_size; }   // an added BOS included
  Token bos_id() const { return facts_.bos_id; }
  std::optional<Token> eos_id() const { return facts_.eos_id; }
  Fidelity fidelity() const { return facts_.fidelity; }
  bool lossless() const { return fidelity() != Fidelity::normalised; }

  // What a shard or a checkpoint carries, and its digest (io::tokenizer_digest). Bytes: none.
  const std::vector<io::TokenizerFile>& files() const { return facts_.files; }
  std::string sha256() const { return io::tokenizer_digest(files()); }

  // The ids of a text, without BOS and EOS. All of it is text: "<s>" gives the ids of three characters (unless the
  // tokenizer was opened with allow_special).
  // Warns of a byte that has none. Throws Error for a text that is too long to be encoded in one piece and cannot be
  // cut.
  std::vector<Token> encode(std::string_view text) const;

  // Appends the ids of one part of a text, cut where last_cut says; `begins` marks the first part.
  // Returns the first byte that the vocabulary has no token for, where there is one: such bytes are left out, or become
  // the unknown token, as the tokenizer's own library has it.
  virtual std::optional<unsigned char> encode_part(std::string_view text, bool begins,
                                                   std::vector<Token>& ids) const = 0;

  // The last place inside `text` at which it may be cut, whatever stands before and behind it, so that the ids of the
  // parts, put together, are the ids of the whole. 0 when there is none.
  virtual Index last_cut(std::string_view text) const = 0;

  // The bytes that ids stand for; BOS, EOS and SentencePiece's control pieces give none, other special tokens their
  // text. Throws Error for an id outside the vocabulary.
  virtual std::string decode(std::span<const Token> ids) const = 0;

  // The text of one vocabulary entry, for people: "▁the", "<0x0A>", "<s>".
  virtual std::string piece(Token id) const = 0;

 protected:
  struct Facts {
    std::string kind;
    std::string name;
    Index vocab_size = 0;
    Token bos_id = 0;
    std::optional<Token> eos_id;
    Fidelity fidelity = Fidelity::bytes;
    std::vector<io::TokenizerFile> files;
  };
  explicit Tokenizer(Facts facts) : facts_(std::move(facts)) {}
  void require_in_vocabulary(Token id) const;

 private:
  Facts facts_;
};

// For people: that the byte is lost.
std::string lost_message(unsigned char byte);

// Appends BOS, the ids of the document, and EOS where the tokenizer has one; nothing for a document without ids.
// Returns what encode_part does.
std::optional<unsigned char> encode_document(const Tokenizer& tokenizer, std::string_view text,
                                             std::vector<Token>& ids);

// "bytes", or a file: a SentencePiece model, a tokenizer.json, a rank file of tiktoken, or either file of GPT-2's pair
// (vocab.json and merges.txt, encoder.json and vocab.bpe, with the same beginning). Where it has no BOS, one is added
// above its vocabulary, unless `bos_token` names a special token that serves as BOS. With `allow_special` the text of a
// special token is that token. Errors, all "FILE: ...": missing, not a tokenizer, no such special token, not supported.
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& bytes_or_file, const std::string& bos_token = "",
                                          bool allow_special = false);

// From the files that a shard or a checkpoint carries. `bos_id` is the one in use there. Throws Error "SUBJECT: ..."
// when the files do not make a tokenizer of this kind, vocabulary and BOS.
struct CarriedTokenizer {
  std::string kind;
  std::string name;
  Index vocab_size = 0;
  Token bos_id = 0;
  std::vector<io::TokenizerFile> files;
};
std::unique_ptr<Tokenizer> make_tokenizer(const CarriedTokenizer& carried, const std::string& subject);
std::unique_ptr<Tokenizer> make_tokenizer(const io::ShardHeader& header, const std::vector<io::TokenizerFile>& files,
                                          const std::string& subject);

// The header of a shard of this tokenizer's ids.
io::ShardHeader shard_header(const Tokenizer& tokenizer);

}  // namespace bam::text
