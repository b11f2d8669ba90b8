#include "text/bytes_tokenizer.h"

namespace bam::text {
namespace {

constexpr Token kBytes = 256;

class BytesTokenizer : public Tokenizer {
 public:
  BytesTokenizer() : Tokenizer({"bytes", "bytes", kBytes + 1, kBytes, std::nullopt, Fidelity::bytes, {}}) {}

  std::optional<unsigned char> encode_part(std::string_view text, bool /*begins*/,
                                           std::vector<Token>& ids) const override {
    const std::size_t start = ids.size();
    ids.resize(start + text.size());
    for (std::size_t i = 0; i < text.size(); ++i) ids[start + i] = static_cast<unsigned char>(text[i]);
    return std::nullopt;
  }

  Index last_cut(std::string_view text) const override { return static_cast<Index>(text.size()); }

  std::string decode(std::span<const Token> ids) const override {
    std::string bytes;
    bytes.reserve(ids.size());
    for (const Token id : ids) {
      require_in_vocabulary(id);
      if (id < kBytes) bytes += static_cast<char>(id);
    }
    return bytes;
  }

  std::string piece(Token id) const override {
    require_in_vocabulary(id);
    if (id == kBytes) return "<bos>";
    constexpr char kDigits[] = "0123456789ABCDEF";
    return std::string("<0x") + kDigits[id / 16] + kDigits[id % 16] + '>';
  }
};

}  // namespace

std::unique_ptr<Tokenizer> make_bytes_tokenizer() {
  return std::make_unique<BytesTokenizer>();
}

}  // namespace bam::text
