#include "text/sentencepiece_normaliser.h"

#include <utility>

#include "io/bytes.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

SentencePieceNormaliser::SentencePieceNormaliser(const SentencePieceModel& model, AddedTokens kept)
    : dummy_prefix_(model.dummy_prefix), removes_extra_blanks_(model.removes_extra_blanks), kept_(std::move(kept)) {
  if (model.character_map.empty()) return;
  const std::string_view map = model.character_map;
  const std::size_t bytes = io::load_u32(map);
  for (std::size_t i = 0; i < bytes; i += 4) units_.push_back(io::load_u32(map.substr(4 + i)));
  replacements_ = map.substr(4 + bytes);
}

SentencePieceNormaliser::Piece SentencePieceNormaliser::longest_rule(std::string_view text) const {
  Piece found;
  if (units_.empty()) return found;
  const auto offset = [](std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10U) << ((unit & 0x200U) >> 6U);
  };
  std::size_t node = offset(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    const std::uint32_t unit = units_[node];
    if ((unit & 0x800000FFU) != byte) break;
    node ^= offset(unit);
    if ((unit >> 8U & 1U) != 0) {
      found.text = replacements_.c_str() + (units_[node] & 0x7FFFFFFFU);
      found.consumed = i + 1;
    }
  }
  return found;
}

SentencePieceNormaliser::Piece SentencePieceNormaliser::next(std::string_view text) const {
  if (const AddedToken* symbol = kept_.longest(text)) return {symbol->content, symbol->content.size()};
  if (const Piece rule = longest_rule(text); rule.consumed > 0) return rule;
  const CodePoint point = first_code_point(text);
  if (point.bytes == 0) return {kReplacement, 1};
  return {text.substr(0, point.bytes), point.bytes};
}

std::string SentencePieceNormaliser::operator()(std::string_view text, bool is_start) const {
  while (removes_extra_blanks_ && !text.empty()) {
    const Piece piece = next(text);
    if (piece.text != " ") break;
    text.remove_prefix(piece.consumed);
  }
  std::string out;
  if (text.empty()) return out;
  out.reserve(text.size() + 1);
  if (dummy_prefix_ && is_start) out += ' ';
  bool behind_blank = removes_extra_blanks_;
  while (!text.empty()) {
    const Piece piece = next(text);
    std::string_view part = piece.text;
    while (behind_blank && part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) {
      out += part;
      behind_blank = part.ends_with(' ');
    }
    if (!removes_extra_blanks_) behind_blank = false;
    text.remove_prefix(piece.consumed);
  }
  while (removes_extra_blanks_ && (out.ends_with(' ') || out.ends_with(kBlankSymbol))) {
    out.resize(out.size() - (out.ends_with(' ') ? 1 : kBlankSymbol.size()));
  }
  return out;
}

}  // namespace bam::text
