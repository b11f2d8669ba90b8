// safetensors, the file format of Hugging Face models: 8 bytes with the length of a header, the header (a JSON object
// of tensors by name), then the tensors' bytes, little-endian, row-major, without holes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace bam::io {

enum class TensorType { f32, bf16, f16, other };

// "F32", "BF16", "F16", as headers have them.
std::string_view name_of(TensorType type);
TensorType tensor_type_named(std::string_view name);  // other: any name that is none of the three

struct StoredTensor {
  std::string name;
  TensorType type = TensorType::other;
  std::string type_name;  // as the header has it
  std::vector<Index> shape;
  Index offset = 0;  // of its first byte, from the end of the header
  Index bytes = 0;

  Index count() const;  // elements
};

// Reads the header of a file with `data_bytes` bytes behind it. In the order of the bytes.
// Throws Error "SUBJECT: damaged safetensors file: ..." unless every tensor has a known type, a shape that its bytes
// fit, and the bytes of all tensors together are those of the file, each in one tensor; and for a name twice.
std::vector<StoredTensor> parse_safetensors_header(std::string_view json, Index data_bytes, const std::string& subject);

// An open file. Nothing is allocated for what the file does not hold.
class SafetensorsFile {
 public:
  // Throws Error: missing, a folder, not a regular file, truncated, damaged.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  const std::string& name() const;
  const std::vector<StoredTensor>& tensors() const;

  // Of a tensor of f32, bf16 or f16; every one of their values is a float. values.size() is its count.
  void read(const StoredTensor& tensor, std::span<float> values) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a file is to hold.
struct TensorPlan {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<Index> shape;
};

// Writes a file front to back, with the bytes that the format's own library gives the same tensors: the wider types
// first, then by name, the header padded to 8 bytes.
class SafetensorsWriter {
 public:
  // Throws Error as OutputFile does. Names are unique.
  SafetensorsWriter(const std::string& path, std::vector<TensorPlan> plan);
  ~SafetensorsWriter();

  // The order in which write() wants them.
  const std::vector<TensorPlan>& order() const;

  // The next tensor; bf16 and f16 are rounded to nearest, ties to even. Throws std::logic_error for another count than
  // planned, Error for a finite value that becomes infinite.
  void write(std::span<const float> values);

  // After the last. Throws as OutputFile::commit does.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bam::io
