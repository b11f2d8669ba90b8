// The priors of a checkpoint, read and replaced without a model being made: parameters pass through one at a time.
#pragma once

#include <vector>

#include "model/checkpoint_model.h"
#include "prior/init.h"

namespace bam {

// One entry for each layer, those of a global prior repeated.
struct ModelPriors {
  ModelConfig config;
  std::vector<std::vector<HeadPrior>> heads;     // [L][H]; none for encodings that are no prior: rope, sinusoidal
  std::vector<std::vector<double>> ssmax_scale;  // [L][H]; none with ssmax off

  // What b is multiplied by at a query with `visible` keys: 1, or s ln n where SSMax scales the prior too.
  double factor(Index layer, Index head, Index visible) const;
};

// alibi has shape 1, its slopes and loc 0; nope shape, scale and loc 0, which is the same b everywhere.
// Throws Error "NAME: ...": not a model, a missing parameter, values that are not finite.
ModelPriors read_priors(const io::CheckpointReader& reader);

// The configuration of the model with bam priors in place of whatever it has; a bam model's own is kept.
ModelConfig with_bam_prior(ModelConfig config);

// What replaces the parameters of these roles; every other dataset of /params is copied as it is.
struct PriorParameters {
  std::vector<std::vector<HeadPrior>> heads;     // [L or 1][H]
  std::vector<std::vector<double>> ssmax_scale;  // [L][H]; empty: as they are
};

// Configuration, parameters and tokenizer into an open checkpoint. `config` is with_bam_prior of that of `reader`.
// Throws Error for priors that single precision cannot hold.
void write_with_priors(io::Hdf5File& file, const io::CheckpointReader& reader, const ModelConfig& config,
                       const PriorParameters& parameters);

// Into, and out of, a model with bam priors. Out: [L or 1][H], and the scales of SSMax.
void set_priors(Model& model, const std::vector<std::vector<HeadPrior>>& priors);
PriorParameters get_priors(const Model& model);

}  // namespace bam
