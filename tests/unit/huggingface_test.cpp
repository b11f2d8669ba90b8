// boxes: model prior text io kernels base
#include "model/huggingface.h"

#include <cmath>
#include <sstream>

#include "io/json.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::test;
using io::TensorType;

namespace {

constexpr const char* kLlama =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 257, "hidden_size": 16,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24,
        "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
        "max_position_embeddings": 64, "bos_token_id": 256, "eos_token_id": [1, 2]})";

ModelConfig llama_config() {
  return parse_huggingface_config(kLlama, "config.json").model;
}

std::string with(const std::string& members) {
  return std::string(kLlama).replace(std::string(kLlama).rfind('}'), 1, ", " + members + "}");
}

std::vector<float> values_of(const std::string& name, Index count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = static_cast<std::uint32_t>(std::hash<std::string>{}(name));
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(state >> 16U) - 32768) * 0x1p-17F * 1.00390625F;
  }
  return values;
}

using Choose = std::function<bool(const std::string&)>;

// Weights of the tiny Llama above, of the tensors that `chosen` wants.
void write_weights(const std::string& path, TensorType type, const Choose& chosen) {
  std::vector<io::TensorPlan> plan;
  for (const ParameterInfo& info : list_parameters(llama_config())) {
    const std::string name = huggingface_name(info.name);
    if (!chosen(name)) continue;
    std::vector<Index> shape;
    for (int axis = 0; axis < info.shape.rank(); ++axis) shape.push_back(info.shape[axis]);
    // As in the wild: norms in another type than matrices.
    plan.push_back({name, shape.size() == 1 && type == TensorType::f16 ? TensorType::f32 : type, shape});
  }
  io::SafetensorsWriter writer(path, plan);
  for (const io::TensorPlan& next : writer.order()) {
    Index count = 1;
    for (const Index size : next.shape) count *= size;
    writer.write(values_of(next.name, count));
  }
  writer.commit();
}

std::string make_folder(const ScratchFolder& scratch, const std::string& config = kLlama,
                        TensorType type = TensorType::f32) {
  const std::string folder = scratch / "hf";
  std::filesystem::create_directory(folder);
  spit(folder + "/config.json", config);
  write_weights(folder + "/model.safetensors", type, [](const std::string&) { return true; });
  return folder;
}

void to_checkpoint(const std::string& folder, const std::string& path) {
  io::CheckpointWriter writer(path);
  import_huggingface(folder, {.tokenizer = "bytes", .bos_token = ""}, writer.file());
  writer.commit();
}

void to_folder(const std::string& path, const std::string& folder, std::optional<TensorType> dtype = {}) {
  io::OutputFolder output(folder);
  export_huggingface(io::CheckpointReader(path), dtype, output);
  output.commit();
}

std::string config_error(const std::string& json) {
  const std::string error = error_of([&] { parse_huggingface_config(json, "c.json"); });
  CHECK(is_one_line(error));
  return error;
}

}  // namespace

TEST_CASE("huggingface: names of parameters") {
  CHECK(huggingface_name("token_embedding") == "model.embed_tokens.weight");
  CHECK(huggingface_name("lm_head") == "lm_head.weight");
  CHECK(huggingface_name("final_norm") == "model.norm.weight");
  CHECK(huggingface_name("layers/11/wq") == "model.layers.11.self_attn.q_proj.weight");
  CHECK(huggingface_name("layers/0/ffn_norm") == "model.layers.0.post_attention_layernorm.weight");
  CHECK(huggingface_name("layers/3/prior_loc") == "model.layers.3.self_attn.prior_loc");
  CHECK(huggingface_name("prior_loc") == "model.prior_loc");
}

