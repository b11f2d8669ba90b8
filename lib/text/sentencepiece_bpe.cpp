// SentencePiece BPE models on our own merges.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "text/bpe_tokenizer.h"
#include "text/characters.h"
#include "text/sentencepiece_normaliser.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";

// The value of "<0x0A>", or -1.
int byte_value(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return -1;
  return static_cast<int>(16 * high + low);
}

bool is_text(const Piece& piece) {
  return piece.type == PieceType::normal || piece.type == PieceType::user_defined;
}

// What the library requires of the pieces when it loads them, and UTF-8.
void check_pieces(const SentencePieceModel& model, const std::string& subject) {
  const auto refuse = [&](const std::string& what) {
    throw Error(subject + ": not a usable SentencePiece model: " + what);
  };
  std::unordered_set<std::string_view> seen;
  Index unknown = 0, bytes = 0;
  for (const Piece& piece : model.pieces) {
    if (piece.text.empty()) refuse("a piece without text");
    if (!is_utf8(piece.text)) refuse("a piece that is not UTF-8");
    if (!seen.insert(piece.text).second) refuse("a piece that is there twice");
    if (std::isnan(piece.score)) refuse("a score that is no number");
    if (piece.type == PieceType::unknown) ++unknown;
    if (piece.type == PieceType::byte) {
      if (!model.byte_fallback) refuse("byte pieces without byte fallback");
      if (byte_value(piece.text) < 0) refuse("a byte piece that is none: " + one_line(std::string(piece.text)));
      ++bytes;
    }
  }
  if (unknown != 1) refuse(std::to_string(unknown) + " unknown pieces, expected one");
  if (model.byte_fallback && bytes != 256) refuse(std::to_string(bytes) + " byte pieces, expected 256");
}

// Symbols for the characters of all pieces, and the merges of the pieces.
class Vocabulary {
 public:
  Vocabulary(const SentencePieceModel& model, const std::string& subject) : model_(model) {
    characters_.first_part = static_cast<Token>(model.pieces.size());
    characters_.fuse_unknown = true;
    characters_.blank_is_symbol = true;
    add_reserved();
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
      const Piece& piece = model.pieces[id];
      const CodePoint point = first_code_point(piece.text);
      if (is_text(piece) && point.bytes == piece.text.size()) {
        characters_.symbols[point.value] = static_cast<Token>(id);
        known_.insert(point.value);
      }
    }
    for (const Piece& piece : model.pieces) {
      if (is_text(piece)) add_characters(piece.text, subject);
    }
  }

  std::vector<Merge> merges() {
    std::vector<float> scores;
    for (const Piece& piece : model_.pieces) scores.push_back(piece.score);
    std::sort(scores.begin(), scores.end(), std::greater<>());
    scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
    std::vector<RankedText> entries;
    for (std::size_t id = 0; id < model_.pieces.size(); ++id) {
      const Piece& piece = model_.pieces[id];
      if (!is_text(piece)) continue;
      const auto rank = std::lower_bound(scores.begin(), scores.end(), piece.score, std::greater<>()) - scores.begin();
      entries.push_back({piece.text, static_cast<Token>(id), static_cast<std::uint32_t>(rank)});
    }
    const auto units = [&](std::string_view text, std::vector<RankedText>& parts) {
      while (!text.empty()) {
        const CodePoint point = first_code_point(text);
        parts.push_back({text.substr(0, point.bytes), characters_.symbols.at(point.value), 0});
        text.remove_prefix(point.bytes);
      }
    };
    return derive_merges(entries, units);
  }

  Neighbours neighbours() const {
    Neighbours neighbours;
    for (const Piece& piece : model_.pieces) {
      if (is_text(piece)) neighbours.add(piece.text);
    }
    if (!model_.byte_fallback) neighbours.keep_unknown_runs(known_);
    return neighbours;
  }

  Alphabet::Characters characters() && { return std::move(characters_); }

 private:
  void add_reserved() {
    std::array<Token, 256> bytes{};
    for (std::size_t id = 0; id < model_.pieces.size(); ++id) {
      const Piece& piece = model_.pieces[id];
      if (piece.type == PieceType::unknown) characters_.unknown = static_cast<Token>(id);
      if (piece.type == PieceType::byte) {
        bytes[static_cast<std::size_t>(byte_value(piece.text))] = static_cast<Token>(id);
      }
    }
    if (model_.byte_fallback) characters_.bytes = bytes;
  }

  void add_characters(std::string_view text, const std::string& subject) {
    constexpr int kMostCharacters = 4096;
    int count = 0;
    while (!text.empty()) {
      if (++count > kMostCharacters) throw Error(subject + ": a piece of more than 4096 characters");
      const CodePoint point = first_code_point(text);
      const auto symbol = characters_.first_part + static_cast<Token>(characters_.parts.size());
      if (characters_.symbols.try_emplace(point.value, symbol).second) {
        characters_.parts.emplace_back(text.substr(0, point.bytes));
      }
      text.remove_prefix(point.bytes);
    }
  }

  const SentencePieceModel& model_;
  Alphabet::Characters characters_;
  std::unordered_set<char32_t> known_;
};

