#include "model/reading_rule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/numbers.h"

namespace bam {
namespace {

using Kind = RopeScaling::Kind;

const NameTable<Kind> kKinds = {
    {"none", Kind::none}, {"linear", Kind::linear}, {"ntk", Kind::ntk}, {"yarn", Kind::yarn}};

// The pair, as a real number, that turns so many times within the training context.
double pair_of_turns(double turns, const ModelConfig& config) {
  const double length = static_cast<double>(config.context) / (turns * 2 * std::numbers::pi);
  return static_cast<double>(config.head_dim()) * std::log(length) / (2 * std::log(config.rope_theta));
}

// The share of interpolation of each pair, from 0 where it is fast to 1 where it is slow.
std::vector<double> yarn_ramp(const ModelConfig& config) {
  constexpr double kFast = 32;
  constexpr double kSlow = 1;
  const double last = static_cast<double>(config.head_dim() - 1);
  const double low = std::max(std::floor(pair_of_turns(kFast, config)), 0.0);
  const double high = std::min(std::ceil(pair_of_turns(kSlow, config)), last);
  const double width = high > low ? high - low : 1e-3;
  std::vector<double> ramp;
  for (Index k = 0; k < config.head_dim() / 2; ++k) {
    ramp.push_back(std::clamp((static_cast<double>(k) - low) / width, 0.0, 1.0));
  }
  return ramp;
}

}  // namespace

RopeScaling parse_rope_scaling(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const auto& [known, kind] : kKinds) {
    if (known != name || (kind == Kind::none) != (colon == text.npos)) continue;
    if (kind == Kind::none) return {};
    return {kind, parse_real(text.substr(colon + 1), {.low = 1, .high = 1e6})};
  }
  throw UsageError("'" + std::string(text) + "' is no scaling, expected none, linear:F, ntk:F or yarn:F");
}

std::string format_rope_scaling(const RopeScaling& scaling) {
  const std::string name(name_in(kKinds, scaling.kind));
  return scaling.kind == Kind::none ? name : name + ":" + format_real(scaling.factor);
}

std::string format_reading(const ReadingRule& rule) {
  std::string text = "eps=" + format_real(rule.skip_eps);
  if (rule.window > 0) text += ",window=" + std::to_string(rule.window);
  if (rule.rope_scaling.kind != Kind::none) text += ",rope-scaling=" + format_rope_scaling(rule.rope_scaling);
  return text;
}

void check_reading(const ReadingRule& rule, const ModelConfig& config) {
  if (rule.rope_scaling.kind == Kind::none) return;
  if (config.pe != PositionalEncoding::rope) {
    throw UsageError("--rope-scaling: the model's positions are '" +
                     std::string(name_in(positional_encoding_names(), config.pe)) + "', expected rope");
  }
  if (rule.rope_scaling.kind == Kind::yarn && config.context == 0) {
    throw UsageError("--rope-scaling: yarn goes by the training context, and this model has none");
  }
}

RotaryFrequencies rotary_frequencies(const ModelConfig& config, const RopeScaling& scaling) {
  const auto d = static_cast<double>(config.head_dim());
  const double factor = scaling.factor;
  const bool stretches_theta = scaling.kind == Kind::ntk && config.head_dim() > 2;
  const double theta = config.rope_theta * (stretches_theta ? std::pow(factor, d / (d - 2)) : 1);
  RotaryFrequencies result;
  for (Index k = 0; k < config.head_dim() / 2; ++k) {
    result.inverse.push_back(std::pow(theta, -2.0 * static_cast<double>(k) / d));
  }
  if (scaling.kind == Kind::linear) {
    for (double& each : result.inverse) each /= factor;
  }
  if (scaling.kind == Kind::yarn) {
    const std::vector<double> ramp = yarn_ramp(config);
    for (std::size_t k = 0; k < ramp.size(); ++k) result.inverse[k] *= 1 - ramp[k] + ramp[k] / factor;
    result.magnitude = 0.1 * std::log(factor) + 1;
  }
  return result;
}

}  // namespace bam
