#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_rotary_table(const RotaryTableArgs& args) {
  const auto table = reals(args.table);
  for (Index t = 0; t < table.size(0); ++t) {
    for (Index k = 0; k < table.size(1); ++k) {
      const double frequency = args.inverse_frequency[static_cast<std::size_t>(k)];
      const double angle = static_cast<double>(args.first_position + t) * frequency;
      table(t, k, 0) = args.magnitude * std::cos(angle);
      table(t, k, 1) = args.magnitude * std::sin(angle);
    }
  }
}

void RefBackend::do_rotary(const RotaryArgs& args) {
  const auto x = reals(args.x);
  const auto table = reals(args.table);
  for (Index b = 0; b < x.size(0); ++b) {
    for (Index t = 0; t < x.size(1); ++t) {
      for (Index h = 0; h < x.size(2); ++h) {
        for (Index k = 0; k < x.size(3) / 2; ++k) {
          const double cosine = table(t, k, 0);
          const double sine = args.inverse ? -table(t, k, 1) : table(t, k, 1);
          const double even = x(b, t, h, 2 * k);
          const double odd = x(b, t, h, 2 * k + 1);
          x(b, t, h, 2 * k) = even * cosine - odd * sine;
          x(b, t, h, 2 * k + 1) = even * sine + odd * cosine;
        }
      }
    }
  }
}

}  // namespace bam::ref
