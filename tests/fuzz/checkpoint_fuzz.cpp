// boxes: model text io base
// Checkpoints: any bytes, and whole ones whose digest is right but whose contents are not those of a model.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/registry.h"
#include "memory_file.h"
#include "model/prior_checkpoint.h"
#include "text/bytes_tokenizer.h"

namespace {

using namespace bam;

// What a fuzzer's bytes say, from front to back; zeros when they are used up.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : data_[at_++]; }
  std::size_t below(std::size_t count) { return byte() % count; }

  // Small numbers, powers of two up to all 64 bits, and their neighbours.
  Index number() {
    const std::uint8_t kind = byte();
    if (kind < 64) return kind;
    const auto power = static_cast<Index>(std::uint64_t{1} << (kind % 64U));
    return kind < 128 ? power : static_cast<Index>(static_cast<std::uint64_t>(power) + byte() - 128);
  }
  std::string text() {
    std::string text;
    for (std::size_t left = below(24); left > 0 && !empty(); --left) text += static_cast<char>(byte());
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

constexpr std::array<const char*, 7> kSizes = {"dim", "layers", "heads", "kv_heads", "ffn", "vocab", "context"};
constexpr std::array<const char*, 3> kReals = {"rope_theta", "sinusoidal_theta", "norm_eps"};
constexpr std::array<const char*, 3> kNames = {"pe", "ssmax", "prior_scope"};

ModelConfig config_of(Choices& choices) {
  ModelConfig config;
  config.dim = 4;
  config.layers = 1;
  config.heads = config.kv_heads = 2;
  config.ffn = 3;
  config.vocab = 257;
  config.pe = positional_encoding_names()[choices.below(positional_encoding_names().size())].second;
  config.ssmax = ssmax_names()[choices.below(ssmax_names().size())].second;
  config.context = 8;
  return config;
}

// Changes an attribute of the model or of its tokenizer.
void change_attribute(io::Hdf5File& file, Choices& choices) {
  switch (choices.below(5)) {
    case 0:
      return file.set_int(kSizes[choices.below(kSizes.size())], choices.number());
    case 1:
      return file.set_real(kReals[choices.below(kReals.size())], static_cast<double>(choices.number()));
    case 2: {
      const std::size_t which = choices.below(kNames.size());
      constexpr std::array<const char*, 6> kWords = {"bam", "rope", "full", "off", "global", "layer"};
      const std::size_t word = choices.below(kWords.size() + 1);
      return file.set_string(kNames[which], word < kWords.size() ? kWords[word] : choices.text());
    }
    case 3: {
      constexpr std::array<const char*, 3> kIds = {"vocab_size", "bos_id", "eos_id"};
      io::Hdf5Group tokenizer = file.group("tokenizer");
      return tokenizer.set_int(kIds[choices.below(kIds.size())], choices.number());
    }
    default: {
      constexpr std::array<const char*, 3> kTexts = {"name", "kind", "sha256"};
      io::Hdf5Group tokenizer = file.group("tokenizer");
      return tokenizer.set_string(kTexts[choices.below(kTexts.size())], choices.text());
    }
  }
}

// A parameter as it should be, or left out, or of another type, or of another shape.
void write_parameter(io::Hdf5Group& group, const ParameterInfo& info, std::uint8_t fault) {
  std::vector<Index> shape;
  for (int axis = 0; axis < info.shape.rank(); ++axis) shape.push_back(info.shape[axis]);
  if (fault == 1) return;
  if (fault == 2) shape.back() += 1;
  if (fault == 3) shape.push_back(1);
  if (fault == 4) shape.front() = 0;
  Index count = 1;
  for (const Index size : shape) count *= size;
  const auto elements = static_cast<std::size_t>(count);
  if (fault == 5) {
    group.write<double>(info.name, shape, std::vector<double>(elements));
  } else {
    group.write<float>(info.name, shape, std::vector<float>(elements, fault == 6 ? 1e38F : 0.5F),
                       fault == 7 ? io::Hdf5Compression::deflate : io::Hdf5Compression::none);
  }
}

void write(const std::string& path, Choices& choices) {
  static const std::unique_ptr<text::Tokenizer> tokenizer = text::make_bytes_tokenizer();
  io::CheckpointWriter writer(path);
  const ModelConfig config = config_of(choices);
  write_config(writer.file(), config);
  {
    io::Hdf5Group parameters = writer.file().create_group("params");
    const std::vector<ParameterInfo> infos = list_parameters(config);
    const std::size_t faulty = choices.below(2 * infos.size());
    const std::uint8_t fault = choices.byte() % 8;
    for (std::size_t i = 0; i < infos.size(); ++i) {
      write_parameter(parameters, infos[i], i == faulty ? fault : std::uint8_t{0});
    }
  }
  write_tokenizer(writer.file(), text::shard_header(*tokenizer), tokenizer->files());
  for (std::size_t changes = choices.below(4); changes > 0; --changes) change_attribute(writer.file(), choices);
  writer.commit();
}

template <typename Use>
void use(Use&& of_file) {
  try {
    of_file();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::unique_ptr<Backend> backend = make_backend("ref", 1);
  const bool is_raw = data[0] % 2 == 0;
  const test::MemoryFile file(is_raw ? std::string(reinterpret_cast<const char*>(data) + 1, size - 1) : std::string());
  if (!is_raw) {
    Choices choices(data + 1, size - 1);
    use([&] { write(file.path(), choices); });
  }
  // Either reader, not both: opening an HDF5 file is most of what an input costs.
  if ((data[0] & 2U) == 0) {
    use([&] { (void)load_model(file.path(), *backend, Products::real); });
  } else {
    use([&] { (void)read_priors(io::CheckpointReader(file.path())); });
  }
  return 0;
}
