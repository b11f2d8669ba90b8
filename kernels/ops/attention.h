// attention - softmax of content and positional prior over the visible keys: p(content) p(position) / Z, causal, per
// document.
//
//   z_i     = 1 (off) or ssmax_scale[h] ln n_i (content, full), n_i = i - first_key[i] + 1 visible keys
//   l_ij    = z_i (q_i . k_j / sqrt(d)) + b_ij      off, content
//           = z_i (q_i . k_j / sqrt(d) + b_ij)      full
//   out_i   = sum_j softmax_j(l_ij) v_j             over first_key[i] <= j <= i;   b_ij = prior[h, i - j]
//   lse_i   = ln sum_j exp(l_ij)
// SSMax: Nakanishi 2025, arXiv 2501.19399. Keys outside the range are never multiplied by anything: no 0 * -inf.
#pragma once

#include "kernels/tensor.h"

namespace bam {

enum class Ssmax : std::uint8_t { off, content, full };

// key_bounds - what can be known of a block of keys without looking at each of them: by channel the largest k and the
// largest -k. Blocks begin at multiples of kKeyBlock. One that holds a NaN or an infinity, in k or in v, has infinite
// bounds: nothing can be said of it.
inline constexpr Index kKeyBlock = 64;

// shapes    k, v [B,S,Hkv,d];  bounds [B,N,Hkv,2d], N = ceil(S / kKeyBlock), k before -k: those from the block of
//           position `first` on are written, the others left as they are
// dtypes    k, v alike: real or bf16; bounds real, exact
struct KeyBoundsArgs {
  ConstTensorView k, v;
  Index first = 0;
  TensorView bounds;
};

// shapes    q [B,T,H,d], k, v [B,S,Hkv,d], S >= T, H a multiple of Hkv: query head h reads key head h / (H / Hkv);
//           the T queries are the last T of the S positions: query t stands at position i = S - T + t
//           prior [H,P], P >= the longest distance + 1, or empty;  first_key [B,T] i32, 0 <= first_key <= i
//           ssmax_scale [H], empty when off;  out [B,T,H,d], lse [B,H,T]
// dtypes    q, k, v alike: real or bf16; all others real
// numerics  scores, softmax, sums in the real type whatever q, k, v are; row maxima start at -inf: b may pass -1e4
// bounds    error over the tensor's largest entry: f32 1e-5, bf16 1e-2 (tests/support/tolerances.h)
// memory    linear in S
// skipping  with skip_eps > 0 a backend may leave out blocks of keys: in each row those left out hold less than
//           skip_eps of the probability, together, whatever the values are; out and lse change accordingly. key_bounds
//           is that of these k and v, skipped [H] receives the share of visible pairs left out; both may be
//           empty, without bounds nothing is
struct AttentionForwardArgs {
  ConstTensorView q, k, v;
  ConstTensorView prior;
  ConstTensorView first_key;
  ConstTensorView ssmax_scale;
  Ssmax ssmax = Ssmax::off;
  TensorView out;
  TensorView lse;
  double skip_eps = 0;
  ConstTensorView key_bounds = {};
  TensorView skipped = {};
};

// From p_ij = exp(l_ij - lse_i), dp_ij = dout_i . v_j, delta_i = dout_i . out_i and dl_ij = p_ij (dp_ij - delta_i):
//   dq_i = sum_j dl_ij z_i k_j / sqrt(d)      dk_j = sum_i dl_ij z_i q_i / sqrt(d)      dv_j = sum_i p_ij dout_i
//   dprior[h,n] += sum of dl_ij (z_i dl_ij for full) over i - j = n
//   dssmax_scale[h] += sum_ij dl_ij ln n_i (q_i . k_j / sqrt(d) [+ b_ij for full])
// A row with one visible key has p = 1 and dl = 0 by definition, not by cancellation: the rounding that p (dp - delta)
// leaves would be magnified by |b ln x|, which passes 1e3 at distance 0.
// shapes    as forward with T = S; dout, dq, dk, dv shaped and typed as q, k, v; out, lse as forward left them;
//           dprior [H,P], dssmax_scale [H]: real, added to, empty to skip
// numerics  delta from the real-typed out; sums over rows and batch in a fixed order: the same bits for the same
//           thread count
struct AttentionBackwardArgs {
  ConstTensorView q, k, v;
  ConstTensorView prior;
  ConstTensorView first_key;
  ConstTensorView ssmax_scale;
  Ssmax ssmax = Ssmax::off;
  ConstTensorView out;
  ConstTensorView lse;
  ConstTensorView dout;
  TensorView dq, dk, dv;
  TensorView dprior;
  TensorView dssmax_scale;
};

}  // namespace bam