TEST_CASE("huggingface: rotary pairs change places so that both rotations agree") {
  constexpr Index kHeads = 3, kDim = 8, kHalf = kDim / 2, kColumns = 2;
  const std::vector<float> theirs = values_of("w", kHeads * kDim * kColumns);
  std::vector<float> ours = theirs;
  join_rotary_pairs(ours, kHeads, kColumns);
  CHECK(ours != theirs);
  for (Index head = 0; head < kHeads; ++head) {
    const auto row = [&](const std::vector<float>& values, Index r) {
      return static_cast<double>(values[static_cast<std::size_t>((head * kDim + r) * kColumns)]);
    };
    for (Index k = 0; k < kHalf; ++k) {
      const double angle = 7 * std::pow(10000.0, -2.0 * static_cast<double>(k) / kDim);
      // Theirs: (k, k + d/2); ours: (2k, 2k+1). The same pair, turned by the same angle.
      CHECK(row(theirs, k) * std::cos(angle) - row(theirs, k + kHalf) * std::sin(angle) ==
            row(ours, 2 * k) * std::cos(angle) - row(ours, 2 * k + 1) * std::sin(angle));
      CHECK(row(theirs, k + kHalf) == row(ours, 2 * k + 1));
    }
  }
  split_rotary_pairs(ours, kHeads, kColumns);
  CHECK(ours == theirs);
}

TEST_CASE("huggingface: the configuration of a Llama") {
  const HuggingFaceConfig parsed = parse_huggingface_config(kLlama, "config.json");
  const ModelConfig& config = parsed.model;
  CHECK((config.vocab == 257 && config.dim == 16 && config.layers == 2 && config.heads == 4));
  CHECK((config.kv_heads == 2 && config.ffn == 24 && config.norm_eps == 1e-6 && config.rope_theta == 10000));
  CHECK((config.pe == PositionalEncoding::rope && config.ssmax == Ssmax::off && config.context == 64));
  CHECK((!parsed.tied && parsed.bos_token == 256));
  // What Llama's own configuration takes where a file says nothing.
  const HuggingFaceConfig bare = parse_huggingface_config(
      R"({"model_type": "llama", "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
          "intermediate_size": 3, "tie_word_embeddings": true})",
      "c");
  CHECK((bare.model.kv_heads == 2 && bare.model.norm_eps == 1e-6 && bare.model.rope_theta == 10000 && bare.tied));
  // The newer form of the rotary base, and members that change nothing.
  CHECK(parse_huggingface_config(with(R"("rope_parameters": {"rope_type": "default", "rope_theta": 5e5})"), "c")
            .model.rope_theta == 500000);
  CHECK(parse_huggingface_config(with(R"("rope_scaling": null, "head_dim": 4, "attention_bias": false)"), "c").model ==
        config);
  CHECK(parse_huggingface_config(with(R"("sliding_window": 8, "use_sliding_window": false)"), "c").model == config);
}

TEST_CASE("huggingface: what does not map is refused by its name") {
  for (const auto& [members, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"("attention_bias": true)", "attention_bias is true"},
           {R"("mlp_bias": true)", "mlp_bias is true"},
           {R"("mlp_bias": "no")", "mlp_bias is not true or false"},
           {R"("hidden_act": "gelu_new")", "hidden_act is \"gelu_new\""},
           {R"("head_dim": 8)", "head_dim is 8"},
           {R"("partial_rotary_factor": 0.5)", "partial_rotary_factor is 0.5"},
           {R"("rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.25})", "rope_parameters is"},
           {R"("rope_scaling": {"type": "dynamic", "factor": 2})", "rope_scaling is"},
           {R"("rope_scaling": {"rope_type": "llama3"})", "rope_scaling is"},
           {R"("rope_scaling": 4)", "rope_scaling is not an object"},
           {R"("sliding_window": 4096)", "sliding_window is 4096"},
           {R"("quantization_config": {"bits": 4})", "quantization_config is there"},
           {R"("auto_map": {"AutoModel": "x.Y"})", "auto_map names code of its own"}}) {
    CHECK(contains(config_error(with(members)), "c.json: " + expected));
  }
  CHECK(contains(config_error("{}"), "model_type \"\" is not known"));
  CHECK(contains(config_error(""), "not a JSON object"));
  CHECK(contains(config_error(R"({"model_type": "llama", "vocab_size": 9007199254740993e9})"),
                 "vocab_size is not a whole number"));
  for (const char* type : {"mpt", "bloom", "falcon", "gpt2", "qwen2", "gemma", "mixtral"}) {
    CHECK(contains(config_error(std::string(R"({"model_type": ")") + type + "\"}"),
                   std::string("'") + type + "' does not map: its "));
  }
}

