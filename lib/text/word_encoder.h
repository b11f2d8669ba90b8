// Words to ids: symbols, merges, and a memory of words seen before.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/bpe.h"

namespace bam::text {

// The symbols that a word begins with: bytes, or characters.
class Alphabet {
 public:
  Alphabet() = default;
  // Bytes are symbols. One whose id is -1 is left out, or becomes the unknown id where there is one, once for a run of
  // them when `fuse_unknown`; what stands on both sides of a byte that is left out may merge.
  explicit Alphabet(const std::array<Token, 256>& bytes, Token unknown = -1, bool fuse_unknown = false);

  // Characters are symbols; a blank is the symbol of U+2581 when `blank_is_symbol`. What has none becomes the ids of
  // its bytes, or without them the unknown id, once for a run of them when `fuse_unknown`.
  struct Characters {
    std::unordered_map<char32_t, Token> symbols;
    std::vector<std::string> parts;  // of symbols from `first_part`, which occur in pieces and are none themselves
    Token first_part = 0;
    std::optional<std::array<Token, 256>> bytes;
    Token unknown = -1;
    bool fuse_unknown = false;
    bool blank_is_symbol = false;
  };
  explicit Alphabet(Characters characters);

  bool is_bytes() const { return is_bytes_; }

  bool lacks(unsigned char byte) const { return is_bytes_ && bytes_[byte] < 0; }

  // Replaces the content of `symbols`. Returns the first byte that a vocabulary of bytes lacks.
  std::optional<unsigned char> symbols_of(std::string_view word, std::vector<Token>& symbols) const;

  // Makes ids of symbols that are none, once all is merged.
  void settle(std::vector<Token>& symbols) const;

 private:
  std::optional<unsigned char> known_symbols_of(std::string_view word, std::vector<Token>& symbols) const;
  void add_unknown(std::string_view character, std::vector<Token>& symbols) const;

  std::array<Token, 256> bytes_{};
  bool is_bytes_ = false;
  bool has_all_bytes_ = false;
  Characters characters_;
  std::array<Token, 128> ascii_{};
};

// Which bytes stand side by side in the pieces of a byte-level vocabulary. No merge crosses two that never do, so a
// word may be taken apart there: what is left of words never seen, such as random bytes, is short and comes again.
class BytePairs {
 public:
  void add(std::string_view piece);
  void never_part(unsigned char byte);  // from its neighbours
  bool any() const { return any_; }

  // The end of the part of `word` that begins at `from`.
  std::size_t behind_part(std::string_view word, std::size_t from) const;

 private:
  std::array<std::array<std::uint64_t, 4>, 256> bits_{};
  bool any_ = false;
};

struct WordModel {
  Alphabet alphabet;
  MergeTable merges;
  // Entries that are one id as they stand, whatever merges make of them (ignore_merges of tokenizer.json).
  std::unordered_map<std::string, Token> whole_words;
  BytePairs pairs{};  // none: words are not taken apart
};

// Keeps memory; one per thread, for one model.
class WordEncoder {
 public:
  WordEncoder();

  // Appends the ids of a word, which is not empty. `readable`: how many bytes from its beginning may be read.
  void encode(const WordModel& model, std::string_view word, std::size_t readable, std::vector<Token>& ids) {
    append(model, word, Unit::word, readable, ids);
  }

  // The first byte since the last call that the alphabet lacks.
  std::optional<unsigned char> take_lost() { return std::exchange(lost_, std::nullopt); }

 private:
  // A word of up to 15 bytes with up to 11 ids in one cache line.
  static constexpr std::size_t kMostBytes = 15;
  static constexpr std::size_t kMostIds = 11;
  struct alignas(64) Entry {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // its last byte is the length, and whether it is a part
    std::uint32_t count = 0;
    std::array<Token, kMostIds> ids{};
  };

  enum class Unit : std::uint8_t { word, part };

  Entry& entry_of(std::uint64_t low, std::uint64_t high) {
    return entries_[((low ^ (high * 0xC2B2AE3D27D4EB4FU)) * 0x9E3779B97F4A7C15U) >> shift_];
  }
  void grow();
  void append(const WordModel& model, std::string_view text, Unit unit, std::size_t readable, std::vector<Token>& ids);
  void append_merged(const WordModel& model, std::string_view text, Unit unit, std::size_t readable,
                     std::vector<Token>& ids);

  std::vector<Entry> entries_;
  unsigned shift_;          // the upper bits of a hash are a place in entries_
  std::size_t learnt_ = 0;  // words since the beginning
  WordMerger merger_;
  std::vector<Token> symbols_;
  std::optional<unsigned char> lost_;
};

}  // namespace bam::text
