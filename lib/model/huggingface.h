// Models as Hugging Face keeps them: a folder with config.json, safetensors files and the files of a tokenizer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/checkpoint.h"
#include "io/output_folder.h"
#include "io/safetensors.h"
#include "model/checkpoint_model.h"

namespace bam {

// What config.json says.
struct HuggingFaceConfig {
  ModelConfig model;
  bool tied = false;               // the output matrix is the embedding
  std::optional<Index> bos_token;  // its id
};

// Takes Llama and Mistral models, and exports of this program ("bam"). Throws Error "SUBJECT: ..." that names the first
// thing that the model cannot be: another architecture, biases, scaled rotary angles, a window, quantised weights, ...
HuggingFaceConfig parse_huggingface_config(std::string_view json, const std::string& subject);

// A stock Llama model has rotary positions and plain softmax; everything else needs huggingface_code().
bool is_stock_llama(const ModelConfig& config);

struct HuggingFaceIds {
  Index bos = 0;
  std::optional<Index> eos;
};
std::string format_huggingface_config(const ModelConfig& config, bool tied, io::TensorType dtype,
                                      const HuggingFaceIds& ids);

// The name of a parameter in Hugging Face's files: "layers/0/wq" is "model.layers.0.self_attn.q_proj.weight".
std::string huggingface_name(const std::string& parameter);

// Rows of wq and wk from pairs of neighbours (2k, 2k+1), which the kernels rotate, to pairs (k, k + d/2), which Hugging
// Face's code rotates, and back. values [heads * d, columns].
void split_rotary_pairs(std::vector<float>& values, Index heads, Index columns);
void join_rotary_pairs(std::vector<float>& values, Index heads, Index columns);

// Python files by name: what transformers needs beside a model that is no stock Llama.
const std::vector<std::pair<std::string_view, std::string_view>>& huggingface_code();

struct ImportChoice {
  std::string tokenizer;  // "bytes" or a file; "" = the one in the folder
  std::string bos_token;  // "" = as the folder says
};

// The model in `folder` into an open checkpoint. Parameters pass through one at a time. Throws Error "FOLDER/FILE: ..."
void import_huggingface(const std::string& folder, const ImportChoice& choice, io::Hdf5File& checkpoint);

// A checkpoint into a folder; `dtype` is that of the weights, none = what they came in, f32 for what did not come from
// such a folder. Priors and scales of the softmax are f32 throughout.
void export_huggingface(const io::CheckpointReader& checkpoint, std::optional<io::TensorType> dtype,
                        io::OutputFolder& folder);

}  // namespace bam
