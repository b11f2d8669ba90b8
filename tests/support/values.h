// Values - a tensor on the host, in double whatever it stands for, and its way to and from a backend's dtypes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/rng.h"
#include "kernels/tensor.h"

namespace bam::test {

struct Values {
  Shape shape;
  std::vector<double> at;

  double& operator[](Index i) { return at[static_cast<std::size_t>(i)]; }
  double operator[](Index i) const { return at[static_cast<std::size_t>(i)]; }
  Index count() const { return static_cast<Index>(at.size()); }
};

inline Values filled(const Shape& shape, double value) {
  return {shape, std::vector<double>(static_cast<std::size_t>(shape.count()), value)};
}

inline Values normal(const Shape& shape, std::uint64_t seed, double deviation = 1.0) {
  Values x = filled(shape, 0);
  Rng rng(seed);
  for (double& each : x.at) each = deviation * rng.normal();
  return x;
}

// Whole numbers in [0, bound).
inline Values whole(const Shape& shape, std::uint64_t seed, Index bound) {
  Values x = filled(shape, 0);
  Rng rng(seed);
  for (double& each : x.at) each = static_cast<double>(rng.below(static_cast<std::uint64_t>(bound)));
  return x;
}

// To nearest, ties to even; written from the format's definition, not from any backend's code.
inline float round_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return std::bit_cast<float>(bits | 0x00400000U);
  const std::uint32_t kept = bits & 0xFFFF0000U;
  const std::uint32_t dropped = bits & 0x0000FFFFU;
  const bool up = dropped > 0x8000U || (dropped == 0x8000U && (kept & 0x00010000U) != 0);
  return std::bit_cast<float>(up ? kept + 0x00010000U : kept);  // a carry into the exponent gives the right infinity
}

inline double rounded(double x, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(x));
    case DType::bf16:
      return static_cast<double>(round_to_bf16(static_cast<float>(x)));
    default:
      return x;
  }
}

inline Values rounded(Values x, DType dtype) {
  for (double& each : x.at) each = rounded(each, dtype);
  return x;
}

inline void store(double x, DType dtype, char* to) {
  const auto put = [to](const auto& value) { std::memcpy(to, &value, sizeof value); };
  switch (dtype) {
    case DType::f64:
      return put(x);
    case DType::f32:
      return put(static_cast<float>(x));
    case DType::bf16:
      return put(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(round_to_bf16(static_cast<float>(x))) >> 16));
    case DType::i32:
      return put(static_cast<std::int32_t>(x));
  }
}

inline double load(DType dtype, const char* from) {
  const auto get = [from](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f64:
      return get(double{});
    case DType::f32:
      return static_cast<double>(get(float{}));
    case DType::bf16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(get(std::uint16_t{})) << 16));
    case DType::i32:
      return static_cast<double>(get(std::int32_t{}));
  }
  return 0;
}

}  // namespace bam::test
