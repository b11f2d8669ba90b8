#include "text/sentencepiece_model.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/error.h"
#include "io/bytes.h"

namespace bam::text {
namespace {

// The fields of one protocol buffer message, in the order of the file.
class Message {
 public:
  Message(std::string_view bytes, const std::string& complaint) : rest_(bytes), complaint_(complaint) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = take_varint();
    field_ = tag >> 3U;
    type_ = tag & 7U;
    number_ = 0;
    bytes_ = {};
    switch (type_) {
      case kVarint:
        number_ = take_varint();
        break;
      case kFixed64:
        bytes_ = take(8);
        break;
      case kBytes:
        bytes_ = take(take_varint());
        break;
      case kFixed32:
        bytes_ = take(4);
        break;
      default:
        fail();
    }
    return field_ != 0 || (fail(), false);
  }

  bool is_number(std::uint64_t field) const { return field_ == field && type_ == kVarint; }
  bool is_bytes(std::uint64_t field) const { return field_ == field && type_ == kBytes; }
  bool is_float(std::uint64_t field) const { return field_ == field && type_ == kFixed32; }
  std::uint64_t number() const { return number_; }
  float real() const { return std::bit_cast<float>(io::load_u32(bytes_)); }
  std::string_view bytes() const { return bytes_; }

  [[noreturn]] void fail() const { throw Error(complaint_); }

 private:
  static constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  std::uint64_t take_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  const std::string& complaint_;
  std::uint64_t field_ = 0;
  std::uint64_t type_ = 0;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

Piece parse_piece(std::string_view bytes, const std::string& complaint) {
  Piece piece;
  for (Message message(bytes, complaint); message.next();) {
    if (message.is_bytes(1)) piece.text = message.bytes();
    if (message.is_float(2)) piece.score = message.real();
    if (message.is_number(3)) {
      if (message.number() < 1 || message.number() > 6) message.fail();
      piece.type = static_cast<PieceType>(message.number());
    }
  }
  return piece;
}

void parse_trainer(std::string_view bytes, const std::string& complaint, SentencePieceModel& model) {
  for (Message message(bytes, complaint); message.next();) {
    if (message.is_number(3)) {
      if (message.number() < 1 || message.number() > 4) message.fail();
      model.segmentation = static_cast<SegmentationType>(message.number());
    }
    if (message.is_number(24)) model.blank_is_suffix = message.number() != 0;
    if (message.is_number(35)) model.byte_fallback = message.number() != 0;
    if (message.is_bytes(44)) model.unknown_surface = message.bytes();
    if (message.is_bytes(46) && !message.bytes().empty()) model.bos_piece = message.bytes();
    if (message.is_bytes(47) && !message.bytes().empty()) model.eos_piece = message.bytes();
  }
}

void parse_normalizer(std::string_view bytes, const std::string& complaint, SentencePieceModel& model) {
  for (Message message(bytes, complaint); message.next();) {
    if (message.is_bytes(2)) model.character_map = message.bytes();
    if (message.is_number(3)) model.dummy_prefix = message.number() != 0;
    if (message.is_number(4)) model.removes_extra_blanks = message.number() != 0;
    if (message.is_number(5)) model.escapes_blanks = message.number() != 0;
  }
}

void parse_denormalizer(std::string_view bytes, const std::string& complaint, SentencePieceModel& model) {
  for (Message message(bytes, complaint); message.next();) {
    if (message.is_bytes(2)) model.decoding_map = message.bytes();
  }
}

// The library looks at no more than 64 user-defined symbols that are prefixes of one another, in an array of that size.
void check_user_defined(const SentencePieceModel& model, const std::string& subject) {
  constexpr std::size_t kMostNested = 64;
  std::vector<std::string_view> symbols;
  for (const Piece& piece : model.pieces) {
    if (piece.type == PieceType::user_defined) symbols.push_back(piece.text);
  }
  std::sort(symbols.begin(), symbols.end());
  std::vector<std::string_view> chain;
  for (const std::string_view symbol : symbols) {
    while (!chain.empty() && symbol.substr(0, chain.back().size()) != chain.back()) chain.pop_back();
    chain.push_back(symbol);
    if (chain.size() > kMostNested) throw Error(subject + ": too many user-defined symbols that begin alike");
  }
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view file, const std::string& subject) {
  const std::string complaint = subject + ": not a SentencePiece model, or a damaged one";
  SentencePieceModel model;
  bool has_trainer = false, has_normalizer = false;
  for (Message message(file, complaint); message.next();) {
    if (message.is_bytes(1)) model.pieces.push_back(parse_piece(message.bytes(), complaint));
    if (message.is_bytes(2)) {
      parse_trainer(message.bytes(), complaint, model);
      has_trainer = true;
    }
    if (message.is_bytes(3)) {
      parse_normalizer(message.bytes(), complaint, model);
      has_normalizer = true;
    }
    if (message.is_bytes(5)) parse_denormalizer(message.bytes(), complaint, model);
  }
  // Without these the library assumes unigram and its own normaliser, and gives other ids without a word.
  if (!has_trainer || !has_normalizer) throw Error(complaint + " (cut short?)");
  for (const std::string_view rules : {model.character_map, model.decoding_map}) {
    const std::string problem = character_map_problem(rules);
    if (!problem.empty()) throw Error(subject + ": damaged SentencePiece model: " + problem);
  }
  check_user_defined(model, subject);
  return model;
}

}  // namespace bam::text
