#include "text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <exception>

#include "base/error.h"

namespace bam::text {
namespace {

using sentencepiece::SentencePieceProcessor;

// The library counts bytes of the normalised text, up to three times as many, in 32 bits.
constexpr std::size_t kMostBytes = std::size_t{512} << 20U;

constexpr const char* kFileName = "tokenizer.model";

// The library tells of most faults of a model by a status, of pieces that its trie cannot hold by an exception.
std::unique_ptr<SentencePieceProcessor> load_library(const std::string& file, const std::string& subject) {
  auto library = std::make_unique<SentencePieceProcessor>();
  std::string problem;
  try {
    const sentencepiece::util::Status status = library->LoadFromSerializedProto(file);
    if (status.ok()) return library;
    problem = status.error_message();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  throw Error(subject + ": not a usable SentencePiece model: " + one_line(problem));
}

std::vector<SpecialToken> special_tokens(const SentencePieceModel& model) {
  std::vector<SpecialToken> special;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    if (piece.type == PieceType::control) special.push_back({static_cast<Token>(id), std::string(piece.text)});
  }
  return special;
}

// Encodes a text as a whole: sums of scores are rounded along all of it.
class LibraryTokenizer : public Tokenizer {
 public:
  static std::unique_ptr<Tokenizer> make(std::string bytes, std::string name, const SentencePieceChoice& choice,
                                         const std::string& subject) {
    Facts facts;
    facts.files.push_back({kFileName, std::move(bytes)});
    const std::string& file = facts.files.front().bytes;
    const SentencePieceModel model = parse_sentencepiece_model(file, subject);
    auto library = load_library(file, subject);
    if (choice.allow_special) {
      throw UsageError("--allow-special: not for a model like " + subject + ", whose texts are encoded as a whole");
    }
    facts.kind = "sentencepiece";
    facts.name = std::move(name);
    OwnBorders own;
    if (library->bos_id() >= 0) own.bos = library->bos_id();
    if (library->eos_id() >= 0) own.eos = library->eos_id();
    const auto entries = std::ssize(model.pieces);
    facts.bos_id = choose_bos(choice.bos, own, special_tokens(model), entries, subject);
    facts.vocab_size = std::max<Index>(entries, Index{facts.bos_id} + 1);
    facts.eos_id = own.eos;
    facts.fidelity = fidelity_of(model);
    return std::make_unique<LibraryTokenizer>(std::move(facts), std::move(library), entries);
  }

  LibraryTokenizer(Facts facts, std::unique_ptr<SentencePieceProcessor> library, Index entries)
      : Tokenizer(std::move(facts)), library_(std::move(library)), entries_(entries) {}

  std::optional<unsigned char> encode_part(std::string_view text, bool /*begins*/,
                                           std::vector<Token>& ids) const override {
    if (text.size() > kMostBytes) {
      throw Error("a text of " + std::to_string(text.size()) + " bytes that cannot be cut, expected at most " +
                  std::to_string(kMostBytes) + ": give it as lines or JSON lines");
    }
    std::vector<int> part;
    const sentencepiece::util::Status status = library_->Encode(text, &part);
    if (!status.ok()) throw Error("SentencePiece cannot encode: " + one_line(status.error_message()));
    ids.insert(ids.end(), part.begin(), part.end());
    return std::nullopt;
  }

  Index last_cut(std::string_view /*text*/) const override { return 0; }

  std::string decode(std::span<const Token> ids) const override {
    std::vector<int> known;
    for (const Token id : ids) {
      require_in_vocabulary(id);
      if (id < entries_) known.push_back(id);
    }
    std::string text;
    const sentencepiece::util::Status status = library_->Decode(known, &text);
    if (!status.ok()) throw Error("SentencePiece cannot decode: " + one_line(status.error_message()));
    return text;
  }

  std::string piece(Token id) const override {
    require_in_vocabulary(id);
    return id < entries_ ? library_->IdToPiece(id) : "<bos>";
  }

 private:
  std::unique_ptr<SentencePieceProcessor> library_;
  Index entries_;
};

}  // namespace

Fidelity fidelity_of(const SentencePieceModel& model) {
  const bool keeps_text = model.character_map.empty() && model.decoding_map.empty() && !model.removes_extra_blanks &&
                          model.escapes_blanks && !model.blank_is_suffix && model.byte_fallback;
  return keeps_text ? Fidelity::text : Fidelity::normalised;
}

std::unique_ptr<Tokenizer> make_library_tokenizer(std::string model, std::string name,
                                                  const SentencePieceChoice& choice, const std::string& subject) {
  return LibraryTokenizer::make(std::move(model), std::move(name), choice, subject);
}

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::string model, std::string name,
                                                        const SentencePieceChoice& choice, const std::string& subject) {
  std::vector<io::TokenizerFile> files;
  files.push_back({kFileName, std::move(model)});
  const SentencePieceModel parsed = parse_sentencepiece_model(files.front().bytes, subject);
  // Which the library cannot encode some texts with.
  if (parsed.segmentation == SegmentationType::word) {
    throw Error(subject + ": a SentencePiece model of the type WORD, expected BPE, UNIGRAM or CHAR");
  }
  if (merges_by_ours(parsed)) return make_sentencepiece_bpe(parsed, files, std::move(name), choice, subject);
  return make_library_tokenizer(std::move(files.front().bytes), std::move(name), choice, subject);
}

}  // namespace bam::text
