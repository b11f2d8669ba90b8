// boxes: io base
#include "io/safetensors.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "io/half.h"
#include "io/output_folder.h"
#include "io/stream.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::io;
using namespace bam::test;

namespace {

std::string file_of(const std::string& header, const std::string& data, std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes + header + data;
}

std::string file_of(const std::string& header, const std::string& data) {
  return file_of(header, data, header.size());
}

std::string error_for(const std::string& bytes) {
  const ScratchFolder folder;
  spit(folder / "a", bytes);
  const std::string error = error_of([&] { SafetensorsFile file(folder / "a"); });
  CHECK(is_one_line(error));
  return error;
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// The half that is nearest to the value, the even one of two as near, by trying them all.
std::uint16_t nearest(float value, float (*widen)(std::uint16_t), std::uint16_t infinity) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  std::uint16_t low = 0, high = infinity;  // the last not above, the first above
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (widen(middle) <= std::abs(value) ? low : high) = middle;
  }
  const double below = widen(low);
  // What follows the largest number, were there room for it.
  const double above = high == infinity ? 2 * below - widen(static_cast<std::uint16_t>(low - 1)) : widen(high);
  const double middle = (below + above) / 2;
  const double magnitude = std::abs(static_cast<double>(value));
  const bool up = magnitude > middle || (magnitude == middle && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

}  // namespace

TEST_CASE("safetensors: every half is widened and comes back to the bit") {
  for (std::uint32_t i = 0; i <= 0xFFFF; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    if (narrow_bf16(widen_bf16(half)) != half || narrow_f16(widen_f16(half)) != half) FAIL("half " << i);
  }
  CHECK(widen_f16(0x3C01) == 1 + 0x1p-10F);
  CHECK(widen_f16(0x8001) == -0x1p-24F);
  CHECK(widen_f16(0x7BFF) == 65504);
  CHECK(std::isinf(widen_f16(0xFC00)));
  CHECK(widen_bf16(0xBF81) == -1.0078125F);
  CHECK(std::isnan(widen_bf16(narrow_bf16(std::bit_cast<float>(0x7F800001U)))));
  CHECK(std::isnan(widen_f16(narrow_f16(std::bit_cast<float>(0x7F800001U)))));
}

TEST_CASE("safetensors: floats become the nearest half") {
  std::uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525U + 1013904223U;
    // All bits for bf16; for f16 the exponents that it has, and ties.
    const auto any = std::bit_cast<float>(bits);
    const auto common = std::bit_cast<float>((bits & 0x8F801FFFU) % 0x0F000000U + 0x30000000U + (bits & 0x80001000U));
    const auto tie = std::bit_cast<float>(
        std::bit_cast<std::uint32_t>(widen_f16(static_cast<std::uint16_t>(bits % 0x7BFFU))) + 0x1000U);
    for (const float value : {any, common, tie}) {
      if (!std::isfinite(value)) continue;
      INFO("value " << value);
      if (narrow_bf16(value) != nearest(value, widen_bf16, 0x7F80)) FAIL("bf16");
      if (narrow_f16(value) != nearest(value, widen_f16, 0x7C00)) FAIL("f16");
    }
  }
}