TEST_CASE("huggingface: every configuration of ours comes back from its config.json") {
  for (const auto& [pe_name, pe] : positional_encoding_names()) {
    for (const auto& [ssmax_name, ssmax] : ssmax_names()) {
      ModelConfig config = tiny_config(pe);
      config.ssmax = ssmax;
      config.norm_eps = 1.0 / 3e5;
      config.kv_heads = 2;
      const bool stock = pe == PositionalEncoding::rope && ssmax == Ssmax::off;
      CHECK(is_stock_llama(config) == stock);
      if (!stock) {
        config.prior_scope = PriorScope::global;
        config.train_loc = true;
        config.train_shape = false;
        config.rope_theta = 12345.678;
        config.sinusoidal_theta = 99;
        config.context = 0;
      } else {
        config.prior_scope = ModelConfig{}.prior_scope;
      }
      const std::string json = format_huggingface_config(config, true, TensorType::bf16, {256, 3});
      INFO(pe_name << " " << ssmax_name << " " << json);
      const HuggingFaceConfig parsed = parse_huggingface_config(json, "c");
      CHECK(parsed.model == config);
      CHECK(parsed.tied);
      CHECK(parsed.bos_token == 256);
      CHECK(contains(json, "\"torch_dtype\": \"bfloat16\""));
    }
  }
}

TEST_CASE("huggingface: weights of every type come back to the bit") {
  for (const TensorType type : {TensorType::f32, TensorType::bf16, TensorType::f16}) {
    const ScratchFolder scratch;
    const std::string folder = make_folder(scratch, kLlama, type);
    to_checkpoint(folder, scratch / "a.h5");
    to_folder(scratch / "a.h5", scratch / "b");
    CHECK(slurp(scratch / "b/model.safetensors") == slurp(folder + "/model.safetensors"));
    to_checkpoint(scratch / "b", scratch / "b.h5");
    CHECK(io::CheckpointReader(scratch / "a.h5").digest() == io::CheckpointReader(scratch / "b.h5").digest());
    // Another type on request, and in it no loss for what fits.
    to_folder(scratch / "a.h5", scratch / "c", TensorType::f32);
    to_checkpoint(scratch / "c", scratch / "c.h5");
    to_folder(scratch / "c.h5", scratch / "d", type);
    if (type != TensorType::f16) {
      CHECK(slurp(scratch / "d/model.safetensors") == slurp(folder + "/model.safetensors"));
    }
  }
}

TEST_CASE("huggingface: a model in several files is the model in one") {
  const ScratchFolder scratch;
  const std::string folder = make_folder(scratch);
  to_checkpoint(folder, scratch / "a.h5");
  std::filesystem::remove(folder + "/model.safetensors");
  const auto is_first = [](const std::string& name) { return contains(name, "layers.0") || contains(name, "embed"); };
  write_weights(folder + "/model-00001-of-00002.safetensors", TensorType::f32, is_first);
  write_weights(folder + "/model-00002-of-00002.safetensors", TensorType::f32,
                [&](const std::string& name) { return !is_first(name); });
  io::JsonWriter index;
  index.begin_object().key("weight_map").begin_object();
  for (const ParameterInfo& info : list_parameters(llama_config())) {
    const std::string name = huggingface_name(info.name);
    index.field(name, std::string("model-0000") + (is_first(name) ? "1" : "2") + "-of-00002.safetensors");
  }
  index.end_object().end_object();
  spit(folder + "/model.safetensors.index.json", index.text());
  to_checkpoint(folder, scratch / "b.h5");
  CHECK(slurp(scratch / "a.h5") == slurp(scratch / "b.h5"));
  std::filesystem::remove(folder + "/model-00002-of-00002.safetensors");
  CHECK(contains(error_of([&] { to_checkpoint(folder, scratch / "c.h5"); }), "model-00002-of-00002.safetensors: "));
  std::filesystem::copy(folder + "/model-00001-of-00002.safetensors", folder + "/model-00002-of-00002.safetensors");
  CHECK(contains(error_of([&] { to_checkpoint(folder, scratch / "c.h5"); }), " is also in "));
  CHECK(!std::filesystem::exists(scratch / "c.h5"));
}

