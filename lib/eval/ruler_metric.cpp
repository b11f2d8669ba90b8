#include "eval/ruler_metric.h"

#include "eval/python_text.h"

namespace bam::eval {

std::string clean_prediction(std::string_view prediction) {
  std::string text(strip(prediction));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = '\n';
  }
  return std::string(strip(text));
}

double ruler_score(RulerMatch match, std::string_view prediction, const std::vector<std::string>& references) {
  const std::string text = lower(clean_prediction(prediction));
  Index found = 0;
  for (const std::string& reference : references) found += text.find(lower(reference)) != std::string::npos ? 1 : 0;
  if (match == RulerMatch::part) return found > 0 ? 1 : 0;
  return static_cast<double>(found) / static_cast<double>(references.size());
}

}  // namespace bam::eval
