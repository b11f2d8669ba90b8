#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_embedding_forward(const EmbeddingForwardArgs& args) {
  const auto tokens = integers(args.tokens);
  const auto weight = reals(args.weight);
  const auto positions = reals(args.positions);
  const auto out = reals(args.out);
  for (Index b = 0; b < out.size(0); ++b) {
    for (Index t = 0; t < out.size(1); ++t) {
      for (Index c = 0; c < out.size(2); ++c) {
        out(b, t, c) = weight(tokens(b, t), c) + (positions.empty() ? 0.0 : positions(t, c));
      }
    }
  }
}

void RefBackend::do_embedding_backward(const EmbeddingBackwardArgs& args) {
  const auto tokens = integers(args.tokens);
  const auto dout = reals(args.dout);
  const auto dweight = reals(args.dweight);
  for (Index b = 0; b < dout.size(0); ++b) {
    for (Index t = 0; t < dout.size(1); ++t) {
      for (Index c = 0; c < dout.size(2); ++c) dweight(tokens(b, t), c) += dout(b, t, c);
    }
  }
}

void RefBackend::do_sinusoidal_table(const SinusoidalTableArgs& args) {
  const auto table = reals(args.table);
  for (Index t = 0; t < table.size(0); ++t) {
    for (Index c = 0; c < table.size(1); ++c) {
      const double exponent = -static_cast<double>(c) / static_cast<double>(table.size(1));
      const double angle = static_cast<double>(args.first_position + t) * std::pow(args.theta, exponent);
      table(t, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
}

}  // namespace bam::ref