BpePiece describe(const SentencePieceModel& model, const Piece& piece) {
  switch (piece.type) {
    case PieceType::unknown:
      return {std::string(model.unknown_surface), std::string(piece.text), PieceRole::unknown};
    case PieceType::control:
      return {"", std::string(piece.text), PieceRole::nothing};
    case PieceType::byte:
      return {std::string(1, static_cast<char>(byte_value(piece.text))), std::string(piece.text), PieceRole::byte};
    default:
      return {std::string(piece.text), "", PieceRole::text};
  }
}

// Tokens looked for, special ones and user-defined ones, and what begins and ends documents.
void describe_pieces(const SentencePieceModel& model, bool allow_special, BpeParts& parts) {
  std::vector<AddedToken> special, user_defined;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const Piece& piece = model.pieces[i];
    const auto id = static_cast<Token>(i);
    parts.pieces.push_back(describe(model, piece));
    if (piece.type == PieceType::user_defined) user_defined.push_back({std::string(piece.text), id});
    if (piece.type != PieceType::control) continue;
    parts.special.push_back({id, std::string(piece.text)});
    if (piece.text == model.bos_piece) parts.bos = id;
    if (piece.text == model.eos_piece) parts.eos = id;
    if (allow_special) special.push_back({std::string(piece.text), id});
  }
  parts.first = AddedTokens(std::move(special));
  parts.later = AddedTokens(std::move(user_defined));
}

}  // namespace

bool merges_by_ours(const SentencePieceModel& model) {
  return model.segmentation == SegmentationType::bpe && model.escapes_blanks && !model.blank_is_suffix &&
         model.decoding_map.empty() && std::none_of(model.pieces.begin(), model.pieces.end(), [](const Piece& piece) {
           const bool has_blank = piece.text.find(kBlankSymbol) != std::string_view::npos ||
                                  piece.text.find(' ') != std::string_view::npos;
           return piece.type == PieceType::unused || (piece.type == PieceType::user_defined && has_blank);
         });
}

std::vector<Merge> sentencepiece_merges(const SentencePieceModel& model, const std::string& subject) {
  check_pieces(model, subject);
  return Vocabulary(model, subject).merges();
}

std::unique_ptr<Tokenizer> make_sentencepiece_bpe(const SentencePieceModel& model, std::vector<io::TokenizerFile> files,
                                                  std::string name, const SentencePieceChoice& choice,
                                                  const std::string& subject) {
  check_pieces(model, subject);
  Vocabulary vocabulary(model, subject);
  MergeTable merges(vocabulary.merges());
  Neighbours neighbours = vocabulary.neighbours();
  BpeParts parts;
  parts.words = {Alphabet(std::move(vocabulary).characters()), std::move(merges), {}};
  parts.neighbours = std::move(neighbours);
  parts.kind = "sentencepiece";
  parts.name = std::move(name);
  parts.files = std::move(files);
  describe_pieces(model, choice.allow_special, parts);
  parts.fidelity = fidelity_of(model);
  parts.repairs_utf8 = false;
  parts.parts = model.character_map.empty() && !model.removes_extra_blanks;
  if (!parts.parts) {
    parts.normalise = [normaliser = SentencePieceNormaliser(model, parts.later)](
                          std::string_view text, bool is_start, bool) { return normaliser(text, is_start); };
  } else if (model.dummy_prefix) {
    parts.normalise = [](std::string_view text, bool is_start, bool) {
      return std::string(is_start && !text.empty() ? 1 : 0, ' ').append(text);
    };
  }
  parts.decoding = Decoding::sentencepiece;
  parts.drops_first_blank = model.dummy_prefix || model.removes_extra_blanks;
  parts.drops_leading_blanks = model.removes_extra_blanks;
  return make_bpe_tokenizer(std::move(parts), choice.bos, subject);
}

}  // namespace bam::text
