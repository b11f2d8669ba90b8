#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "io/json.h"
#include "io/json_lines.h"
#include "model/huggingface.h"

namespace bam {
namespace {

using Element = simdjson::dom::element;

// What keeps well-known architectures from being a model of ours; others are refused by their name alone.
struct Reason {
  std::string_view model_type;
  std::string_view why;
};
constexpr std::array<Reason, 12> kReasons = {
    {{"mpt", "its norms subtract the mean and its feed-forward layers have no gate"},
     {"bloom", "its norms subtract the mean, its layers have biases and its feed-forward layers no gate"},
     {"falcon", "its norms subtract the mean and its feed-forward layers have no gate"},
     {"gpt2", "its positions are learnt vectors, and its layers have biases"},
     {"gpt_neox", "its norms subtract the mean, and its layers have biases"},
     {"opt", "its positions are learnt vectors, and its layers have biases"},
     {"qwen2", "its queries, keys and values have biases"},
     {"qwen3", "its queries and keys are normalised"},
     {"gemma", "its norms multiply by 1 + w and its embeddings are scaled"},
     {"gemma2", "its norms multiply by 1 + w and its logits are capped"},
     {"phi3", "its matrices are put together, and it may rotate a part of the channels"},
     {"mixtral", "its feed-forward layers are mixtures of experts"}}};

// Members of config.json; one that is null is not there.
class Members {
 public:
  Members(std::string_view json, const std::string& subject) : subject_(subject), padded_(json) {
    if (parser_.parse(padded_).get(root_) != simdjson::SUCCESS) refuse("not a JSON object, expected a configuration");
  }

  [[noreturn]] void refuse(const std::string& what) const { throw Error(subject_ + ": " + what); }

  // `what` names a member and its value; `hint` may tell a way out.
  [[noreturn]] void does_not_map(const std::string& what, const std::string& hint = "") const {
    refuse(what + ", which no model here has" + (hint.empty() ? "" : ": " + hint));
  }