TEST_CASE("huggingface: an output that is tied to the embedding is left out and comes back") {
  const ScratchFolder scratch;
  const std::string tied = std::string(kLlama).replace(std::string(kLlama).find("false"), 5, "true");
  const std::string folder = make_folder(scratch, tied);
  CHECK(contains(error_of([&] { to_checkpoint(folder, scratch / "a.h5"); }),
                 "tie_word_embeddings is true, but lm_head.weight is not the embedding"));
  write_weights(folder + "/model.safetensors", TensorType::bf16,
                [](const std::string& name) { return name != "lm_head.weight"; });
  to_checkpoint(folder, scratch / "a.h5");
  const io::CheckpointReader reader(scratch / "a.h5");
  CHECK(reader.file().read<float>("params/lm_head", {257, 16}) ==
        reader.file().read<float>("params/token_embedding", {257, 16}));
  to_folder(scratch / "a.h5", scratch / "b");
  CHECK(slurp(scratch / "b/model.safetensors") == slurp(folder + "/model.safetensors"));
  CHECK(contains(slurp(scratch / "b/config.json"), "\"tie_word_embeddings\": true"));
}

TEST_CASE("huggingface: priors and scales of the softmax stay float32") {
  const ScratchFolder scratch;
  TinyModel tiny = random_model();
  {
    io::CheckpointWriter writer(scratch / "a.h5");
    write_config(writer.file(), tiny.model().config());
    write_tokenizer(writer.file(), tiny.loaded.tokenizer_header, {});
    {
      io::Hdf5Group group = writer.file().create_group("params");
      write_parameters(group, tiny.model().parameters(), *tiny.backend);
    }
    writer.commit();
  }
  to_folder(scratch / "a.h5", scratch / "b", TensorType::bf16);
  int wide = 0;
  const io::SafetensorsFile file(scratch / "b/model.safetensors");
  for (const io::StoredTensor& tensor : file.tensors()) {
    const bool special = contains(tensor.name, "prior_") || contains(tensor.name, "ssmax_");
    CHECK(tensor.type == (special ? TensorType::f32 : TensorType::bf16));
    wide += special;
  }
  CHECK(wide == 2 * 4);
  for (const auto& [name, code] : huggingface_code()) CHECK(slurp(scratch / ("b/" + std::string(name))) == code);
}

TEST_CASE("huggingface: the tokenizer comes along, with the BOS that the folder names") {
  const ScratchFolder scratch;
  const std::string folder = make_folder(scratch);
  // 256 bytes, and a special token that is not BOS by itself.
  to_checkpoint(folder, scratch / "a.h5");
  to_folder(scratch / "a.h5", scratch / "b");
  std::string json = slurp(scratch / "b/tokenizer.json");
  const std::size_t begin = json.find("\"post_processor\""), end = json.find("\"decoder\"");
  REQUIRE(end < json.size());
  json.replace(begin, end - begin, "\"post_processor\": null, ");
  spit(folder + "/tokenizer.json", json);
  const auto import = [&](const ImportChoice& choice) {
    std::filesystem::remove(scratch / "c.h5");
    io::CheckpointWriter writer(scratch / "c.h5");
    import_huggingface(folder, choice, writer.file());
    writer.commit();
    return read_tokenizer(io::CheckpointReader(scratch / "c.h5").file()).header.bos_id;
  };
  CHECK(import({}) == 256);  // by bos_token_id
  CHECK(import({.tokenizer = "", .bos_token = "<bos>"}) == 256);
  spit(folder + "/tokenizer_config.json",
       R"({"model_max_length": 1000000000000000019884624838656, "x": "\"1000000000000000019884624838656",
           "bos_token": {"content": "<bos>", "lstrip": false}})");
  CHECK(import({}) == 256);
  spit(folder + "/tokenizer_config.json", R"({"bos_token": "<none>"})");
  CHECK(contains(error_of([&] { import({}); }), "its BOS is \"<none>\", which is not one of its special tokens"));
  std::filesystem::remove(folder + "/tokenizer_config.json");
  spit(folder + "/config.json",
       std::string(kLlama).replace(std::string(kLlama).find("\"bos_token_id\": 256, "), 21, ""));
  CHECK(contains(error_of([&] { import({}); }), "an added BOS among them, and the model 257; expected --bos-token"));
}
