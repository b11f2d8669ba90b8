// Models in checkpoints: attributes and /params of bam-checkpoint(5), and the tokenizer that belongs to them.
#pragma once

#include <memory>
#include <string>

#include "io/checkpoint.h"
#include "model/model.h"
#include "text/tokenizer.h"

namespace bam {

// Root attributes. read_config takes the golden files' attributes too: what is absent has the default of ModelConfig.
void write_config(io::Hdf5Group& root, const ModelConfig& config);
ModelConfig read_config(const io::Hdf5Group& root);

// One dataset per parameter under `group` (f32), named as in list_parameters. Reading throws Error for a missing
// parameter or another shape, and for one that the configuration does not have.
void write_parameters(io::Hdf5Group& group, const ParameterSet& set, Backend& backend);
void read_parameters(const io::Hdf5Group& group, const ParameterSet& set, Backend& backend);

// /tokenizer: what makes one file enough for an evaluation.
void write_tokenizer(io::Hdf5Group& root, const io::ShardHeader& header, const std::vector<io::TokenizerFile>& files);
struct StoredTokenizer {
  io::ShardHeader header;
  std::vector<io::TokenizerFile> files;
};
StoredTokenizer read_tokenizer(const io::Hdf5Group& root);

// An opened checkpoint, ready to evaluate.
struct LoadedModel {
  std::string name;    // for messages
  std::string digest;  // of the checkpoint
  std::unique_ptr<Model> model;
  std::unique_ptr<text::Tokenizer> tokenizer;
  io::ShardHeader tokenizer_header;
};

// Opens "-" or a file. Throws Error.
LoadedModel load_model(const std::string& path, Backend& backend, Products products);

}  // namespace bam
