#include "model/checkpoint_model.h"

#include <algorithm>

#include "base/error.h"
#include "model/parameter_values.h"

namespace bam {
namespace {

constexpr const char* kFormatName = "bam-checkpoint";

template <typename Enum>
Enum value_named(const NameTable<Enum>& table, const io::Hdf5Group& root, const std::string& attribute) {
  const std::string name = root.attribute_string(attribute);
  for (const auto& [entry, value] : table) {
    if (entry == name) return value;
  }
  throw Error(root.where() + ": " + attribute + " is '" + name + "', which this version does not know");
}

std::vector<Index> dimensions(const Shape& shape) {
  std::vector<Index> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  return dims;
}

// Throws Error unless the group holds every parameter of the configuration in its shape: no memory is taken for sizes
// that are only claimed.
void require_parameters(const io::Hdf5Group& group, const ModelConfig& config) {
  const Index arrays = std::ssize(group.dataset_paths());
  if (config.layers > arrays) {
    throw Error(group.where() + ": " + std::to_string(arrays) + " arrays, expected the parameters of " +
                std::to_string(config.layers) + " layers");
  }
  for (const ParameterInfo& info : list_parameters(config)) {
    const io::Hdf5ArrayInfo found = group.array_info(info.name);
    if (found.type == io::Hdf5Type::f32 && found.shape == dimensions(info.shape)) continue;
    throw Error(group.where() + ": " + info.name + " has another type or shape than the configuration says");
  }
}

}  // namespace

void write_config(io::Hdf5Group& root, const ModelConfig& config) {
  root.set_string("format", kFormatName);
  root.set_int("version", io::kCheckpointVersion);
  root.set_int("dim", config.dim);
  root.set_int("layers", config.layers);
  root.set_int("heads", config.heads);
  root.set_int("kv_heads", config.kv_heads);
  root.set_int("ffn", config.ffn);
  root.set_int("vocab", config.vocab);
  root.set_string("pe", std::string(name_in(positional_encoding_names(), config.pe)));
  root.set_string("ssmax", std::string(name_in(ssmax_names(), config.ssmax)));
  root.set_string("prior_scope", std::string(name_in(prior_scope_names(), config.prior_scope)));
  root.set_real("rope_theta", config.rope_theta);
  root.set_real("sinusoidal_theta", config.sinusoidal_theta);
  root.set_real("norm_eps", config.norm_eps);
  root.set_bool("train_shape", config.train_shape);
  root.set_bool("train_scale", config.train_scale);
  root.set_bool("train_loc", config.train_loc);
  root.set_int("context", config.context);
}

ModelConfig read_config(const io::Hdf5Group& root) {
  ModelConfig config;
  config.dim = root.attribute_int("dim");
  config.layers = root.attribute_int("layers");
  config.heads = root.attribute_int("heads");
  config.kv_heads = root.attribute_int("kv_heads");
  config.ffn = root.attribute_int("ffn");
  config.vocab = root.attribute_int("vocab");
  config.pe = value_named(positional_encoding_names(), root, "pe");
  config.ssmax = value_named(ssmax_names(), root, "ssmax");
  config.prior_scope = value_named(prior_scope_names(), root, "prior_scope");
  const auto optional_real = [&](const char* name, double& value) {
    if (root.has_attribute(name)) value = root.attribute_real(name);
  };
  const auto optional_bool = [&](const char* name, bool& value) {
    if (root.has_attribute(name)) value = root.attribute_bool(name);
  };
  optional_real("rope_theta", config.rope_theta);
  optional_real("sinusoidal_theta", config.sinusoidal_theta);
  optional_real("norm_eps", config.norm_eps);
  optional_bool("train_shape", config.train_shape);
  optional_bool("train_scale", config.train_scale);
  optional_bool("train_loc", config.train_loc);
  if (root.has_attribute("context")) config.context = root.attribute_int("context");
  try {
    validate(config);
  } catch (const Error& error) {
    throw Error(root.where() + ": " + error.what());
  }
  if (root.has_group("params")) require_parameters(root.group("params"), config);
  return config;
}

void write_parameters(io::Hdf5Group& group, const std::vector<ParameterInfo>& infos, const ParameterValues& values) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    group.write<float>(infos[i].name, dimensions(infos[i].shape), std::span<const float>(values(i)));
  }
}

