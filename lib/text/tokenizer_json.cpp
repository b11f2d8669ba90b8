#include "text/tokenizer_json.h"

#include "io/json.h"
#include "io/json_lines.h"

namespace bam::text {
namespace {

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";

class Formatter {
 public:
  explicit Formatter(const TokenizerJson& tokenizer) : tokenizer_(tokenizer) {}

  std::string operator()() {
    json_.begin_object().field("version", "1.0").field("truncation", nullptr).field("padding", nullptr);
    added_tokens();
    json_.key("normalizer");
    tokenizer_.byte_level ? void(json_.value(nullptr)) : normaliser();
    json_.key("pre_tokenizer");
    tokenizer_.byte_level ? pre_tokenizer() : void(json_.value(nullptr));
    post_processor();
    json_.key("decoder");
    tokenizer_.byte_level ? byte_level(true) : decoder();
    model();
    json_.end_object();
    return io::json_lines(json_.text());
  }

 private:
  const std::string& entry(Token id) const { return tokenizer_.entries[static_cast<std::size_t>(id)]; }
  std::string symbol(Token id) const {
    return std::string(tokenizer_.dummy_prefix ? kSymbolMark : std::string_view()).append(entry(id));
  }

  void added(Token id, const std::string& content, bool special) {
    json_.begin_object().field("id", Index{id}).field("content", content).field("single_word", false);
    json_.field("lstrip", false).field("rstrip", false).field("normalized", !special).field("special", special);
    json_.end_object();
  }

  void added_tokens() {
    json_.key("added_tokens").begin_array();
    for (const Token id : tokenizer_.special) added(id, entry(id), true);
    for (const Token id : tokenizer_.user_defined) added(id, symbol(id), false);
    json_.end_array();
  }

  void replace(std::string_view from, std::string_view to) {
    json_.begin_object().field("type", "Replace").key("pattern").begin_object().field("String", from).end_object();
    json_.field("content", to).end_object();
  }

  // A symbol that is looked for in the normalised text is normalised itself, with a prefix; its mark takes that away.
  void normaliser() {
    json_.begin_object().field("type", "Sequence").key("normalizers").begin_array();
    if (tokenizer_.dummy_prefix) {
      json_.begin_object().field("type", "Prepend").field("prepend", kBlankSymbol).end_object();
      if (!tokenizer_.user_defined.empty()) replace(std::string(kBlankSymbol).append(kSymbolMark), "");
    }
    replace(" ", kBlankSymbol);
    json_.end_array().end_object();
  }

  void byte_level(bool use_regex) {
    json_.begin_object().field("type", "ByteLevel").field("add_prefix_space", false).field("trim_offsets", true);
    json_.field("use_regex", use_regex).end_object();
  }

  void pre_tokenizer() {
    if (tokenizer_.pattern.empty()) return byte_level(true);
    json_.begin_object().field("type", "Sequence").key("pretokenizers").begin_array();
    json_.begin_object().field("type", "Split").key("pattern").begin_object();
    json_.field("Regex", tokenizer_.pattern).end_object().field("behavior", "Isolated").field("invert", false);
    json_.end_object();
    byte_level(false);
    json_.end_array().end_object();
  }

  void part(std::string_view kind, std::string_view id, int type) {
    json_.begin_object().key(kind).begin_object().field("id", id).field("type_id", type).end_object().end_object();
  }

  void post_processor() {
    const std::string& bos = entry(tokenizer_.bos);
    json_.key("post_processor").begin_object().field("type", "TemplateProcessing").key("single").begin_array();
    part("SpecialToken", bos, 0);
    part("Sequence", "A", 0);
    json_.end_array().key("pair").begin_array();
    for (const char* text : {"A", "B"}) {
      part("SpecialToken", bos, 0);
      part("Sequence", text, 0);
    }
    json_.end_array().key("special_tokens").begin_object().key(bos).begin_object().field("id", bos);
    json_.key("ids").begin_array().value(Index{tokenizer_.bos}).end_array();
    json_.key("tokens").begin_array().value(bos).end_array().end_object().end_object().end_object();
  }

  void decoder() {
    json_.begin_object().field("type", "Sequence").key("decoders").begin_array();
    if (tokenizer_.dummy_prefix && !tokenizer_.user_defined.empty()) replace(kSymbolMark, "");
    replace(kBlankSymbol, " ");
    if (tokenizer_.byte_fallback) json_.begin_object().field("type", "ByteFallback").end_object();
    json_.begin_object().field("type", "Fuse").end_object();
    if (tokenizer_.dummy_prefix) {
      json_.begin_object().field("type", "Strip").field("content", " ").field("start", 1).field("stop", 0);
      json_.end_object();
    }
    json_.end_array().end_object();
  }

  void model() {
    json_.key("model").begin_object().field("type", "BPE").field("dropout", nullptr).key("unk_token");
    tokenizer_.unknown.empty() ? json_.value(nullptr) : json_.value(tokenizer_.unknown);
    json_.field("continuing_subword_prefix", nullptr).field("end_of_word_suffix", nullptr);
    json_.field("fuse_unk", !tokenizer_.unknown.empty()).field("byte_fallback", tokenizer_.byte_fallback);
    json_.field("ignore_merges", false).key("vocab").begin_object();
    std::vector<bool> is_symbol(tokenizer_.entries.size());
    for (const Token id : tokenizer_.user_defined) is_symbol[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < tokenizer_.entries.size(); ++i) {
      const auto id = static_cast<Token>(i);
      if (!entry(id).empty()) json_.field(is_symbol[i] ? symbol(id) : entry(id), Index{id});
    }
    json_.end_object().key("merges").begin_array();
    for (const Merge& merge : tokenizer_.merges) {
      json_.value(std::string(entry(merge.left)).append(" ").append(entry(merge.right)));
    }
    json_.end_array().end_object();
  }

  const TokenizerJson& tokenizer_;
  io::JsonWriter json_;
};

}  // namespace

std::vector<std::string> entries_of(const std::vector<BpePiece>& pieces) {
  std::vector<std::string> entries;
  for (const BpePiece& piece : pieces) {
    const bool has_none = piece.role == PieceRole::nothing && piece.label == "<unused>";
    entries.push_back(has_none ? "" : piece.label.empty() ? piece.text : piece.label);
  }
  return entries;
}

std::string format_tokenizer_json(const TokenizerJson& tokenizer) {
  return Formatter(tokenizer)();
}

}  // namespace bam::text
