#include "text/bpe_tokenizer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A letter or digit and then a blank or newline: where splitters that promise it never hold on.
Index last_cut_before_blank(std::string_view text) {
  const auto is_ascii_white = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  for (std::size_t at = text.size(); at-- > 1;) {
    if (!is_ascii_white(text[at])) continue;
    std::size_t start = at - 1;
    while (start > 0 && at - start < 4 && is_continuation(text[start])) --start;
    const CodePoint left = first_code_point(text.substr(start, at - start));
    if (left.bytes != at - start) continue;
    const CharClass kind = CharClasses::get().of(left.value);
    if (kind == CharClass::letter || kind == CharClass::number) return static_cast<Index>(at);
  }
  return 0;
}

// With blanks for U+2581.
void append_with_blanks(std::string_view piece, std::string& text) {
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t symbol = std::min(piece.find(kBlankSymbol, at), piece.size());
    text.append(piece.substr(at, symbol - at));
    if (symbol < piece.size()) text.push_back(' ');
    at = symbol + kBlankSymbol.size();
  }
}

// The characters of a run of byte pieces.
std::string characters_of(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const CodePoint point = first_code_point(bytes);
    text += point.bytes > 0 ? bytes.substr(0, point.bytes) : kReplacement;
    bytes.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return text;
}

class BpeTokenizer : public Tokenizer {
 public:
  static std::unique_ptr<Tokenizer> make(BpeParts parts, const BosChoice& bos, const std::string& subject) {
    const auto entries = std::ssize(parts.pieces);
    Facts facts;
    facts.kind = parts.kind;
    facts.name = parts.name;
    facts.bos_id = choose_bos(bos, {parts.bos, parts.eos}, parts.special, entries, subject);
    facts.vocab_size = std::max<Index>(entries, Index{facts.bos_id} + 1);
    facts.eos_id = parts.eos;
    facts.fidelity = parts.fidelity;
    facts.files = std::exchange(parts.files, {});
    return std::make_unique<BpeTokenizer>(std::move(parts), std::move(facts));
  }

  BpeTokenizer(BpeParts parts, Facts facts) : Tokenizer(std::move(facts)), parts_(std::move(parts)) {
    if (parts_.words.alphabet.is_bytes()) {
      for (const BpePiece& piece : parts_.pieces) parts_.words.pairs.add(piece.text);
      for (unsigned byte = 0; byte < 256; ++byte) {
        const auto known = static_cast<unsigned char>(byte);
        if (parts_.words.alphabet.lacks(known)) parts_.words.pairs.never_part(known);
      }
    }
    if (!parts_.splitter) {
      for (const AddedTokens* added : {&parts_.first, &parts_.later}) {
        for (const AddedToken& token : added->all()) parts_.neighbours.add(token.content);
      }
      parts_.splitter = make_neighbour_splitter(parts_.neighbours);
      cuts_ = Cuts::between_neighbours;
    } else if (parts_.splitter->parts_before_blanks() && !added_span_cuts()) {
      cuts_ = Cuts::before_blanks;
    }
    // Where a prefix is due behind a token cannot be told from a text that is not normalised yet.
    const bool hides_prefix = parts_.normalise && parts_.prefix != PrefixBlank::none && !parts_.later.empty();
    if (!parts_.parts || hides_prefix || parts_.first.look_around() || parts_.later.look_around()) cuts_ = Cuts::none;
  }

  std::optional<unsigned char> encode_part(std::string_view text, bool begins, std::vector<Token>& ids) const override {
    std::string repaired;
    if (parts_.repairs_utf8 && !is_utf8(text)) text = repaired = repaired_utf8(text);
    const Loan loan(*this);
    if (parts_.first.empty()) {
      encode_stretch(text, begins, !begins, *loan, ids);
      return (*loan).encoder.take_lost();
    }
    for (const AddedTokens::Section& section : parts_.first.split(text)) {
      if (section.id >= 0) {
        ids.push_back(section.id);
      } else {
        const bool is_first = section.begin == 0;
        encode_stretch(text.substr(section.begin, section.end - section.begin), begins && is_first, !begins && is_first,
                       *loan, ids);
      }
    }
    return (*loan).encoder.take_lost();
  }

  Index last_cut(std::string_view text) const override {
    if (cuts_ == Cuts::none) return 0;
    while (true) {
      const Index cut = cuts_ == Cuts::before_blanks ? last_cut_before_blank(text) : parts_.neighbours.last_cut(text);
      text = text.substr(0, static_cast<std::size_t>(cut));
      if (cut == 0 || is_plain_end(text)) return cut;
    }
  }

  std::string decode(std::span<const Token> ids) const override {
    if (parts_.decode) {
      for (const Token id : ids) require_in_vocabulary(id);
      while (!ids.empty() && is_border(ids.front())) ids = ids.subspan(1);
      while (!ids.empty() && is_border(ids.back())) ids = ids.first(ids.size() - 1);
      std::vector<Token> kept;
      if (std::any_of(ids.begin(), ids.end(), [&](Token id) { return is_border(id); })) {
        std::copy_if(ids.begin(), ids.end(), std::back_inserter(kept), [&](Token id) { return !is_border(id); });
        ids = kept;
      }
      return parts_.decode(ids);
    }
    std::string text, run;
    bool is_start = true;
    const auto end_run = [&] {
      text += characters_of(run);
      run.clear();
    };
    for (const Token id : ids) {
      require_in_vocabulary(id);
      if (is_border(id) || id >= std::ssize(parts_.pieces)) {
        end_run();
        continue;
      }
      const BpePiece& piece = parts_.pieces[static_cast<std::size_t>(id)];
      if (parts_.decoding == Decoding::bytes) {
        if (piece.role != PieceRole::nothing) text += piece.text;
        continue;
      }
      if (piece.role == PieceRole::byte) {
        run += piece.text;
        continue;
      }
      end_run();
      if (!text.empty()) is_start = false;
      if (piece.role != PieceRole::nothing) is_start = append_piece(piece, is_start, text);
    }
    end_run();
    return text;
  }

