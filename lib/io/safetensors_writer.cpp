#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/half.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace bam::io {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kChunkValues = 1 << 18;

Index count_of(const TensorPlan& plan) {
  Index count = 1;
  for (const Index size : plan.shape) count *= size;
  return count;
}

std::string header_of(const std::vector<TensorPlan>& order) {
  JsonWriter json;
  json.begin_object();
  json.key("__metadata__").begin_object().field("format", "pt").end_object();  // transformers asks for it
  Index offset = 0;
  for (const TensorPlan& plan : order) {
    json.key(plan.name).begin_object().field("dtype", name_of(plan.type)).key("shape").begin_array();
    for (const Index size : plan.shape) json.value(size);
    const Index end = offset + count_of(plan) * (plan.type == TensorType::f32 ? 4 : 2);
    json.end_array().key("data_offsets").begin_array().value(offset).value(end).end_array().end_object();
    offset = end;
  }
  json.end_object();
  std::string text = json.text();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

void append(std::string& out, float value, TensorType type) {
  if (type == TensorType::f32) return append_u32(out, std::bit_cast<std::uint32_t>(value));
  const std::uint16_t half = type == TensorType::bf16 ? narrow_bf16(value) : narrow_f16(value);
  out += static_cast<char>(half & 0xFFU);
  out += static_cast<char>(half >> 8U);
}

bool overflows(float value, TensorType type) {
  if (type == TensorType::f32 || !std::isfinite(value)) return false;
  return !std::isfinite(type == TensorType::bf16 ? widen_bf16(narrow_bf16(value)) : widen_f16(narrow_f16(value)));
}

}  // namespace

struct SafetensorsWriter::State {
  explicit State(const std::string& path) : output(path) {}
  OutputFile output;
  std::vector<TensorPlan> order;
  std::size_t next = 0;
};

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorPlan> plan)
    : state_(std::make_unique<State>(path)) {
  std::sort(plan.begin(), plan.end(), [](const TensorPlan& a, const TensorPlan& b) {
    return std::pair(a.type, std::string_view(a.name)) < std::pair(b.type, std::string_view(b.name));
  });
  state_->order = std::move(plan);
  const std::string header = header_of(state_->order);
  std::string bytes;
  append_u64(bytes, header.size());
  state_->output.write(bytes + header);
}

SafetensorsWriter::~SafetensorsWriter() = default;

const std::vector<TensorPlan>& SafetensorsWriter::order() const {
  return state_->order;
}

void SafetensorsWriter::write(std::span<const float> values) {
  State& state = *state_;
  if (state.next == state.order.size()) throw std::logic_error("SafetensorsWriter: more tensors than planned");
  const TensorPlan& plan = state.order[state.next++];
  if (std::ssize(values) != count_of(plan)) throw std::logic_error("SafetensorsWriter: another count than planned");
  std::string bytes;
  while (!values.empty()) {
    const std::span<const float> piece = values.first(std::min(values.size(), kChunkValues));
    values = values.subspan(piece.size());
    bytes.clear();
    for (const float value : piece) {
      if (overflows(value, plan.type)) {
        throw Error(state.output.name() + ": " + plan.name + " holds " + json_number(value) + ", which " +
                    std::string(name_of(plan.type)) + " cannot hold");
      }
      append(bytes, value, plan.type);
    }
    state.output.write(bytes);
  }
}

void SafetensorsWriter::commit() {
  if (state_->next != state_->order.size()) throw std::logic_error("SafetensorsWriter: fewer tensors than planned");
  state_->output.commit();
}

}  // namespace bam::io
