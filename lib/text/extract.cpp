#include <utility>

#include "text/documents.h"
#include "text/json_record.h"

namespace bam::text {

TextExtractor::TextExtractor(InputFormat format, std::string field) : format_(format), field_(std::move(field)) {}

std::string TextExtractor::extract(Record& record, std::string_view& text) const {
  text = {};
  if (!record.problem.empty()) return record.problem;
  if (format_ != InputFormat::jsonl) {
    text = record.bytes;
    return {};
  }
  std::string problem = take_json_text(record.bytes, field_, text);
  if (problem == kNotJson && !record.has_end) problem += " (a last line without its newline: cut short?)";
  return problem;
}

}  // namespace bam::text
