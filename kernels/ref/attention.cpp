#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {
namespace {

// What forward and backward share: the logits of the visible keys.
template <typename Args>
class Attention {
 public:
  explicit Attention(const Args& args)
      : ssmax_(args.ssmax),
        q_(reals(args.q)),
        k_(reals(args.k)),
        prior_(reals(args.prior)),
        first_key_(integers(args.first_key)),
        ssmax_scale_(reals(args.ssmax_scale)) {}

  Index batches() const { return q_.size(0); }
  Index queries() const { return q_.size(1); }
  Index heads() const { return q_.size(2); }
  Index dim() const { return q_.size(3); }

  Index kv_head(Index h) const { return h / (heads() / k_.size(2)); }
  Index position(Index t) const { return k_.size(1) - queries() + t; }
  Index first_key(Index b, Index t) const { return first_key_(b, t); }
  double root_dim() const { return std::sqrt(static_cast<double>(dim())); }

  double log_visible(Index b, Index t) const {
    return std::log(static_cast<double>(position(t) - first_key(b, t) + 1));
  }
  double factor(Index b, Index t, Index h) const {
    return ssmax_ == Ssmax::off ? 1.0 : ssmax_scale_(h) * log_visible(b, t);
  }
  double content(Index b, Index t, Index h, Index j) const {
    double sum = 0;
    for (Index c = 0; c < dim(); ++c) sum += q_(b, t, h, c) * k_(b, j, kv_head(h), c);
    return sum / root_dim();
  }
  double prior(Index t, Index h, Index j) const { return prior_.empty() ? 0.0 : prior_(h, position(t) - j); }
  // What the factor multiplies.
  double scaled_part(Index b, Index t, Index h, Index j) const {
    return content(b, t, h, j) + (ssmax_ == Ssmax::full ? prior(t, h, j) : 0.0);
  }
  double logit(Index b, Index t, Index h, Index j) const {
    return factor(b, t, h) * scaled_part(b, t, h, j) + (ssmax_ == Ssmax::full ? 0.0 : prior(t, h, j));
  }

 private:
  Ssmax ssmax_;
  Grid<const double> q_, k_, prior_;
  Grid<const std::int32_t> first_key_;
  Grid<const double> ssmax_scale_;
};

}  // namespace

void RefBackend::do_key_bounds(const KeyBoundsArgs& args) {
  const auto k = reals(args.k);
  const auto v = reals(args.v);
  const auto bounds = reals(args.bounds);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto bound = [&](Index b, Index block, Index h) {
    const Index end = std::min(k.size(1), (block + 1) * kKeyBlock);
    bool finite = true;
    for (Index c = 0; c < k.size(3); ++c) {
      double high = -infinity;
      double low = infinity;
      for (Index j = block * kKeyBlock; j < end; ++j) {
        finite = finite && std::isfinite(k(b, j, h, c)) && std::isfinite(v(b, j, h, c));
        high = std::max(high, k(b, j, h, c));
        low = std::min(low, k(b, j, h, c));
      }
      bounds(b, block, h, c) = high;
      bounds(b, block, h, k.size(3) + c) = -low;
    }
    if (finite) return;
    for (Index c = 0; c < 2 * k.size(3); ++c) bounds(b, block, h, c) = infinity;
  };
  for (Index b = 0; b < k.size(0); ++b) {
    for (Index block = args.first / kKeyBlock; block < bounds.size(1); ++block) {
      for (Index h = 0; h < k.size(2); ++h) bound(b, block, h);
    }
  }
}

// Everything is computed, whatever skip_eps allows.
void RefBackend::do_attention_forward(const AttentionForwardArgs& args) {
  const Attention attention(args);
  const auto v = reals(args.v);
  const auto out = reals(args.out);
  const auto lse = reals(args.lse);
  const auto row = [&](Index b, Index t, Index h) {
    const Index first = attention.first_key(b, t);
    const Index last = attention.position(t);
    const Index kv_head = attention.kv_head(h);
    std::vector<double> p(static_cast<std::size_t>(last - first + 1));
    for (Index j = first; j <= last; ++j) p[static_cast<std::size_t>(j - first)] = attention.logit(b, t, h, j);
    double largest = -std::numeric_limits<double>::infinity();
    for (const double logit : p) largest = std::max(largest, logit);
    double sum = 0;
    for (double& each : p) sum += each = std::exp(each - largest);
    lse(b, h, t) = largest + std::log(sum);

    for (Index c = 0; c < attention.dim(); ++c) {
      out(b, t, h, c) = 0;
      for (Index j = first; j <= last; ++j)
        out(b, t, h, c) += p[static_cast<std::size_t>(j - first)] / sum * v(b, j, kv_head, c);
    }
  };
  for (Index b = 0; b < attention.batches(); ++b) {
    for (Index t = 0; t < attention.queries(); ++t) {
      for (Index h = 0; h < attention.heads(); ++h) row(b, t, h);
    }
  }
  const auto skipped = reals(args.skipped);
  for (Index h = 0; h < args.skipped.count(); ++h) skipped(h) = 0;
}

void RefBackend::do_attention_backward(const AttentionBackwardArgs& args) {
  const Attention attention(args);
  const auto q = reals(args.q);
  const auto k = reals(args.k);
  const auto v = reals(args.v);
  const auto lse = reals(args.lse);
  const auto out = reals(args.out);
  const auto dout = reals(args.dout);
  const auto dq = reals(args.dq);
  const auto dk = reals(args.dk);
  const auto dv = reals(args.dv);
  const auto dprior = reals(args.dprior);
  const auto dssmax_scale = reals(args.dssmax_scale);
  for (Index i = 0; i < dq.count(); ++i) dq.flat(i) = 0;
  for (Index i = 0; i < dk.count(); ++i) dk.flat(i) = dv.flat(i) = 0;

  const auto row = [&](Index b, Index t, Index h) {
    const Index first = attention.first_key(b, t);
    const Index last = attention.position(t);
    const Index kv_head = attention.kv_head(h);
    const double factor = attention.factor(b, t, h);
    double delta = 0;
    for (Index c = 0; c < attention.dim(); ++c) delta += dout(b, t, h, c) * out(b, t, h, c);

    for (Index j = first; j <= last; ++j) {
      const double p = first == last ? 1.0 : std::exp(attention.logit(b, t, h, j) - lse(b, h, t));
      double dp = 0;
      for (Index c = 0; c < attention.dim(); ++c) dp += dout(b, t, h, c) * v(b, j, kv_head, c);
      for (Index c = 0; c < attention.dim(); ++c) dv(b, j, kv_head, c) += p * dout(b, t, h, c);
      if (first == last) continue;  // p is 1 whatever the logit: its gradient is 0

      const double dlogit = p * (dp - delta);
      for (Index c = 0; c < attention.dim(); ++c) {
        dq(b, t, h, c) += dlogit * factor * k(b, j, kv_head, c) / attention.root_dim();
        dk(b, j, kv_head, c) += dlogit * factor * q(b, t, h, c) / attention.root_dim();
      }
      if (!dprior.empty()) dprior(h, last - j) += (args.ssmax == Ssmax::full ? factor : 1.0) * dlogit;
      if (!dssmax_scale.empty()) {
        dssmax_scale(h) += dlogit * attention.log_visible(b, t) * attention.scaled_part(b, t, h, j);
      }
    }
  };
  for (Index b = 0; b < attention.batches(); ++b) {
    for (Index t = 0; t < attention.queries(); ++t) {
      for (Index h = 0; h < attention.heads(); ++h) row(b, t, h);
    }
  }
}

}  // namespace bam::ref
