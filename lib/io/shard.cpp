#include "io/shard.h"

namespace bam::io {
namespace {

std::string text_of(const std::optional<Token>& id) {
  return id ? std::to_string(*id) : "none";
}

}  // namespace

TokenWidth ShardHeader::width_for(Index vocab_size) {
  return vocab_size <= (Index{1} << 16) ? TokenWidth::u16 : TokenWidth::u32;
}

bool looks_like_shard(std::string_view beginning) {
  constexpr std::string_view kMagic = "\x50\x2A\x4D\x18";
  constexpr std::string_view kFourBytes("\x04\0\0\0", 4);
  constexpr std::size_t kContent = 8;  // behind the magic and a size
  if (!beginning.starts_with(kMagic)) return false;
  if (beginning.size() <= kContent) return true;
  return beginning.substr(kMagic.size(), kFourBytes.size()) != kFourBytes && beginning[kContent] == '{';
}

std::string header_difference(const ShardHeader& a, const ShardHeader& b) {
  const auto pair = [](const char* what, const std::string& left, const std::string& right) {
    return std::string(what) + " " + left + " and " + right;
  };
  const auto width = [](const ShardHeader& header) { return header.width == TokenWidth::u16 ? "u16" : "u32"; };
  if (a.vocab_size != b.vocab_size) {
    return pair("vocab_size", std::to_string(a.vocab_size), std::to_string(b.vocab_size));
  }
  if (a.width != b.width) return pair("dtype", width(a), width(b));
  if (a.bos_id != b.bos_id) return pair("bos_id", text_of(a.bos_id), text_of(b.bos_id));
  if (a.eos_id != b.eos_id) return pair("eos_id", text_of(a.eos_id), text_of(b.eos_id));
  if (a.tokenizer_kind != b.tokenizer_kind) return pair("tokenizer kind", a.tokenizer_kind, b.tokenizer_kind);
  if (a.tokenizer_sha256 != b.tokenizer_sha256) {
    return pair("tokenizer sha256", a.tokenizer_sha256, b.tokenizer_sha256) + " (" + a.tokenizer_name + " and " +
           b.tokenizer_name + ")";
  }
  return "";
}

}  // namespace bam::io
