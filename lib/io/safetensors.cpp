#include "io/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "io/bytes.h"
#include "io/descriptor.h"
#include "io/half.h"
#include "io/json.h"

namespace bam::io {
namespace {

constexpr Index kLengthBytes = 8;
constexpr Index kMostHeaderBytes = 100'000'000;  // the format's own limit
constexpr Index kChunkBytes = 1 << 20;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  std::string_view name;
  Index bytes;
  TensorType type;
};

constexpr std::array<TypeRow, 16> kTypes = {{{"F32", 4, TensorType::f32},
                                             {"BF16", 2, TensorType::bf16},
                                             {"F16", 2, TensorType::f16},
                                             {"F64", 8, TensorType::other},
                                             {"I64", 8, TensorType::other},
                                             {"U64", 8, TensorType::other},
                                             {"I32", 4, TensorType::other},
                                             {"U32", 4, TensorType::other},
                                             {"I16", 2, TensorType::other},
                                             {"U16", 2, TensorType::other},
                                             {"I8", 1, TensorType::other},
                                             {"U8", 1, TensorType::other},
                                             {"BOOL", 1, TensorType::other},
                                             {"F8_E4M3", 1, TensorType::other},
                                             {"F8_E5M2", 1, TensorType::other},
                                             {"F8_E8M0", 1, TensorType::other}}};

const TypeRow* row_named(std::string_view name) {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& each) { return each.name == name; });
  return row == kTypes.end() ? nullptr : row;
}

[[noreturn]] void fail_damaged(const std::string& subject, const std::string& what) {
  throw Error(subject + ": damaged safetensors file: " + what);
}

// -1 for a product that no file can have.
Index product(const std::vector<Index>& shape) {
  Index count = 1;
  for (const Index size : shape) {
    if (size > 0 && count > std::numeric_limits<Index>::max() / size / 8) return -1;
    count *= size;
  }
  return count;
}

std::vector<Index> parse_shape(simdjson::dom::element element, const std::string& subject, const std::string& name) {
  simdjson::dom::array sizes;
  std::vector<Index> shape;
  if (element.get(sizes) != simdjson::SUCCESS) fail_damaged(subject, name + " has no shape");
  for (const simdjson::dom::element each : sizes) {
    std::int64_t size = -1;
    if (each.get(size) != simdjson::SUCCESS || size < 0) fail_damaged(subject, name + " has a shape with a bad size");
    shape.push_back(size);
  }
  return shape;
}

StoredTensor parse_tensor(std::string_view name, simdjson::dom::element element, const std::string& subject) {
  StoredTensor tensor;
  tensor.name = name;
  std::string_view type;
  simdjson::dom::element shape;
  std::int64_t begin = -1, end = -1;
  const std::string shown = json_quote(name);
  const bool parsed = element["dtype"].get(type) == simdjson::SUCCESS &&
                      element["shape"].get(shape) == simdjson::SUCCESS &&
                      element["data_offsets"].at(0).get(begin) == simdjson::SUCCESS &&
                      element["data_offsets"].at(1).get(end) == simdjson::SUCCESS;
  if (!parsed || begin < 0 || end < begin) {
    fail_damaged(subject, shown + " lacks a dtype, a shape or two data_offsets in order");
  }
  const TypeRow* row = row_named(type);
  if (row == nullptr) {
    throw Error(subject + ": " + shown + " has the dtype " + json_quote(type) + ", which is not known");
  }
  tensor.type = row->type;
  tensor.type_name = type;
  tensor.shape = parse_shape(shape, subject, shown);
  tensor.offset = begin;
  tensor.bytes = end - begin;
  const Index count = product(tensor.shape);
  if (count < 0 || count * row->bytes != tensor.bytes) {
    fail_damaged(subject, shown + " has " + std::to_string(tensor.bytes) + " bytes, which are not those of its shape");
  }
  return tensor;
}

void check_cover(const std::vector<StoredTensor>& tensors, Index data_bytes, const std::string& subject) {
  Index end = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.offset != end) {
      fail_damaged(subject, json_quote(tensor.name) + " begins at byte " + std::to_string(tensor.offset) +
                                ", expected " + std::to_string(end));
    }
    end += tensor.bytes;
  }
  if (end > data_bytes) {
    throw Error(subject + ": truncated safetensors file, expected " + std::to_string(end - data_bytes) + " more bytes");
  }
  if (end < data_bytes) fail_damaged(subject, std::to_string(data_bytes - end) + " bytes belong to no tensor");
}

