// Certified skipping: which tiles of keys the queries of a block need.
//
// For a query i let u_i(J) be an upper bound of its logits over the keys of a tile J, and m_i a lower bound of its
// largest logit, found by computing a few tiles. A tile is left out when for every query of a panel
//
//   u_i(J) < m_i - ln(n_i / eps)       n_i visible keys
//
// Then all that is left out holds, in the sum of exp over the row, less than n_i exp(m_i) eps / n_i = eps exp(m_i),
// and the row's whole sum is at least exp(m_i): the dropped share is below eps.
//
// u_i(J) is the bound of q.k by channel, sum_c max(q_c min_J k_c, q_c max_J k_c), scaled by the query's own factor
// (which may be negative), plus the extreme of the prior over the distances in question. Both are compared with room
// for the rounding of the logits themselves.
#pragma once

#include "kernels/cpu/simd/attention_tile.h"

namespace bam::cpu::BAM_ISA {

// Which panels of a block need which tiles.
struct TilePlan {
  const std::uint8_t* skips;  // [panel][tile], 1 = left out; null when nothing is
  Index tiles;
  Index skipped_pairs;

  bool needs(const QueryBlock& block, int panel, Index key) const {
    if (key > block.last_position[panel] || key + kTile <= block.lowest_first_key[panel]) return false;
    return skips == nullptr || skips[panel * tiles + key / kTile] == 0;
  }
  bool any_needs(const QueryBlock& block, Index key) const {
    for (int p = 0; p < block.panels; ++p) {
      if (needs(block, p, key)) return true;
    }
    return false;
  }
};

struct PlanScratch {
  float* keys;           // [kTile, padded_stride(dim)]
  const float* queries;  // [panels][dim][kPanel], of the block
  float* scores;         // [kTile][kPanel]
  float* memory;         // tile_plan_scratch() floats
};

Index tile_plan_scratch(Index dim, Index key_blocks);

TilePlan plan_tiles(const AttentionForward& call, Index batch, Index head, const QueryBlock& block,
                    const PlanScratch& scratch);

}  // namespace bam::cpu::BAM_ISA
