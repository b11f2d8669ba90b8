#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "io/json.h"
#include "io/stream.h"
#include "model/huggingface_format.h"
#include "model/huggingface_tokenizer.h"

namespace bam {
namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The tensors of a folder by name, in whichever of its files they are.
class Weights {
 public:
  struct Place {
    const io::SafetensorsFile* file = nullptr;
    const io::StoredTensor* tensor = nullptr;
  };

  explicit Weights(const std::string& folder) : folder_(folder) {
    // Where both are there, transformers reads the one file.
    if (is_there(folder + "/" + kWeights)) {
      add_all(open(kWeights));
    } else if (is_there(folder + "/" + kIndex)) {
      open_indexed();
    } else {
      throw Error(folder + ": no " + kWeights + " or " + kIndex + ", expected weights as safetensors");
    }
  }

  const Place* find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Place>& all() const { return places_; }

 private:
  const io::SafetensorsFile& open(const std::string& name) {
    const auto found = files_.find(name);
    if (found != files_.end()) return found->second;
    return files_.emplace(name, io::SafetensorsFile(folder_ + "/" + name)).first->second;
  }

  void add_all(const io::SafetensorsFile& file) {
    for (const io::StoredTensor& tensor : file.tensors()) {
      const auto [there, added] = places_.try_emplace(tensor.name, Place{&file, &tensor});
      if (!added) {
        throw Error(file.name() + ": " + io::json_quote(tensor.name) + " is also in " + there->second.file->name());
      }
    }
  }

  // weight_map says which file has each tensor.
  void open_indexed() {
    const std::string path = folder_ + "/" + kIndex;
    const simdjson::padded_string text(io::read_file(path, huggingface::kMostJsonBytes));
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    simdjson::dom::object map;
    if (parser.parse(text).get(root) != simdjson::SUCCESS || root["weight_map"].get(map) != simdjson::SUCCESS) {
      throw Error(path + ": no weight_map, expected an index of safetensors files");
    }
    std::map<std::string, std::string> wanted;
    for (const auto field : map) {
      std::string_view name;
      if (field.value.get(name) != simdjson::SUCCESS || name.empty() || name.find('/') != name.npos) {
        throw Error(path + ": " + io::json_quote(field.key) + " is in no file of this folder");
      }
      wanted[std::string(field.key)] = name;
    }
    for (const auto& [tensor, file] : wanted) {
      if (!files_.contains(file)) add_all(open(file));
    }
    for (const auto& [tensor, file] : wanted) {
      const Place* place = find(tensor);
      if (place == nullptr || place->file != &files_.at(file)) {
        throw Error(path + ": " + io::json_quote(tensor) + " is not in " + file);
      }
    }
  }

  std::string folder_;
  std::map<std::string, io::SafetensorsFile> files_;
  std::map<std::string, Place> places_;
};

std::string text_of(const std::vector<Index>& shape) {
  std::string text = "[";
  for (const Index size : shape) text.append(text.size() > 1 ? "," : "").append(std::to_string(size));
  return text + "]";
}

// Buffers that older versions of transformers stored; they follow from the configuration.
bool is_rotary_buffer(const std::string& name) {
  return name.ends_with(".rotary_emb.inv_freq");
}

class Importer {
 public:
  Importer(const std::string& folder, const HuggingFaceConfig& config)
      : config_(config), weights_(folder), folder_(folder) {
    // Before memory is taken for layers that are only claimed.
    const Index tensors = std::ssize(weights_.all());
    if (config.model.layers > tensors) {
      throw Error(folder + ": " + std::to_string(tensors) + " tensors, expected those of " +
                  std::to_string(config.model.layers) + " layers");
    }
    infos_ = list_parameters(config.model);
    refuse_others();
  }

  void write(io::Hdf5Group& group) {
    for (const ParameterInfo& info : infos_) {
      std::vector<float> values = read(info);
      if (config_.model.pe == PositionalEncoding::rope) {
        const Index heads = huggingface::rotated_heads(info, config_.model);
        if (heads > 0) join_rotary_pairs(values, heads, info.shape[1]);
      }
      group.write<float>(info.name, huggingface::dimensions(info.shape), values);
    }
  }