  std::optional<Element> find(std::string_view name) const {
    Element element;
    if (root_[name].get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
    return element;
  }

  // Also where it is null.
  bool has(std::string_view name) const { return root_[name].error() == simdjson::SUCCESS; }

  template <typename T>
  T get(std::string_view name, const char* expected, const std::optional<T>& otherwise) const {
    const std::optional<Element> element = find(name);
    if (!element && otherwise) return *otherwise;
    T value{};
    if (!element) refuse("no " + std::string(name) + ", expected " + expected);
    if (element->get(value) != simdjson::SUCCESS) refuse(std::string(name) + " is not " + expected);
    return value;
  }

  Index size(std::string_view name, std::optional<Index> otherwise = {}) const {
    return get<std::int64_t>(name, "a whole number", otherwise);
  }
  double real(std::string_view name, std::optional<double> otherwise = {}) const {
    return get<double>(name, "a number", otherwise);
  }
  bool flag(std::string_view name, bool otherwise) const { return get<bool>(name, "true or false", otherwise); }
  std::string text(std::string_view name, std::string_view otherwise) const {
    return std::string(get<std::string_view>(name, "a text", otherwise));
  }

  std::string shown(std::string_view name) const {
    const std::optional<Element> element = find(name);
    return std::string(name) + " is " + (element ? simdjson::minify(*element) : "missing");
  }

 private:
  std::string subject_;
  simdjson::dom::parser parser_;
  simdjson::padded_string padded_;
  simdjson::dom::object root_;
};

template <typename Enum>
Enum choice(const Members& members, std::string_view name, const NameTable<Enum>& table) {
  const std::string text = members.text(name, "");
  for (const auto& [entry, value] : table) {
    if (entry == text) return value;
  }
  members.does_not_map(members.shown(name));
}

void check_architecture(const Members& members, const std::string& type) {
  for (const Reason& reason : kReasons) {
    if (reason.model_type == type) {
      members.refuse("model_type '" + type + "' does not map: " + std::string(reason.why));
    }
  }
  if (type != "llama" && type != "mistral" && type != "bam") {
    members.refuse("model_type " + io::json_quote(type) + " is not known, expected llama, mistral or bam");
  }
  const std::string wanted = type == "llama" ? "LlamaForCausalLM"
                             : type == "bam" ? "BamForCausalLM"
                                             : "MistralForCausalLM";
  simdjson::dom::array architectures;
  if (const auto given = members.find("architectures"); given && given->get(architectures) == simdjson::SUCCESS) {
    const bool named = std::any_of(architectures.begin(), architectures.end(), [&](Element element) {
      std::string_view name;
      return element.get(name) == simdjson::SUCCESS && name == wanted;
    });
    if (!named) members.does_not_map(members.shown("architectures"), "expected " + wanted);
  }
  if (type != "bam" && members.find("auto_map")) {
    members.does_not_map("auto_map names code of its own", "expected the stock " + wanted);
  }
}

// theta, in the old place or the new one. Whatever stretches the angles is no part of a model here.
double rotary_theta(const Members& members, double otherwise) {
  double theta = members.real("rope_theta", otherwise);
  if (members.find("rope_scaling") && members.find("rope_parameters")) {
    members.does_not_map("rope_scaling and rope_parameters are both there", "expected one of them");
  }
  for (const std::string_view name : {"rope_scaling", "rope_parameters"}) {
    const std::optional<Element> given = members.find(name);
    if (!given) continue;
    simdjson::dom::object object;
    if (given->get(object) != simdjson::SUCCESS) members.refuse(std::string(name) + " is not an object");
    // A member of another kind than is known must not pass for one that is missing.
    const auto read = [&](std::string_view key, auto& value) {
      Element member;
      if (object[key].get(member) != simdjson::SUCCESS || member.is_null()) return;
      if (member.get(value) != simdjson::SUCCESS) members.does_not_map(members.shown(name));
    };
    std::string_view type = "default";
    for (const std::string_view key : {"type", "rope_type"}) read(key, type);
    if (type != "default") {
      members.does_not_map(members.shown(name),
                           type == "linear" ? "without it, evaluations with --rope-scaling linear:FACTOR are the same"
                                            : "expected rotary angles as they are");
    }
    double part = 1;
    read("partial_rotary_factor", part);
    const bool is_by_layer =
        std::any_of(object.begin(), object.end(), [](const auto& field) { return field.value.is_object(); });
    if (part != 1 || is_by_layer) members.does_not_map(members.shown(name));
    read("rope_theta", theta);
  }
  return theta;
}

// Mistral's window is there unless it is null, and no other member switches it off.
void check_window(const Members& members, const std::string& type) {
  constexpr const char* kHint = "with null in its place, evaluations with --window of that size are the same";
  if (type == "mistral" && !members.has("sliding_window")) {
    members.does_not_map("sliding_window is missing, which stands for 4096", kHint);
  }
  const bool is_used = type == "mistral" || members.flag("use_sliding_window", true);
  if (members.find("sliding_window") && is_used) members.does_not_map(members.shown("sliding_window"), kHint);
}

// What would change the mathematics, wherever it is not at the value that leaves it out.
void check_plain(const Members& members, const ModelConfig& config) {
  for (const std::string_view name : {"attention_bias", "mlp_bias", "qkv_bias"}) {
    if (members.flag(name, false)) members.does_not_map(members.shown(name), "expected layers without biases");
  }
  if (members.text("hidden_act", "silu") != "silu") members.does_not_map(members.shown("hidden_act"), "expected silu");
  if (members.size("head_dim", config.head_dim()) != config.head_dim()) {
    members.does_not_map(members.shown("head_dim"),
                         "expected hidden_size / num_attention_heads, which is " + std::to_string(config.head_dim()));
  }
  if (members.real("partial_rotary_factor", 1) != 1) members.does_not_map(members.shown("partial_rotary_factor"));
  if (members.find("quantization_config")) {
    members.does_not_map("quantization_config is there", "expected weights of F32, BF16 or F16");
  }
}

}  // namespace

HuggingFaceConfig parse_huggingface_config(std::string_view json, const std::string& subject) {
  constexpr double kLlamaTheta = 10000;
  constexpr double kLlamaEps = 1e-6;
  constexpr Index kMistralKvHeads = 8;  // what MistralConfig takes where it is not said
  const Members members(json, subject);
  const std::string type = members.text("model_type", "");
  check_architecture(members, type);
  HuggingFaceConfig parsed;
  ModelConfig& config = parsed.model;
  config.vocab = members.size("vocab_size");
  config.dim = members.size("hidden_size");
  config.layers = members.size("num_hidden_layers");
  config.heads = members.size("num_attention_heads");
  config.kv_heads = members.size(
      "num_key_value_heads", type == "mistral" && !members.has("num_key_value_heads") ? kMistralKvHeads : config.heads);
  config.ffn = members.size("intermediate_size");
  config.norm_eps = members.real("rms_norm_eps", kLlamaEps);
  parsed.tied = members.flag("tie_word_embeddings", false);
  if (members.find("bos_token_id")) parsed.bos_token = members.size("bos_token_id");
  if (type == "bam") {
    config.pe = choice(members, "pe", positional_encoding_names());
    config.ssmax = choice(members, "ssmax", ssmax_names());
    config.prior_scope = choice(members, "prior_scope", prior_scope_names());
    config.rope_theta = members.real("rope_theta");
    config.sinusoidal_theta = members.real("sinusoidal_theta");
    config.train_shape = members.flag("train_shape", true);
    config.train_scale = members.flag("train_scale", true);
    config.train_loc = members.flag("train_loc", false);
    config.context = members.size("context", 0);
  } else {
    config.pe = PositionalEncoding::rope;
    config.ssmax = Ssmax::off;
    config.rope_theta = rotary_theta(members, kLlamaTheta);
    config.context = members.size("max_position_embeddings", 0);
  }
  try {
    validate(config);
  } catch (const Error& error) {
    members.refuse(error.what());
  }
  check_plain(members, config);
  check_window(members, type);
  return parsed;
}

bool is_stock_llama(const ModelConfig& config) {
  return config.pe == PositionalEncoding::rope && config.ssmax == Ssmax::off;
}

std::string format_huggingface_config(const ModelConfig& config, bool tied, io::TensorType dtype,
                                      const HuggingFaceIds& ids) {
  const bool stock = is_stock_llama(config);
  io::JsonWriter json;
  json.begin_object();
  json.key("architectures").begin_array().value(stock ? "LlamaForCausalLM" : "BamForCausalLM").end_array();
  if (!stock) {
    json.key("auto_map").begin_object();
    json.field("AutoConfig", "configuration_bam.BamConfig");
    json.field("AutoModelForCausalLM", "modeling_bam.BamForCausalLM").end_object();
  }
  json.field("model_type", stock ? "llama" : "bam");
  json.field("vocab_size", config.vocab).field("hidden_size", config.dim).field("intermediate_size", config.ffn);
  json.field("num_hidden_layers", config.layers).field("num_attention_heads", config.heads);
  json.field("num_key_value_heads", config.kv_heads).field("rms_norm_eps", config.norm_eps);
  json.field("rope_theta", config.rope_theta).field("tie_word_embeddings", tied);
  if (stock) {
    json.field("hidden_act", "silu").field("attention_bias", false).field("mlp_bias", false);
    json.field("rope_scaling", nullptr);
  } else {
    json.field("pe", name_in(positional_encoding_names(), config.pe));
    json.field("ssmax", name_in(ssmax_names(), config.ssmax));
    json.field("prior_scope", name_in(prior_scope_names(), config.prior_scope));
    json.field("sinusoidal_theta", config.sinusoidal_theta).field("train_shape", config.train_shape);
    json.field("train_scale", config.train_scale).field("train_loc", config.train_loc);
    json.field("context", config.context).field("use_cache", false);
  }
  // Of the others none ends at its training context.
  if (stock && config.context > 0) json.field("max_position_embeddings", config.context);
  json.field("bos_token_id", ids.bos);
  json.key("eos_token_id");
  if (ids.eos) {
    json.value(*ids.eos);
  } else {
    json.value(nullptr);
  }
  const bool halves = dtype != io::TensorType::f32;
  json.field("torch_dtype", !halves ? "float32" : dtype == io::TensorType::bf16 ? "bfloat16" : "float16");
  json.end_object();
  return io::json_lines(json.text());
}

}  // namespace bam