float widen(const char* bytes, TensorType type) {
  const auto byte = [&](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  const std::uint32_t low = byte(0) | byte(1) << 8U;
  if (type == TensorType::f32) return std::bit_cast<float>(low | byte(2) << 16U | byte(3) << 24U);
  const auto half = static_cast<std::uint16_t>(low);
  return type == TensorType::bf16 ? widen_bf16(half) : widen_f16(half);
}

}  // namespace

std::string_view name_of(TensorType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return "?";
}

TensorType tensor_type_named(std::string_view name) {
  const TypeRow* row = row_named(name);
  return row == nullptr ? TensorType::other : row->type;
}

Index StoredTensor::count() const {
  return product(shape);
}

std::vector<StoredTensor> parse_safetensors_header(std::string_view json, Index data_bytes,
                                                   const std::string& subject) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(json);
  if (!json.starts_with('{') || parser.parse(padded).get(object) != simdjson::SUCCESS) {
    fail_damaged(subject, "its header is not a JSON object");
  }
  std::vector<StoredTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (const auto field : object) {
    if (!names.insert(field.key).second) fail_damaged(subject, json_quote(field.key) + " stands there twice");
    if (field.key != kMetadata) tensors.push_back(parse_tensor(field.key, field.value, subject));
  }
  // Tensors without elements share a place with the one behind them.
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  check_cover(tensors, data_bytes, subject);
  return tensors;
}

struct SafetensorsFile::State {
  std::string name;
  Descriptor descriptor;
  Index data = 0;  // where the data begins
  std::vector<StoredTensor> tensors;
};

SafetensorsFile::SafetensorsFile(const std::string& path) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.name = path;
  state.descriptor = open_for_reading(path);
  const int fd = state.descriptor.get();
  if (!is_regular_file(fd)) throw Error(path + ": not a regular file, expected a safetensors file");
  const Index size = file_size(fd, path);
  if (size < kLengthBytes)
    throw Error(path + ": " + (size == 0 ? "empty" : "truncated") + ", expected a safetensors file");
  std::string bytes(static_cast<std::size_t>(kLengthBytes), '\0');
  read_fully_at(fd, 0, bytes, path);
  const std::uint64_t length = ByteReader(bytes, path).u64();
  if (length > static_cast<std::uint64_t>(kMostHeaderBytes)) {
    fail_damaged(
        path, "a header of " + std::to_string(length) + " bytes, expected at most " + std::to_string(kMostHeaderBytes));
  }
  state.data = kLengthBytes + static_cast<Index>(length);
  if (state.data > size) {
    throw Error(path + ": truncated safetensors file: a header of " + std::to_string(length) + " bytes in a file of " +
                std::to_string(size));
  }
  bytes.resize(static_cast<std::size_t>(length));
  read_fully_at(fd, kLengthBytes, bytes, path);
  state.tensors = parse_safetensors_header(bytes, size - state.data, path);
}

SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

const std::string& SafetensorsFile::name() const {
  return state_->name;
}

const std::vector<StoredTensor>& SafetensorsFile::tensors() const {
  return state_->tensors;
}

void SafetensorsFile::read(const StoredTensor& tensor, std::span<float> values) const {
  if (tensor.type == TensorType::other) {
    throw Error(state_->name + ": " + json_quote(tensor.name) + " has the type " + tensor.type_name +
                ", expected F32, BF16 or F16");
  }
  const Index width = row_named(tensor.type_name)->bytes;
  std::string chunk(static_cast<std::size_t>(std::min(kChunkBytes, tensor.bytes)), '\0');
  auto* out = values.data();
  for (Index done = 0; done < tensor.bytes;) {
    const Index size = std::min(kChunkBytes, tensor.bytes - done);
    read_fully_at(state_->descriptor.get(), state_->data + tensor.offset + done,
                  {chunk.data(), static_cast<std::size_t>(size)}, state_->name);
    for (Index i = 0; i < size; i += width) *out++ = widen(chunk.data() + i, tensor.type);
    done += size;
  }
}

}  // namespace bam::io