  // A line for each parameter: its name and the type it came in.
  const std::string& types() const { return types_; }

 private:
  // Biases, norms of queries, adapters: a tensor that has no place here means another model.
  void refuse_others() const {
    std::map<std::string, bool> known;
    for (const ParameterInfo& info : infos_) known[huggingface_name(info.name)] = true;
    for (const auto& [name, place] : weights_.all()) {
      if (known.contains(name) || is_rotary_buffer(name)) continue;
      throw Error(place.file->name() + ": " + io::json_quote(name) + " is no parameter of this model, which has " +
                  (name.ends_with(".bias") ? "no biases" : "none of that name"));
    }
  }

  std::vector<float> read(const ParameterInfo& info) {
    const bool is_head = info.name == "lm_head";
    const std::string name = huggingface_name(info.name);
    const Weights::Place* place = weights_.find(name);
    if (place == nullptr && is_head && config_.tied) return embedding_;
    if (place == nullptr) {
      throw Error(folder_ + ": no tensor " + name + ", expected one of shape " +
                  text_of(huggingface::dimensions(info.shape)));
    }
    if (place->tensor->shape != huggingface::dimensions(info.shape)) {
      throw Error(place->file->name() + ": " + name + " has the shape " + text_of(place->tensor->shape) +
                  ", expected " + text_of(huggingface::dimensions(info.shape)));
    }
    std::vector<float> values(static_cast<std::size_t>(info.shape.count()));
    place->file->read(*place->tensor, values);
    types_.append(info.name).append(" ").append(place->tensor->type_name).append("\n");
    if (!config_.tied) return values;
    if (info.name == "token_embedding") embedding_ = values;
    if (is_head && !huggingface::same_bits(values, embedding_)) {
      throw Error(folder_ + ": tie_word_embeddings is true, but " + name + " is not the embedding");
    }
    return values;
  }

  const HuggingFaceConfig& config_;
  std::vector<ParameterInfo> infos_;
  Weights weights_;
  std::string folder_;
  std::vector<float> embedding_;  // kept where the output is tied to it
  std::string types_;
};

void keep_side_files(const std::string& folder, const text::Tokenizer& tokenizer, io::Hdf5Group& group) {
  for (const std::string_view name : huggingface::side_files()) {
    const bool is_own = std::any_of(tokenizer.files().begin(), tokenizer.files().end(),
                                    [&](const io::TokenizerFile& file) { return file.name == name; });
    const std::string path = folder + "/" + std::string(name);
    if (is_own || !is_there(path)) continue;
    group.write_bytes(std::string(name), io::read_file(path, huggingface::kMostJsonBytes));
  }
}

}  // namespace

void import_huggingface(const std::string& folder, const ImportChoice& choice, io::Hdf5File& checkpoint) {
  const std::string path = folder + "/config.json";
  const HuggingFaceConfig config = parse_huggingface_config(io::read_file(path, huggingface::kMostJsonBytes), path);
  Importer importer(folder, config);
  const std::unique_ptr<text::Tokenizer> tokenizer =
      huggingface::read_tokenizer_of(folder, choice, config.model.vocab, config.bos_token);
  if (tokenizer->bos_id() == tokenizer->vocab_size() - 1 && config.bos_token != Index{tokenizer->bos_id()}) {
    log::warning(folder + ": texts will begin with the id " + std::to_string(tokenizer->bos_id()) +
                 ", which the model may not know: --bos-token names another, and evaluations take --bos no");
  }
  write_config(checkpoint, config.model);
  write_tokenizer(checkpoint, text::shard_header(*tokenizer), tokenizer->files());
  io::Hdf5Group parameters = checkpoint.create_group("params");
  importer.write(parameters);
  io::Hdf5Group origin = checkpoint.create_group(huggingface::kOrigin);
  origin.write_bytes("types", importer.types());
  io::Hdf5Group files = origin.create_group("files");
  if (choice.tokenizer.empty()) keep_side_files(folder, *tokenizer, files);
}

}  // namespace bam
