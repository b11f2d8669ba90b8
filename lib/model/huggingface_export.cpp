#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "model/huggingface_format.h"
#include "model/huggingface_tokenizer.h"

namespace bam {
namespace {

// What /huggingface/types says; nothing for other checkpoints.
std::unordered_map<std::string, io::TensorType> recorded_types(const io::Hdf5File& file) {
  std::unordered_map<std::string, io::TensorType> types;
  if (!file.has_group(huggingface::kOrigin)) return types;
  const std::string text = file.group(huggingface::kOrigin).read_bytes("types");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t blank = line.find(' ');
    const io::TensorType type =
        blank == line.npos ? io::TensorType::other : io::tensor_type_named(line.substr(blank + 1));
    if (type == io::TensorType::other) throw Error(file.where() + huggingface::kOrigin + "/types: not a list of types");
    types[std::string(line.substr(0, blank))] = type;
  }
  return types;
}

class Exporter {
 public:
  Exporter(const io::CheckpointReader& checkpoint, std::optional<io::TensorType> dtype)
      : config_(read_config(checkpoint.file())),
        infos_(list_parameters(config_)),
        parameters_(checkpoint.file().group("params")),
        types_(recorded_types(checkpoint.file())),
        dtype_(dtype),
        tied_(huggingface::same_bits(read("token_embedding"), read("lm_head"))) {}

  const ModelConfig& config() const { return config_; }
  bool tied() const { return tied_; }

  io::TensorType type_of(const ParameterInfo& info) const {
    // A few numbers, which decide about thousands of tokens.
    if (info.role >= ParameterRole::prior_shape) return io::TensorType::f32;
    if (dtype_) return *dtype_;
    const auto recorded = types_.find(info.name);
    return recorded == types_.end() ? io::TensorType::f32 : recorded->second;
  }

  // The type that most of the weights have.
  io::TensorType main_type() const { return type_of(named("token_embedding")); }

  void write_weights(const std::string& path) const {
    std::vector<io::TensorPlan> plan;
    std::unordered_map<std::string, const ParameterInfo*> by_name;
    for (const ParameterInfo& info : infos_) {
      if (tied_ && info.name == "lm_head") continue;
      plan.push_back({huggingface_name(info.name), type_of(info), huggingface::dimensions(info.shape)});
      by_name[plan.back().name] = &info;
    }
    io::SafetensorsWriter writer(path, plan);
    for (const io::TensorPlan& next : writer.order()) {
      const ParameterInfo& info = *by_name.at(next.name);
      std::vector<float> values = read(info.name);
      const Index heads = huggingface::rotated_heads(info, config_);
      if (heads > 0 && config_.pe == PositionalEncoding::rope) split_rotary_pairs(values, heads, info.shape[1]);
      writer.write(values);
    }
    writer.commit();
  }

 private:
  const ParameterInfo& named(const std::string& name) const {
    return *std::find_if(infos_.begin(), infos_.end(), [&](const ParameterInfo& info) { return info.name == name; });
  }
  std::vector<float> read(const std::string& name) const {
    return parameters_.read<float>(name, huggingface::dimensions(named(name).shape));
  }

  ModelConfig config_;
  std::vector<ParameterInfo> infos_;
  io::Hdf5Group parameters_;
  std::unordered_map<std::string, io::TensorType> types_;
  std::optional<io::TensorType> dtype_;
  bool tied_;
};

}  // namespace

void export_huggingface(const io::CheckpointReader& checkpoint, std::optional<io::TensorType> dtype,
                        io::OutputFolder& folder) {
  const io::Hdf5File& file = checkpoint.file();
  if (!file.has_attribute("dim") || !file.has_group("params")) {
    throw Error(checkpoint.name() + ": not a model, expected a checkpoint of bam-train");
  }
  const Exporter exporter(checkpoint, dtype);
  const ModelConfig& config = exporter.config();
  const StoredTokenizer stored = read_tokenizer(file);
  const auto tokenizer = text::make_tokenizer(stored.header, stored.files, checkpoint.name());
  HuggingFaceIds ids{tokenizer->bos_id(), {}};
  if (tokenizer->eos_id()) ids.eos = *tokenizer->eos_id();
  huggingface::write_file(folder, "config.json",
                          format_huggingface_config(config, exporter.tied(), exporter.main_type(), ids));
  if (!is_stock_llama(config)) {
    for (const auto& [name, code] : huggingface_code()) huggingface::write_file(folder, std::string(name), code);
  }
  bool has_config = false;
  if (file.has_group(std::string(huggingface::kOrigin) + "/files")) {
    const io::Hdf5Group files = file.group(std::string(huggingface::kOrigin) + "/files");
    for (const std::string_view known : huggingface::side_files()) {
      const std::string name(known);
      if (!files.has(name)) continue;
      huggingface::write_file(folder, name, files.read_bytes(name));
      has_config = has_config || name == "tokenizer_config.json";
    }
  }
  huggingface::write_tokenizer_to(folder, stored, *tokenizer, has_config);
  exporter.write_weights(folder.place("model.safetensors"));
}

}  // namespace bam
