// RULER's metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eval/ruler_tasks.h"

namespace bam::eval {

// What is left of a prediction before it is judged: stripped, and its control characters line feeds.
std::string clean_prediction(std::string_view prediction);

// 0 to 1: large and small letters alike, anywhere in the cleaned prediction, even within a longer word or number.
// An empty reference is always found. At least one reference.
double ruler_score(RulerMatch match, std::string_view prediction, const std::vector<std::string>& references);

}  // namespace bam::eval