TEST_CASE("safetensors: what is written is read, and has the bytes of the format's own library") {
  const ScratchFolder folder;
  const std::string path = folder / "a.safetensors";
  SafetensorsWriter writer(path, {{"b", TensorType::bf16, {2, 2}},
                                  {"z", TensorType::f32, {3}},
                                  {"a", TensorType::f16, {1}},
                                  {"none", TensorType::f32, {0, 5}},
                                  {"one", TensorType::f32, {}}});
  std::vector<std::string> order;
  for (const TensorPlan& plan : writer.order()) order.push_back(plan.name);
  CHECK(order == std::vector<std::string>{"none", "one", "z", "b", "a"});
  writer.write({});
  writer.write(std::vector<float>{42});
  const std::vector<float> z = {1, -0.0F, std::bit_cast<float>(0x7FA12345U)};
  writer.write(z);
  writer.write(std::vector<float>{1, 2, 3, std::numeric_limits<float>::infinity()});
  writer.write(std::vector<float>{0.5});
  CHECK(folder.entries() == 0);
  writer.commit();
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"none":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]},)"
      R"("one":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"z":{"dtype":"F32","shape":[3],"data_offsets":[4,16]},)"
      R"("b":{"dtype":"BF16","shape":[2,2],"data_offsets":[16,24]},"a":{"dtype":"F16","shape":[1],"data_offsets":[24,26]}})";
  const std::string bytes = slurp(path);
  CHECK(bytes.substr(8, header.size()) == header);
  CHECK(bytes.size() == 8 + (header.size() + 7) / 8 * 8 + 26);

  const SafetensorsFile file(path);
  REQUIRE(file.tensors().size() == 5);
  CHECK(file.tensors()[2].name == "z");
  std::vector<float> read(3);
  file.read(file.tensors()[2], read);
  for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(read[i], z[i]));
  read.resize(4);
  file.read(file.tensors()[3], read);
  CHECK(read == std::vector<float>{1, 2, 3, std::numeric_limits<float>::infinity()});
  CHECK(file.tensors()[3].shape == std::vector<Index>{2, 2});
}

TEST_CASE("safetensors: a value that the type cannot hold is refused") {
  const ScratchFolder folder;
  SafetensorsWriter writer(folder / "a", {{"w", TensorType::f16, {1}}});
  CHECK(contains(error_of([&] { writer.write(std::vector<float>{65536}); }), "w holds 65536, which F16 cannot hold"));
  SafetensorsWriter wide(folder / "b", {{"w", TensorType::bf16, {1}}});
  wide.write(std::vector<float>{65536});
}

TEST_CASE("safetensors: sizes that lie are refused before anything is allocated") {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(contains(error_for(""), "empty, expected a safetensors file"));
  CHECK(contains(error_for("1234567"), "truncated, expected a safetensors file"));
  CHECK(contains(error_for(file_of(header, "12345678", std::uint64_t{1} << 63U)),
                 "a header of 9223372036854775808 bytes"));
  CHECK(
      contains(error_for(file_of(header, "12345678", 99'000'000)), "truncated safetensors file: a header of 99000000"));
  CHECK(contains(error_for(file_of(header, "1234567")), "truncated safetensors file, expected 1 more bytes"));
  CHECK(contains(error_for(file_of(header, "123456789")), "1 bytes belong to no tensor"));
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return error_for(file_of(
        R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", "12345678"));
  };
  CHECK(one("F32", "[2]", "[0,8]") == "no error");
  CHECK(one("F32", "[2]   ", "[0,8]") == "no error");
  CHECK(contains(one("F32", "[3]", "[0,8]"), "\"w\" has 8 bytes, which are not those of its shape"));
  CHECK(contains(one("F32", "[4611686018427387904,4]", "[0,8]"), "not those of its shape"));
  CHECK(contains(one("F32", "[9223372036854775807,9223372036854775807,0]", "[0,8]"), "not those of its shape"));
  CHECK(contains(one("F32", "[-2]", "[0,8]"), "a shape with a bad size"));
  CHECK(contains(one("F32", "[2.5]", "[0,8]"), "a shape with a bad size"));
  CHECK(contains(one("F32", "2", "[0,8]"), "\"w\" has no shape"));
  CHECK(contains(one("F32", "[2]", "[8,0]"), "lacks a dtype, a shape or two data_offsets in order"));
  CHECK(contains(one("F32", "[2]", "[0]"), "lacks a dtype"));
  CHECK(contains(one("F32", "[2]", "[-8,0]"), "lacks a dtype"));
  CHECK(contains(one("F32", "[1]", "[4,8]"), "\"w\" begins at byte 4, expected 0"));
  CHECK(contains(one("Q4", "[2]", "[0,8]"), "\"w\" has the dtype \"Q4\", which is not known"));
  CHECK(contains(error_for(file_of("[]", "")), "its header is not a JSON object"));
  CHECK(contains(error_for(file_of(" {}", "")), "its header is not a JSON object"));
  CHECK(error_for(file_of("{}  ", "")) == "no error");
}

TEST_CASE("safetensors: tensors cover the bytes, each byte once") {
  const auto two = [](const std::string& first, const std::string& second, const std::string& name = "v") {
    return error_for(file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":)" + first + R"(},")" + name +
                                 R"(":{"dtype":"I8","shape":[4],"data_offsets":)" + second + "}}",
                             "12345678"));
  };
  CHECK(two("[0,4]", "[4,8]") == "no error");
  CHECK(two("[4,8]", "[0,4]") == "no error");
  CHECK(contains(two("[0,4]", "[2,6]"), "\"v\" begins at byte 2, expected 4"));
  CHECK(contains(two("[0,4]", "[0,4]"), "begins at byte 0, expected 4"));
  CHECK(contains(two("[0,4]", "[6,10]"), "\"v\" begins at byte 6, expected 4"));
  CHECK(contains(two("[0,4]", "[4,8]", "w"), "\"w\" stands there twice"));
  const ScratchFolder folder;
  spit(folder / "a", file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "1234"));
  const SafetensorsFile file(folder / "a");
  std::vector<float> values(4);
  CHECK(contains(error_of([&] { file.read(file.tensors()[0], values); }),
                 "\"w\" has the type U8, expected F32, BF16 or F16"));
}