void write_parameters(io::Hdf5Group& group, const ParameterSet& set, Backend& backend) {
  write_parameters(group, set.infos(), values_of(set, backend));
}

void read_parameters(const io::Hdf5Group& group, const ParameterSet& set, Backend& backend) {
  for (const std::string& path : group.dataset_paths()) {
    const bool known = std::any_of(set.infos().begin(), set.infos().end(),
                                   [&](const ParameterInfo& info) { return info.name == path; });
    if (!known) throw Error(group.where() + ": " + path + " is not a parameter of this configuration");
  }
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const ParameterInfo& info = set.infos()[i];
    if (info.offset == kNotHeld) continue;
    const std::vector<float> values = group.read<float>(info.name, dimensions(info.shape));
    backend.copy_in(set[i], {values.data(), DType::f32, info.shape});
  }
}

void write_tokenizer(io::Hdf5Group& root, const io::ShardHeader& header, const std::vector<io::TokenizerFile>& files) {
  io::Hdf5Group group = root.create_group("tokenizer");
  group.set_string("name", header.tokenizer_name);
  group.set_string("kind", header.tokenizer_kind);
  group.set_string("sha256", header.tokenizer_sha256);
  group.set_int("vocab_size", header.vocab_size);
  group.set_int("bos_id", header.bos_id);
  if (header.eos_id) group.set_int("eos_id", *header.eos_id);
  io::Hdf5Group stored = group.create_group("files");
  for (const io::TokenizerFile& file : files) stored.write_bytes(file.name, file.bytes);
}

StoredTokenizer read_tokenizer(const io::Hdf5Group& root) {
  if (!root.has_group("tokenizer"))
    throw Error(root.where() + ": no /tokenizer, expected a checkpoint that carries its tokenizer");
  const io::Hdf5Group group = root.group("tokenizer");
  StoredTokenizer stored;
  io::ShardHeader& header = stored.header;
  header.tokenizer_name = group.attribute_string("name");
  header.tokenizer_kind = group.attribute_string("kind");
  header.tokenizer_sha256 = group.attribute_string("sha256");
  header.vocab_size = group.attribute_int("vocab_size");
  header.width = io::ShardHeader::width_for(header.vocab_size);
  header.bos_id = static_cast<io::Token>(group.attribute_int("bos_id"));
  if (group.has_attribute("eos_id")) header.eos_id = static_cast<io::Token>(group.attribute_int("eos_id"));
  const io::Hdf5Group files = group.group("files");
  for (const std::string& name : files.names()) stored.files.push_back({name, files.read_bytes(name)});
  return stored;
}

LoadedModel load_model(const std::string& path, Backend& backend, Products products) {
  const io::CheckpointReader reader(path);
  const io::Hdf5File& file = reader.file();
  if (!file.has_attribute("format") || file.attribute_string("format") != kFormatName) {
    throw Error(reader.name() + ": not a model, expected a checkpoint of bam-train");
  }
  LoadedModel loaded;
  loaded.name = reader.name();
  loaded.digest = reader.digest();
  loaded.model = std::make_unique<Model>(backend, read_config(file), products);
  read_parameters(file.group("params"), loaded.model->parameters(), backend);
  loaded.model->refresh_products();
  const StoredTokenizer stored = read_tokenizer(file);
  loaded.tokenizer = text::make_tokenizer(stored.header, stored.files, reader.name());
  loaded.tokenizer_header = stored.header;
  return loaded;
}

}  // namespace bam
