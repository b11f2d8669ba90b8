// Models whose answers are known, in memory or as checkpoints. The tokenizer is bytes: 256 ids and BOS.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "model/checkpoint_model.h"
#include "support/device_under_test.h"
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
  void clear(const std::vector<std::string>& names) {
    for (const std::string& name : names) set(name, std::vector<float>(get(name).size(), 0.0F));
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
                              Products products = Products::real, const std::string& device = device_under_test()) {
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

// logit(i, j) of id j behind id i, whatever stands before: each id has a dimension of its own and nothing is added to
// it.
template <typename Logit>
TinyModel bigram_model(const Logit& logit) {
  ModelConfig config = tiny_config(PositionalEncoding::nope);
  config.dim = 288;
  config.heads = config.kv_heads = 9;
  config.layers = 1;
  TinyModel tiny = random_model(config);
  tiny.clear({"layers/0/wo", "layers/0/w_down"});
  std::vector<float> embedding(static_cast<std::size_t>(257 * 288), 0.0F);
  std::vector<float> head = embedding;
  // The last norm makes sqrt(288) of the 1.
  for (std::size_t i = 0; i < 257; ++i) {
    embedding[i * 288 + i] = 1;
    for (std::size_t j = 0; j < 257; ++j) head[j * 288 + i] = static_cast<float>(logit(i, j) / std::sqrt(288.0));
  }
  tiny.set("token_embedding", embedding);
  tiny.set("lm_head", head);
  return tiny;
}

// Behind id i stands, with all but certainty, next[i].
inline TinyModel successor_model(const std::vector<std::int32_t>& next) {
  return bigram_model(
      [&next](std::size_t i, std::size_t j) { return static_cast<std::size_t>(next[i]) == j ? 170.0 : 0.0; });
}

// Of the letters a to h it says, with all but certainty, what stood behind the letter when it was there before. Layer 0
// looks one token back, by its prior alone, and notes that letter; layer 1 looks, by content alone, for the places
// where the letter of the query was noted. Dimensions 0-7: the letter, 8-15: the one before, 16-23: what is said.
inline TinyModel copying_model() {
  constexpr std::size_t kDim = 32;
  ModelConfig config = tiny_config();
  config.heads = config.kv_heads = 1;
  config.prior_scope = PriorScope::layer;
  config.ssmax = Ssmax::off;
  TinyModel tiny = random_model(config);
  tiny.clear({"layers/0/wq", "layers/0/w_down", "layers/1/w_down", "token_embedding", "lm_head"});
  // Eight dimensions from `from` on become those from `to` on, times `factor`.
  const auto move = [&tiny](const std::string& name, std::size_t from, std::size_t to, float factor) {
    std::vector<float> weights(kDim * kDim, 0.0F);
    for (std::size_t i = 0; i < 8; ++i) weights[(to + i) * kDim + from + i] = factor;
    tiny.set(name, weights);
  };
  move("layers/0/wv", 0, 0, 1);
  move("layers/0/wo", 0, 8, 0.2F);
  move("layers/1/wq", 0, 0, 5);
  move("layers/1/wk", 8, 0, 5);
  move("layers/1/wv", 0, 0, 1);
  move("layers/1/wo", 0, 16, 1);
  for (const std::string layer : {"layers/0", "layers/1"}) {
    const bool looks_back = layer.ends_with('0');
    tiny.set(layer + "/prior_shape", {1});
    tiny.set(layer + "/prior_scale", {looks_back ? 4.0F : -20.0F});
    tiny.set(layer + "/prior_loc", {looks_back ? -static_cast<float>(std::asinh(0.5)) : 0.0F});
  }
  std::vector<float> embedding(257 * kDim, 0.0F);
  std::vector<float> head = embedding;
  for (std::size_t i = 0; i < 8; ++i) {
    embedding[('a' + i) * kDim + i] = 1;
    head[('a' + i) * kDim + 16 + i] = 10;
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
