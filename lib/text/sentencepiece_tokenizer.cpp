#include "text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>

#include "base/error.h"
#include "text/sentencepiece_cuts.h"
#include "text/sentencepiece_model.h"

namespace bam::text {
namespace {

using sentencepiece::SentencePieceProcessor;

// Texts are cut into parts of at most this size where they can be. Measured on a book of 3.3 MB with Mistral v3, one
// thread: 2.5 s in parts of 1 to 8 KiB, 2.8 s of 32 KiB, 6 s of 1 MiB.
constexpr std::size_t kPartBytes = 4 * 1024;
constexpr std::size_t kPartIds = 64 * 1024;

// The library counts bytes of the normalised text, up to three times as many, in 32 bits.
constexpr std::size_t kMostBytes = std::size_t{512} << 20U;

// Behind a model: normalizer_spec { add_dummy_prefix: false }. Protocol buffers merge it into the field of before.
constexpr std::string_view kNoDummyPrefix("\x1a\x02\x18\x00", 4);

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

void load(SentencePieceProcessor& processor, std::string_view model, const std::string& subject) {
  const sentencepiece::util::Status status = processor.LoadFromSerializedProto(model);
  if (!status.ok()) throw Error(subject + ": not a usable SentencePiece model: " + one_line(status.error_message()));
}

std::string special_tokens(const SentencePieceModel& model) {
  constexpr int kMostShown = 10;
  std::string names;
  int shown = 0;
  for (const Piece& piece : model.pieces) {
    if (piece.type != PieceType::control) continue;
    if (shown++ == kMostShown) return names + ", ...";
    names += (names.empty() ? "" : ", ") + std::string(piece.text);
  }
  return names.empty() ? "it has none" : names;
}

// The id that begins documents: the model's vocabulary size for an added one.
Token choose_bos(const SentencePieceModel& model, const BosChoice& bos, Token own, const std::string& subject) {
  const auto added = static_cast<Token>(model.pieces.size());
  if (bos.id) {
    const bool is_special =
        *bos.id >= 0 && *bos.id < added && model.pieces[static_cast<std::size_t>(*bos.id)].type == PieceType::control;
    if (!is_special && *bos.id != added) {
      throw Error(subject + ": its BOS " + std::to_string(*bos.id) + " is not a special token of its tokenizer");
    }
    return *bos.id;
  }
  if (bos.piece.empty()) return own >= 0 ? own : added;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].text == bos.piece && model.pieces[id].type == PieceType::control) {
      return static_cast<Token>(id);
    }
  }
  throw UsageError("--bos-token: " + one_line(bos.piece) + " is not a special token of " + subject + " (" +
                   one_line(special_tokens(model)) + ")");
}

