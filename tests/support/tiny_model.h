// Models whose answers are known, in memory or as checkpoints. The tokenizer is bytes: 256 ids and BOS.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "model/checkpoint_model.h"
#include "text/bytes_tokenizer.h"

namespace bam::test {

inline ModelConfig tiny_config(PositionalEncoding pe = PositionalEncoding::bam) {
  ModelConfig config;
  config.dim = 32;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 4;
  config.ffn = 48;
  config.vocab = 257;
  config.pe = pe;
  config.context = 16;
  return config;
}

struct TinyModel {
  std::unique_ptr<Backend> backend;
  LoadedModel loaded;

  Model& model() { return *loaded.model; }

  void set(const std::string& parameter, const std::vector<float>& values) {
    const TensorView view = model().parameters().named(parameter);
    backend->copy_in(view, {values.data(), DType::f32, view.shape});
    model().refresh_products();
  }
  std::vector<float> get(const std::string& parameter) {
    const TensorView view = model().parameters().named(parameter);
    std::vector<float> values(static_cast<std::size_t>(view.count()));
    backend->copy_out({values.data(), DType::f32, view.shape}, view);
    return values;
  }
};

// Seeded weights, larger than at the start of a training, so that what is far away matters.
inline TinyModel random_model(const ModelConfig& config = tiny_config(), int threads = 1,
                              Products products = Products::real, const std::string& device = "cpu") {
  TinyModel tiny;
  tiny.backend = make_backend(device, threads);
  LoadedModel& loaded = tiny.loaded;
  loaded.name = "tiny.h5";
  loaded.digest = "tiny";
  loaded.model = std::make_unique<Model>(*tiny.backend, config, products);
  initialise(loaded.model->parameters(), config, *tiny.backend, 1);
  loaded.model->refresh_products();
  loaded.tokenizer = text::make_bytes_tokenizer();
  loaded.tokenizer_header = text::shard_header(*loaded.tokenizer);
  return tiny;
}

// Every id is as likely.
inline TinyModel uniform_model() {
  TinyModel tiny = random_model();
  tiny.set("lm_head", std::vector<float>(static_cast<std::size_t>(257 * 32), 0.0F));
  return tiny;
}

// Behind id i stands, with all but certainty, next[i]: each id has a dimension of its own and nothing is added to it.
inline TinyModel successor_model(const std::vector<std::int32_t>& next) {
  ModelConfig config = tiny_config(PositionalEncoding::nope);
  config.dim = 288;
  config.heads = config.kv_heads = 9;
  config.layers = 1;
  TinyModel tiny = random_model(config);
  const auto zeros = [&](const std::string& name) { tiny.set(name, std::vector<float>(tiny.get(name).size(), 0.0F)); };
  zeros("layers/0/wo");
  zeros("layers/0/w_down");
  std::vector<float> embedding(static_cast<std::size_t>(257 * 288), 0.0F);
  std::vector<float> head = embedding;
  for (std::size_t id = 0; id < 257; ++id) {
    embedding[id * 288 + id] = 1;
    head[static_cast<std::size_t>(next[id]) * 288 + id] = 10;
  }
  tiny.set("token_embedding", embedding);
  tiny.set("lm_head", head);
  return tiny;
}

inline std::vector<std::int32_t> next_ids() {
  std::vector<std::int32_t> next;
  for (std::int32_t id = 0; id < 257; ++id) next.push_back((id + 1) % 257);
  return next;
}

inline void write_model(const std::string& path, TinyModel& tiny) {
  io::CheckpointWriter writer(path);
  write_config(writer.file(), tiny.model().config());
  {
    io::Hdf5Group parameters = writer.file().create_group("params");
    write_parameters(parameters, tiny.model().parameters(), *tiny.backend);
  }
  write_tokenizer(writer.file(), tiny.loaded.tokenizer_header, tiny.loaded.tokenizer->files());
  writer.commit();
}

}  // namespace bam::test