TEST_CASE("safetensors: cut or flipped at any byte of its header it is refused, or still covers its data") {
  const ScratchFolder folder;
  const std::string path = folder / "a";
  {
    SafetensorsWriter writer(path, {{"first", TensorType::bf16, {3}}, {"second", TensorType::f32, {2, 2}}});
    writer.write(std::vector<float>(4, 1.5F));
    writer.write(std::vector<float>(3, 2.5F));
    writer.commit();
  }
  const std::string bytes = slurp(path);
  const std::size_t header_end = bytes.size() - 22;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    spit(path, bytes.substr(0, cut));
    const std::string error = error_of([&] { SafetensorsFile file(path); });
    CHECK((contains(error, "truncated") || contains(error, "empty")));
    CHECK(is_one_line(error));
  }
  int read = 0;
  for (std::size_t at = 0; at < header_end; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      spit(path, flipped);
      const std::string error = error_of([&] {
        const SafetensorsFile file(path);
        Index covered = 0;
        for (const StoredTensor& tensor : file.tensors()) {
          covered += tensor.bytes;
          if (tensor.type == TensorType::other) continue;
          std::vector<float> values(static_cast<std::size_t>(tensor.count()));
          file.read(tensor, values);
        }
        CHECK(covered == 22);
      });
      read += error == "no error";
      CHECK(is_one_line(error));
    }
  }
  CHECK(read > 0);  // a flipped letter of a name
}

TEST_CASE("safetensors: a folder of results appears whole or not at all") {
  const ScratchFolder scratch;
  const std::string path = scratch / "out";
  {
    OutputFolder folder(path + "/");
    spit(folder.place("a"), "1");
    CHECK(!std::filesystem::exists(path));
  }
  CHECK(scratch.entries() == 0);
  {
    OutputFolder folder(path);
    spit(folder.place("a"), "1");
    folder.commit();
  }
  CHECK(scratch.entries() == 1);
  CHECK(slurp(path + "/a") == "1");
  CHECK(contains(error_of([&] { OutputFolder folder(path); }), "there already, expected the name of a new folder"));
  CHECK(contains(error_of([&] { OutputFolder folder(scratch / "no/out"); }), "cannot write: No such file"));
  std::filesystem::create_directory(scratch / "empty");
  OutputFolder folder(scratch / "empty");
  folder.commit();
  CHECK(scratch.entries() == 2);
}
