// gpu_golden FOLDER DEVICE - the golden models from plain files (tests/gpu/export-golden): logits, loss and every
// gradient in f32 and bf16, against float64 truth made by an independent implementation. The limits are those of
// tests/golden/model_test.cpp.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"
#include "kernels/registry.h"
#include "model/training_pass.h"
#include "support/closeness.h"

namespace bam::test {
namespace {

struct Golden {
  std::map<std::string, std::vector<double>> arrays;
  std::map<std::string, std::string> texts;

  double number(const std::string& name, double otherwise) const {
    const auto found = arrays.find("attr/" + name);
    return found == arrays.end() ? otherwise : found->second.at(0);
  }
  Index size(const std::string& name) const { return static_cast<Index>(arrays.at("attr/" + name).at(0)); }
  std::vector<std::int32_t> ids(const std::string& name) const {
    const std::vector<double>& values = arrays.at(name);
    return {values.begin(), values.end()};
  }
};

template <typename T>
std::vector<double> read_values(std::istream& in, std::size_t count) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return {values.begin(), values.end()};
}

Golden read_golden(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Golden golden;
  std::string name, type;
  std::size_t count = 0;
  while (in >> name >> type >> count) {
    in.get();
    if (type == "text") {
      std::string& text = golden.texts[name];
      text.resize(count);
      in.read(text.data(), static_cast<std::streamsize>(count));
    } else {
      golden.arrays[name] = type == "f32"   ? read_values<float>(in, count)
                            : type == "f64" ? read_values<double>(in, count)
                            : type == "i32" ? read_values<std::int32_t>(in, count)
                                            : read_values<std::int64_t>(in, count);
    }
    if (!in) throw Error(path.string() + ": cut off in " + name);
  }
  return golden;
}

template <typename Enum>
Enum named(const NameTable<Enum>& table, const std::string& text) {
  for (const auto& [name, value] : table) {
    if (name == text) return value;
  }
  throw Error("golden: an unknown name '" + text + "'");
}

ModelConfig config_of(const Golden& golden) {
  ModelConfig config;
  for (const auto& [name, field] : {std::pair{"dim", &config.dim},
                                    {"layers", &config.layers},
                                    {"heads", &config.heads},
                                    {"kv_heads", &config.kv_heads},
                                    {"ffn", &config.ffn},
                                    {"vocab", &config.vocab}}) {
    *field = golden.size(name);
  }
  config.pe = named(positional_encoding_names(), golden.texts.at("attr/pe"));
  config.ssmax = named(ssmax_names(), golden.texts.at("attr/ssmax"));
  config.prior_scope = named(prior_scope_names(), golden.texts.at("attr/prior_scope"));
  config.rope_theta = golden.number("rope_theta", config.rope_theta);
  config.sinusoidal_theta = golden.number("sinusoidal_theta", config.sinusoidal_theta);
  config.norm_eps = golden.number("norm_eps", config.norm_eps);
  config.train_shape = golden.number("train_shape", config.train_shape ? 1 : 0) != 0;
  config.train_scale = golden.number("train_scale", config.train_scale ? 1 : 0) != 0;
  config.train_loc = golden.number("train_loc", config.train_loc ? 1 : 0) != 0;
  return config;
}

Batch batch_of(const Golden& golden, Index vocab) {
  Batch batch;
  batch.ids = golden.ids("input/tokens");
  batch.targets = golden.ids("input/targets");
  const std::vector<std::int32_t> documents = golden.ids("input/doc_ids");
  const auto logits = static_cast<Index>(golden.arrays.at("expected/logits").size());
  if (logits != std::ssize(batch.ids) * vocab) throw Error("golden: logits and tokens do not match");
  batch.windows = golden.size("windows");
  batch.tokens = std::ssize(batch.ids) / batch.windows;
  batch.first_key.resize(batch.ids.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto t = static_cast<std::int32_t>(static_cast<Index>(i) % batch.tokens);
    batch.first_key[i] = t == 0 ? 0 : documents[i] != documents[i - 1] ? t : batch.first_key[i - 1];
  }
  return batch;
}

int failures = 0;

void judge(bool holds, const std::string& file, Products products, const std::string& what, double value) {
  if (holds) return;
  ++failures;
  std::printf("FAILED  %s %s: %s: %g\n", file.c_str(), std::string(name_in(products_names(), products)).c_str(),
              what.c_str(), value);
}

void compare(const std::string& file, const Golden& golden, Backend& backend, Products products) {
  const ModelConfig config = config_of(golden);
  const Batch batch = batch_of(golden, config.vocab);
  Model model(backend, config, products);
  for (const ParameterInfo& info : list_parameters(config)) {
    backend.copy_in(model.parameters().named(info.name),
                    {golden.arrays.at("params/" + info.name).data(), DType::f64, info.shape});
  }
  model.refresh_products();
  TrainingPass pass(model, batch.windows, batch.tokens);
  Tensor logits(backend, model.real(), {batch.windows * batch.tokens, config.vocab});
  pass.forward(batch, logits);
  ParameterSet gradients(backend, config, model.real());
  const auto targets = static_cast<double>(count_targets(batch));
  const double loss = pass.forward_backward(batch, 1.0 / targets, gradients).nll_nats / targets;
  const double expected_loss = golden.arrays.at("expected/loss")[0];
  const bool exact = products == Products::real;
  const double loss_error = std::abs(loss - expected_loss);
  judge(loss_error <= (exact ? 1e-6 * expected_loss : 2e-3), file, products, "loss is off by", loss_error);
  if (exact) {
    const std::vector<double>& expected = golden.arrays.at("expected/logits");
    const double error = largest_difference(to_host(backend, logits.view()), expected) / largest(expected);
    judge(error <= 1e-5, file, products, "logits are off by", error);
  }
  const std::string prefix = "expected/grads/";
  for (const auto& [name, expected] : golden.arrays) {
    if (name.rfind(prefix, 0) != 0) continue;
    const std::vector<double> found = to_host(backend, gradients.named(name.substr(prefix.size())));
    if (exact) {
      const double error = largest_difference(found, expected) / std::max(1e-300, largest(expected));
      judge(error <= 1e-4, file, products, name + " is off by", error);
    } else {
      const double angle = cosine(found, expected);
      judge(angle >= (name.find("ssmax_scale") != std::string::npos ? 0.995 : 0.999), file, products,
            name + " has a cosine of", angle);
    }
  }
}

int run(const std::string& folder, const std::string& device) {
  const auto backend = make_backend(device, 1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".golden") continue;
    const Golden golden = read_golden(entry.path());
    for (const Products products : {Products::real, Products::bf16}) {
      compare(entry.path().stem(), golden, *backend, products);
    }
    ++files;
  }
  std::printf("golden: %d files in f32 and bf16 on %s, %d failures\n", files, backend->describe().c_str(), failures);
  return files > 0 && failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bam::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gpu_golden FOLDER DEVICE\n");
    return 2;
  }
  try {
    return bam::test::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::printf("FAILED  golden: %s\n", error.what());
    return 1;
  }
}
