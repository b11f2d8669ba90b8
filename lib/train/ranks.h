// What a training on several ranks needs: each computes its share of every batch, and gradients are summed over the
// ranks while the backward pass is still under way. With one rank all of it does nothing.
#pragma once

#include <functional>

#include "dist/communicator.h"
#include "model/parameters.h"
#include "train/windows.h"

namespace bam::train {

// Does the work on every rank; where it fails on any, the Error of the lowest such rank is thrown on all. No
// communication inside.
void together(dist::Communicator& ranks, const std::function<void()>& work);

// Throws Error on all ranks, when `text` is not that of rank 0 everywhere. `what` it is: "the options".
void require_same(dist::Communicator& ranks, const std::string& text, const std::string& what);

bool on_any(dist::Communicator& ranks, bool here);

struct Share {
  Batch own;          // may have no windows
  Index windows = 0;  // of all ranks
};

// This rank's windows of rank 0's batch, which is ignored on the others: as many for each, the first ones have one
// more. Where rank 0 has no windows, or a number below 0, all know the number and nothing else.
Share share_out(dist::Communicator& ranks, const Batch& whole);

// Sums the gradients of all ranks in buckets, from the end of the arena to its front, as the backward pass completes
// them.
class GradientSum {
 public:
  GradientSum(dist::Communicator& ranks, const ParameterSet& gradients);

  // A new step.
  void begin() { next_ = 0; }
  // As LayerDone of a training pass says: all of this layer and of those above is complete.
  void layer_done(Index layer);
  // Every rank has the sums when it returns; of devices, what is asked of the backend from here on finds them.
  void finish();

 private:
  dist::Communicator& ranks_;
  TensorView arena_;
  std::vector<Index> layer_begins_;   // in the arena; the head is the last
  std::vector<Index> bucket_begins_;  // falling, the last one 0
  std::size_t next_ = 0;
};

// The rank that keeps the moments of each parameter, so that all have about as many.
std::vector<int> share_parameters(const std::vector<ParameterInfo>& infos, int ranks);

}  // namespace bam::train