  std::string piece(Token id) const override {
    require_in_vocabulary(id);
    if (id >= std::ssize(parts_.pieces)) return "<bos>";
    const BpePiece& piece = parts_.pieces[static_cast<std::size_t>(id)];
    return piece.label.empty() ? piece.text : piece.label;
  }

 private:
  enum class Cuts { none, before_blanks, between_neighbours };

  struct Scratch {
    WordEncoder encoder;
    std::vector<Span> words;
  };

  // Working memory of one thread, lent for one call, so that what one call learnt about words serves the next.
  class Loan {
   public:
    explicit Loan(const BpeTokenizer& owner) : owner_(owner) {
      const std::lock_guard lock(owner_.mutex_);
      if (!owner_.idle_.empty()) {
        scratch_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      }
      if (!scratch_) scratch_ = std::make_unique<Scratch>();
    }
    ~Loan() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(scratch_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Scratch& operator*() const { return *scratch_; }

   private:
    const BpeTokenizer& owner_;
    std::unique_ptr<Scratch> scratch_;
  };

  // Whether a text may go on behind this one as if it had not been cut. Behind an added token a stretch begins; and a
  // character before a blank must be what it is for the splitter, too.
  bool is_plain_end(std::string_view text) const {
    if (parts_.first.any_ends(text) || parts_.later.any_ends(text)) return false;
    if (!parts_.normalise || cuts_ != Cuts::before_blanks) return true;
    std::size_t begin = text.size() - 1;
    while (begin > 0 && is_continuation(text[begin])) --begin;
    const std::string_view last = text.substr(begin);
    return parts_.normalise(last, false, true) == last;
  }

  bool is_border(Token id) const { return id == bos_id() || (eos_id() && id == *eos_id()); }

  bool added_span_cuts() const {
    for (const AddedTokens* added : {&parts_.first, &parts_.later}) {
      for (const AddedToken& token : added->all()) {
        if (last_cut_before_blank(token.content) > 0) return true;
      }
    }
    return false;
  }

  void encode_stretch(std::string_view text, bool is_start, bool goes_on, Scratch& scratch,
                      std::vector<Token>& ids) const {
    std::string normalised;
    if (parts_.normalise) text = normalised = parts_.normalise(text, is_start, goes_on);
    if (parts_.later.empty()) {
      encode_plain(text, is_start, goes_on, scratch, ids);
      return;
    }
    for (const AddedTokens::Section& section : parts_.later.split(text)) {
      if (section.id >= 0) {
        ids.push_back(section.id);
      } else {
        const bool is_first = section.begin == 0;
        encode_plain(text.substr(section.begin, section.end - section.begin), is_start && is_first, goes_on && is_first,
                     scratch, ids);
      }
    }
  }

  bool wants_prefix(std::string_view text, bool is_start, bool goes_on) const {
    if (parts_.prefix == PrefixBlank::none || text.empty() || goes_on) return false;
    if (parts_.prefix_at_start_only && !is_start) return false;
    if (parts_.prefix == PrefixBlank::always) return true;
    const bool is_symbol = parts_.prefix == PrefixBlank::unless_blank && text.starts_with(kBlankSymbol);
    return !text.starts_with(' ') && !is_symbol;
  }

  void encode_plain(std::string_view text, bool is_start, bool goes_on, Scratch& scratch,
                    std::vector<Token>& ids) const {
    std::string prefixed;
    if (wants_prefix(text, is_start, goes_on)) text = prefixed.append(1, ' ').append(text);
    for (std::size_t at = 0; at < text.size();) {
      scratch.words.clear();
      at = parts_.splitter->split(text, at, scratch.words);
      for (const Span& word : scratch.words) {
        scratch.encoder.encode(parts_.words, text.substr(word.begin, word.end - word.begin), text.size() - word.begin,
                               ids);
      }
    }
  }

  // Returns whether what follows is still at the start of the text.
  bool append_piece(const BpePiece& piece, bool is_start, std::string& text) const {
    if (piece.role == PieceRole::unknown) {
      text += piece.text;
      return is_start && text.empty();
    }
    std::string_view part = piece.text;
    bool dropped = false;
    const bool drops = is_start && (parts_.drops_first_blank || parts_.drops_leading_blanks);
    if (drops && part.starts_with(kBlankSymbol)) {
      part.remove_prefix(kBlankSymbol.size());
      dropped = !parts_.drops_leading_blanks;
    }
    append_with_blanks(part, text);
    return !dropped && text.empty();
  }

  BpeParts parts_;
  Cuts cuts_ = Cuts::none;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace

void require_dense_ids(Index largest_id, Index tokens, const std::string& subject) {
  constexpr Index kMostUnused = 1 << 18;  // the last special ids of the largest published encodings are below
  if (largest_id < tokens + kMostUnused) return;
  throw Error(subject + ": the id " + std::to_string(largest_id) + " in a vocabulary of " + std::to_string(tokens) +
              " tokens");
}

std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeParts parts, const BosChoice& bos, const std::string& subject) {
  return BpeTokenizer::make(std::move(parts), bos, subject);
}

}  // namespace bam::text
