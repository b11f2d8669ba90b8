// boxes: text io base
// Tokenizer files of every kind, as a shard or checkpoint carries them: refused with an Error, or they work.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "text/formats.h"
#include "text/sentencepiece_tokenizer.h"

namespace {

using namespace bam::text;

constexpr char kBytes[] =
    "Some text: the  12'll \xef\xac\x81 e\xcc\x81\xff\xe2\x82 <s>\n\0 a\xe4\xbd\xa0\xe5\xa5\xbd aaaaaaaaaaaaaaaaaa";
const std::string kText(kBytes, sizeof kBytes - 1);

std::unique_ptr<Tokenizer> make(unsigned kind, const std::string& bytes) {
  const FormatChoice choice{"fuzz", "fuzz", {}, (kind & 8U) != 0};
  switch (kind % 4) {
    case 0:
      return make_huggingface(bytes, choice);
    case 1:
      // That of the fewest ids: each run makes them all.
      return make_tiktoken_as("r50k_base", bytes, choice);
    case 2: {
      const std::size_t end = bytes.find('\x01');
      return make_gpt2(bytes.substr(0, end), end == std::string::npos ? "" : bytes.substr(end + 1), choice);
    }
    default:
      return make_sentencepiece_tokenizer(bytes, "fuzz", {choice.bos, choice.allow_special}, "fuzz");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    const auto tokenizer = make(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    const auto ids = tokenizer->encode(kText);
    for (const Token id : ids) (void)tokenizer->piece(id);
    (void)tokenizer->decode(ids);
    (void)tokenizer->last_cut(kText);
  } catch (const bam::Error&) {
  }
  return 0;
}
