#include "prior/init.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/rng.h"

namespace bam {
namespace {

std::optional<double> parse_finite(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<double> linear(double first, double last, Index count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.0;
    values[static_cast<std::size_t>(i)] = first + share * (last - first);
  }
  return values;
}

// "NAME:A:B" -> (A, B).
std::optional<std::pair<double, double>> two_arguments(std::string_view specification, std::string_view name) {
  const auto parts = split(specification, ':');
  if (parts.size() != 3 || parts[0] != name) return std::nullopt;
  const auto a = parse_finite(parts[1]);
  const auto b = parse_finite(parts[2]);
  if (!a || !b) return std::nullopt;
  return std::pair(*a, *b);
}

std::vector<double> slopes_of_power_of_two(Index heads) {
  std::vector<double> slopes;
  for (Index h = 1; h <= heads; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(heads)));
  return slopes;
}

}  // namespace

std::vector<double> alibi_slopes(Index heads) {
  Index power = 1;
  while (power * 2 <= heads) power *= 2;
  std::vector<double> slopes = slopes_of_power_of_two(power);
  const std::vector<double> finer = slopes_of_power_of_two(2 * power);
  for (std::size_t i = 0; static_cast<Index>(slopes.size()) < heads; i += 2) slopes.push_back(finer[i]);
  return slopes;
}

std::vector<HeadPrior> authors_prior(Index heads) {
  std::vector<HeadPrior> priors;
  for (const double slope : alibi_slopes(heads)) priors.push_back({.shape = 1, .scale = std::log(slope), .loc = 0});
  return priors;
}

std::vector<HeadPrior> spread_prior(Index heads) {
  constexpr Index kFurthestPrevious = 8;
  constexpr double kGentlest = 8;  // the exponent of ALiBi's least slope, 2^-8
  if (heads == 1) return authors_prior(1);
  const Index retrieval = std::max<Index>(1, heads / 4);
  const Index previous = std::min(kFurthestPrevious, heads / 2);
  const Index local = heads - retrieval - previous;
  std::vector<HeadPrior> priors;
  for (Index k = 1; k <= previous; ++k)
    priors.push_back({.shape = 1, .scale = 0, .loc = -std::asinh(static_cast<double>(k) / 2)});
  const double step = local > 1 ? std::min(3.0, (kGentlest - 1) / static_cast<double>(local - 1)) : 0.0;
  for (Index i = 0; i < local; ++i)
    priors.push_back({.shape = 1, .scale = -(1 + step * static_cast<double>(i)) * std::log(2.0), .loc = 0});
  for (Index i = 0; i < retrieval; ++i) priors.push_back({.shape = -1, .scale = 0, .loc = 0});
  return priors;
}

std::vector<double> values_by_head(std::string_view specification, Index heads, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(heads);
  if (const auto number = parse_finite(specification)) return std::vector<double>(count, *number);
  if (specification == "slopes") {
    std::vector<double> values = alibi_slopes(heads);
    for (double& value : values) value = std::log(value);
    return values;
  }
  if (const auto ends = two_arguments(specification, "linear")) return linear(ends->first, ends->second, heads);
  if (const auto moments = two_arguments(specification, "normal")) {
    if (moments->second < 0) {
      throw UsageError("'" + std::string(specification) + "' has a negative deviation, expected at least 0");
    }
    Rng rng(seed);
    std::vector<double> values(count);
    for (double& value : values) value = moments->first + moments->second * rng.normal();
    return values;
  }
  std::vector<double> values;
  for (const std::string_view part : split(specification, ',')) {
    const auto number = parse_finite(part);
    if (!number) {
      throw UsageError("'" + std::string(specification) +
                       "' is not a value by head, expected a number, a list, slopes, linear:A:B or normal:MEAN:SD");
    }
    values.push_back(*number);
  }
  if (values.size() != count) {
    throw UsageError("'" + std::string(specification) + "' names " + std::to_string(values.size()) +
                     " heads, expected " + std::to_string(heads));
  }
  return values;
}

void apply_formulas(const PriorFormulas& formulas, std::uint64_t seed, std::vector<std::vector<HeadPrior>>& priors) {
  const auto replace = [&](const char* option, const std::string& specification, double HeadPrior::*field,
                           std::uint64_t which) {
    if (specification.empty()) return;
    for (std::size_t i = 0; i < priors.size(); ++i) {
      try {
        const auto values = values_by_head(specification, std::ssize(priors[i]), mix64(seed) ^ mix64(3 * i + which));
        for (std::size_t h = 0; h < values.size(); ++h) priors[i][h].*field = values[h];
      } catch (const UsageError& error) {
        throw UsageError(std::string(option) + ": " + error.what());
      }
    }
  };
  replace("--shape-init", formulas.shape, &HeadPrior::shape, 0);
  replace("--scale-init", formulas.scale, &HeadPrior::scale, 1);
  replace("--loc-init", formulas.loc, &HeadPrior::loc, 2);
}

}  // namespace bam
