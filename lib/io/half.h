// Numbers of 16 bits, as bits: bf16 (the upper half of a float32) and IEEE's f16. Widening is exact, NaN payloads
// included; narrowing rounds to nearest, ties to even, and gives back the bits of what was widened.
#pragma once

#include <bit>
#include <cstdint>

namespace bam::io {

inline float widen_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

inline std::uint16_t narrow_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {  // a NaN stays one, even where its payload is in the lower half alone
    const std::uint32_t upper = bits >> 16U;
    return static_cast<std::uint16_t>((upper & 0x7FU) != 0 ? upper : upper | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

inline float widen_f16(std::uint16_t bits) {
  constexpr float kSmallest = 0x1p-24F;  // the unit of numbers with exponent 0
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * kSmallest;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23U | mantissa << 13U);
}

inline std::uint16_t narrow_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t narrow = 0x7C00U;  // infinity, and what rounds to it: 65520 and above
  if (magnitude > 0x7F800000U) {
    const std::uint32_t payload = (magnitude >> 13U) & 0x3FFU;
    narrow |= payload != 0 ? payload : 0x200U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: multiples of 2^-24, rounded by the addition
    constexpr float kShift = 0.5F;       // whose last bit is worth 2^-24
    narrow =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + kShift) - std::bit_cast<std::uint32_t>(kShift);
  } else if (magnitude < 0x477FF000U) {
    narrow = (magnitude - ((127U - 15U) << 23U) + 0xFFFU + ((magnitude >> 13U) & 1U)) >> 13U;
  }
  return static_cast<std::uint16_t>(sign | narrow);
}

}  // namespace bam::io
