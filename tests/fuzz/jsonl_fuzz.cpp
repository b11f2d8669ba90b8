// boxes: text io base
// Documents out of JSON lines, lines and texts, compressed or not.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "text/documents.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bam::text;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  InputOptions options;
  options.format = static_cast<InputFormat>(data[0] % 4);
  options.most_bytes = 1000;
  try {
    DocumentReader reader(bam::io::decompress(bam::io::source_from_memory("fuzz.jsonl", bytes)), options);
    const TextExtractor extractor(reader.format(), "text");
    for (Record record; reader.next(record);) {
      std::string_view text;
      const std::string problem = extractor.extract(record, text);
      if (problem.empty() && reader.format() == InputFormat::jsonl && !is_utf8(text)) abort();
    }
  } catch (const bam::Error&) {
  }
  return 0;
}