Fidelity fidelity_of(const SentencePieceModel& model) {
  const bool keeps_text = model.character_map.empty() && model.decoding_map.empty() && !model.removes_extra_blanks &&
                          model.escapes_blanks && !model.blank_is_suffix && model.byte_fallback;
  return keeps_text ? Fidelity::text : Fidelity::normalised;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  static std::unique_ptr<Tokenizer> make(std::string bytes, std::string name, const BosChoice& bos,
                                         const std::string& subject) {
    Facts facts;
    facts.files.push_back({"tokenizer.model", std::move(bytes)});
    const std::string& file = facts.files.front().bytes;
    const SentencePieceModel model = parse_sentencepiece_model(file, subject);
    auto library = std::make_unique<SentencePieceProcessor>();
    load(*library, file, subject);
    facts.kind = "sentencepiece";
    facts.name = std::move(name);
    facts.bos_id = choose_bos(model, bos, library->bos_id(), subject);
    facts.vocab_size = std::max(static_cast<Index>(model.pieces.size()), Index{facts.bos_id} + 1);
    if (library->eos_id() >= 0) facts.eos_id = library->eos_id();
    facts.fidelity = fidelity_of(model);
    return std::make_unique<SentencePieceTokenizer>(std::move(facts), model, std::move(library), subject);
  }

  SentencePieceTokenizer(Facts facts, const SentencePieceModel& model, std::unique_ptr<SentencePieceProcessor> library,
                         const std::string& subject)
      : Tokenizer(std::move(facts)),
        library_(std::move(library)),
        pieces_(static_cast<Token>(model.pieces.size())),
        dummy_prefix_(model.dummy_prefix),
        cuts_(model),
        decodes_in_parts_(model.decoding_map.empty()) {
    if (cuts_.possible()) load(parts_, files().front().bytes + std::string(kNoDummyPrefix), subject);
    find_leader(model);
  }

  void encode_part(std::string_view text, bool begins, std::vector<Token>& ids) const override {
    if (!cuts_.possible()) {
      append(*library_, text, ids);
      return;
    }
    if (begins && dummy_prefix_ && !text.empty()) {
      encode_cut(' ' + std::string(text), ids);
    } else {
      encode_cut(text, ids);
    }
  }

  Index last_cut(std::string_view text) const override { return cuts_.last(text); }

  std::string decode(std::span<const Token> ids) const override {
    std::string text;
    std::vector<int> part;
    std::size_t limit = kPartIds;
    for (const Token id : ids) {
      require_in_vocabulary(id);
      // A part may not end inside a run of byte pieces, which are characters only together.
      if (part.size() >= limit && decodes_in_parts_ && !library_->IsByte(part.back())) {
        decode_part(part, text);
        if (text.empty()) {  // the library still waits for the dummy prefix
          limit *= 2;
        } else {
          part.clear();
        }
      }
      if (id < pieces_) part.push_back(id);
    }
    decode_part(part, text);
    return text;
  }

  std::string piece(Token id) const override {
    require_in_vocabulary(id);
    return id < pieces_ ? library_->IdToPiece(id) : "<bos>";
  }

 private:
  // A piece whose text is known, put before a part that is not the first, so that the library does not take the part's
  // first blank for the dummy prefix.
  void find_leader(const SentencePieceModel& model) {
    for (std::size_t id = 0; id < model.pieces.size() && leader_ < 0; ++id) {
      const Piece& piece = model.pieces[id];
      if (piece.type == PieceType::normal && piece.text.find("\xe2\x96\x81") == std::string_view::npos) {
        leader_ = static_cast<Token>(id);
        leader_bytes_ = piece.text.size();
      }
    }
    if (leader_ < 0) decodes_in_parts_ = false;
  }

  void encode_cut(std::string_view text, std::vector<Token>& ids) const {
    std::size_t limit = kPartBytes;
    while (text.size() > limit) {
      const Index cut = cuts_.last(text.substr(0, limit));
      if (cut == 0) {
        limit *= 2;
        continue;
      }
      append(parts_, text.substr(0, static_cast<std::size_t>(cut)), ids);
      text.remove_prefix(static_cast<std::size_t>(cut));
      limit = kPartBytes;
    }
    append(parts_, text, ids);
  }

  static void append(const SentencePieceProcessor& library, std::string_view text, std::vector<Token>& ids) {
    if (text.size() > kMostBytes) {
      throw Error("a text of " + std::to_string(text.size()) + " bytes that cannot be cut, expected at most " +
                  std::to_string(kMostBytes) + ": give it as lines or JSON lines");
    }
    std::vector<int> part;
    const sentencepiece::util::Status status = library.Encode(text, &part);
    if (!status.ok()) throw Error("SentencePiece cannot encode: " + one_line(status.error_message()));
    ids.insert(ids.end(), part.begin(), part.end());
  }

  // Appends to `text`, which is empty before the first part.
  void decode_part(const std::vector<int>& ids, std::string& text) const {
    const bool begins = text.empty();
    std::string part;
    std::vector<int> led;
    if (!begins) {
      led.push_back(leader_);
      led.insert(led.end(), ids.begin(), ids.end());
    }
    const sentencepiece::util::Status status = library_->Decode(begins ? ids : led, &part);
    if (!status.ok()) throw Error("SentencePiece cannot decode: " + one_line(status.error_message()));
    text.append(part, begins ? 0 : leader_bytes_);
  }

  std::unique_ptr<SentencePieceProcessor> library_;
  SentencePieceProcessor parts_;  // the same without dummy prefix; loaded where texts can be cut
  Token pieces_;
  bool dummy_prefix_;
  SentencePieceCuts cuts_;
  bool decodes_in_parts_;
  Token leader_ = -1;
  std::size_t leader_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::string model, std::string name, const BosChoice& bos,
                                                        const std::string& subject) {
  return SentencePieceTokenizer::make(std::move(model), std::move(name), bos, subject);
}

}  // namespace bam::text
