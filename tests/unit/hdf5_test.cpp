// boxes: io base
#include "io/hdf5.h"

#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

template <typename T>
std::vector<T> counting(Index count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 % 251);
  return values;
}

template <typename T>
void check_round_trip(const ScratchFolder& folder, const std::vector<Index>& shape, Hdf5Compression compression) {
  const Index count = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
  const std::vector<T> values = counting<T>(count);
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<T>("a/b/array", shape, values, compression);
    file.close();
  }
  const Hdf5File file = Hdf5File::open(folder / "x.h5");
  CHECK(file.array_info("a/b/array").shape == shape);
  CHECK(file.array_info("a/b/array").count() == count);
  CHECK(file.read<T>("a/b/array", shape) == values);
  std::vector<T> into(values.size());
  file.group("a").read_into<T>("b/array", shape, into);
  CHECK(into == values);
}

std::string golden_folder() {
  const char* variable = std::getenv("BAM_GOLDEN_DIR");
  return variable != nullptr ? variable : "tests/data/model";
}

}  // namespace

TEST_CASE("hdf5: arrays of every type and shape come back") {
  const ScratchFolder folder;
  const std::vector<std::vector<Index>> shapes = {{},     {0},          {1},         {7},         {3, 5},
                                                  {0, 4}, {2, 3, 4, 5}, {1000, 400}, {1, 400000}, {300000}};
  for (const auto& shape : shapes) {
    for (const auto compression : {Hdf5Compression::none, Hdf5Compression::deflate}) {
      check_round_trip<float>(folder, shape, compression);
      check_round_trip<double>(folder, shape, compression);
      check_round_trip<std::int32_t>(folder, shape, compression);
      check_round_trip<std::int64_t>(folder, shape, compression);
      check_round_trip<std::uint8_t>(folder, shape, compression);
    }
  }
}

TEST_CASE("hdf5: attributes of every kind come back, and can be replaced") {
  const ScratchFolder folder;
  const std::string long_text(32 * 1024, 'x');
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    Hdf5Group group = file.create_group("state/inner");
    for (int round = 0; round < 2; ++round) {
      group.set_int("int", round == 0 ? 1 : -5000000000);
      group.set_real("real", round == 0 ? 1.0 : 1e-5);
      group.set_bool("yes", round == 1);
      group.set_bool("no", round == 0);
      group.set_string("text", round == 0 ? "x" : "é 中\ttab");
      group.set_string("empty", "");
      group.set_string("long", long_text);
    }
    CHECK(contains(error_of([&] { group.set_string("text", long_text + "x"); }), "expected at most 32768"));
    CHECK(contains(error_of([&] { group.set_string("text", std::string("a\0b", 3)); }), "NUL"));
  }
  const Hdf5File file = Hdf5File::open(folder / "x.h5");
  const Hdf5Group group = file.group("state").group("inner");
  CHECK(group.attribute_int("int") == -5000000000);
  CHECK(group.attribute_real("int") == -5e9);
  CHECK(group.attribute_real("real") == 1e-5);
  CHECK(group.attribute_bool("yes"));
  CHECK(!group.attribute_bool("no"));
  CHECK(group.attribute_string("text") == "é 中\ttab");
  CHECK(group.attribute_string("empty").empty());
  CHECK(group.attribute_string("long") == long_text);
  CHECK(group.attribute_names() == std::vector<std::string>{"empty", "int", "long", "no", "real", "text", "yes"});
  CHECK(group.has_attribute("int"));
  CHECK(!group.has_attribute("none"));
  const std::string place = (folder / "x.h5") + ": /state/inner attribute ";
  CHECK(error_of([&] { group.attribute_int("none"); }) == place + "none: missing attribute");
  CHECK(error_of([&] { group.attribute_int("real"); }) == place + "real: expected an integer");
  CHECK(error_of([&] { group.attribute_real("text"); }) == place + "text: expected a number");
  CHECK(error_of([&] { group.attribute_bool("int"); }) == place + "int: expected a truth value");
  CHECK(error_of([&] { group.attribute_string("int"); }) == place + "int: expected a string");
}

TEST_CASE("hdf5: names, groups and bytes") {
  const ScratchFolder folder;
  const std::string bytes("any\0 bytes\xff", 11);
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<float>("params/layers/1/w", {1}, std::array<float, 1>{1});
    file.write<float>("params/head", {1}, std::array<float, 1>{1});
    file.write_bytes("files/model", bytes);
    file.write_bytes("files/none", "");
    file.create_group("empty");
    CHECK(contains(error_of([&] { file.create_group("empty"); }), "there already"));
    CHECK(contains(error_of([&] { file.write<float>("params/head", {1}, std::array<float, 1>{1}); }), "there already"));
    CHECK(contains(error_of([&] { file.write<float>("y", {2}, std::array<float, 1>{1}); }), "1 values for shape [2]"));
    CHECK(contains(error_of([&] { file.write<float>("y", {-1}, std::array<float, 1>{1}); }), "shape [-1]"));
  }
  const Hdf5File file = Hdf5File::open(folder / "x.h5");
  CHECK(file.names() == std::vector<std::string>{"empty", "files", "params"});
  CHECK(file.dataset_paths() ==
        std::vector<std::string>{"files/model", "files/none", "params/head", "params/layers/1/w"});
  CHECK(file.group("params").dataset_paths() == std::vector<std::string>{"head", "layers/1/w"});
  CHECK(file.has("params/layers/1/w"));
  CHECK(!file.has("params/layers/2/w"));
  CHECK(!file.has("nothing/at/all"));
  CHECK(!file.has(""));
  CHECK(file.has_group("params/layers"));
  CHECK(!file.has_group("params/head"));
  CHECK(file.read_bytes("files/model") == bytes);
  CHECK(file.read_bytes("files/none").empty());
  CHECK(file.where() == (folder / "x.h5") + ": /");
  CHECK(contains(error_of([&] { file.group("none"); }), "/none: missing, expected a group"));
  CHECK(contains(error_of([&] { file.group("params/head"); }), "/params/head: cannot be opened, expected a group"));
  CHECK(contains(error_of([&] { file.array_info("params"); }), "/params: cannot be opened, expected an array"));
}

TEST_CASE("hdf5: another type or shape is named before anything is read") {
  const ScratchFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<float>("params/w", {2, 3}, counting<float>(6));
  }
  const Hdf5File file = Hdf5File::open(folder / "x.h5");
  const std::string place = (folder / "x.h5") + ": /params/w: ";
  CHECK(error_of([&] { file.read<float>("params/w", {3, 2}); }) == place + "shape [2,3], expected [3,2]");
  CHECK(error_of([&] { file.read<float>("params/w", {6}); }) == place + "shape [2,3], expected [6]");
  CHECK(error_of([&] { file.read<double>("params/w", {2, 3}); }) == place + "type f32, expected f64");
  CHECK(error_of([&] { file.read_vector<float>("params/w"); }) == place + "shape [2,3], expected one dimension");
  CHECK(error_of([&] { file.read<float>("params/none", {1}); }) ==
        (folder / "x.h5") + ": /params/none: missing, expected an array");
}

TEST_CASE("hdf5: files that are none") {
  const ScratchFolder folder;
  spit(folder / "text", "not HDF5 at all");
  spit(folder / "empty", "");
  CHECK(contains(error_of([&] { Hdf5File::open(folder / "text"); }), (folder / "text") + ": not an HDF5 file"));
  CHECK(error_of([&] { Hdf5File::open(folder / "empty"); }) == (folder / "empty") + ": empty, expected an HDF5 file");
  CHECK(contains(error_of([&] { Hdf5File::open(folder.path()); }), "is a directory"));
  CHECK(contains(error_of([&] { Hdf5File::open(folder / "none"); }), "No such file"));
  CHECK(contains(error_of([&] { Hdf5File::open("/dev/null"); }), "not a regular file"));
  CHECK(contains(error_of([&] { Hdf5File::create(folder / "no/such"); }), "No such file"));
}

TEST_CASE("hdf5: the same content gives the same bytes, without times") {
  const ScratchFolder folder;
  for (const char* name : {"a", "b"}) {
    Hdf5File file = Hdf5File::create(folder / name);
    file.write<float>("params/layers/0/w", {600, 600}, counting<float>(360000), Hdf5Compression::deflate);
    for (int i = 0; i < 20; ++i) file.set_string("attribute" + std::to_string(i), "text");
    file.close();
  }
  CHECK(slurp(folder / "a") == slurp(folder / "b"));
  if (std::system("h5dump --version >/dev/null 2>&1") != 0) return skip("no h5dump program");
  // h5ls prints "Modified:" for objects that have a time.
  CHECK(std::system(("h5ls -rv " + (folder / "a") + " | grep -q Modified").c_str()) != 0);
  CHECK(std::system(("h5dump -pH " + (folder / "a") + " | grep -q FLETCHER32").c_str()) == 0);
}

TEST_CASE("hdf5: a flipped byte in the data of an array is seen") {
  const ScratchFolder folder;
  const std::vector<float> values(1000, 3.14F);
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<float>("w", {1000}, values);
  }
  std::string bytes = slurp(folder / "x.h5");
  const std::size_t data = bytes.find(std::string(reinterpret_cast<const char*>(values.data()), 64));
  REQUIRE(data != std::string::npos);
  bytes[data + 1234] = static_cast<char>(bytes[data + 1234] ^ 1);
  spit(folder / "x.h5", bytes);
  const Hdf5File file = Hdf5File::open(folder / "x.h5");
  const std::string error = error_of([&] { file.read<float>("w", {1000}); });
  CHECK(contains(error, "/w: cannot read (damaged data?)"));
  CHECK(is_one_line(error));
}

TEST_CASE("hdf5: a full disk is one error, and the library can go on") {
  const ScratchFolder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  for (const rlim_t room : {0, 100, 1000, 5000, 100000, 3000000}) {
    const rlimit small{room, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string error = error_of([&] {
      Hdf5File file = Hdf5File::create(folder / "x.h5");
      for (int i = 0; i < 50; ++i) {
        file.write<float>("layers/" + std::to_string(i) + "/w", {30000}, counting<float>(30000));
        file.group("layers").set_int("count", i);
      }
      file.close();
    });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(error == (folder / "x.h5") + ": cannot write: File too large");
  }
  check_round_trip<float>(folder, {100}, Hdf5Compression::none);
}

TEST_CASE("hdf5: a disk that is full only when the file is closed") {
  const ScratchFolder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  Hdf5File file = Hdf5File::create(folder / "x.h5");
  file.set_int("a", 1);  // stays in the library's cache until then
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  const std::string error = error_of([&] { file.close(); });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(error == (folder / "x.h5") + ": cannot write: File too large");
}

TEST_CASE("hdf5: closing under an open group is a mistake of the program") {
  const ScratchFolder folder;
  Hdf5File file = Hdf5File::create(folder / "x.h5");
  const Hdf5Group group = file.create_group("g");
  CHECK_THROWS_AS(file.close(), std::logic_error);
}

TEST_CASE("hdf5: a group outlives the object of its file") {
  const ScratchFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<float>("g/w", {3}, counting<float>(3));
  }
  const Hdf5Group group = Hdf5File::open(folder / "x.h5").group("g");
  CHECK(group.read<float>("w", {3}) == counting<float>(3));
}

TEST_CASE("hdf5: a file cut short is an error") {
  const ScratchFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder / "x.h5");
    file.write<float>("params/w", {20, 3}, counting<float>(60), Hdf5Compression::deflate);
    file.set_int("dim", 3);
  }
  const std::string bytes = slurp(folder / "x.h5");
  for (std::size_t cut = 1; cut < bytes.size(); cut += 7) {
    spit(folder / "cut", bytes.substr(0, cut));
    const std::string error = error_of([&] {
      const Hdf5File file = Hdf5File::open(folder / "cut");
      file.read<float>("params/w", {20, 3});
      file.attribute_int("dim");
    });
    CHECK(error != "no error");
    CHECK(is_one_line(error));
  }
}

TEST_CASE("hdf5: files of h5py, the golden ones, are readable") {
  if (!std::filesystem::is_directory(golden_folder())) return skip("no folder " + golden_folder());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().extension() != ".h5") continue;
    INFO(entry.path().string());
    ++files;
    const Hdf5File file = Hdf5File::open(entry.path().string());
    const Index vocab = file.attribute_int("vocab");
    const Index dim = file.attribute_int("dim");
    CHECK(file.attribute_real("norm_eps") == 1e-5);
    CHECK(!file.attribute_string("pe").empty());
    file.attribute_bool("train_loc");
    CHECK(file.read<float>("params/token_embedding", {vocab, dim}).size() == static_cast<std::size_t>(vocab * dim));
    const Hdf5ArrayInfo tokens = file.array_info("input/tokens");
    CHECK(tokens.type == Hdf5Type::i32);
    REQUIRE(tokens.shape.size() == 2);
    for (const std::int32_t id : file.read<std::int32_t>("input/tokens", tokens.shape)) CHECK((id >= 0 && id < vocab));
    CHECK(file.read<double>("expected/loss", {}).size() == 1);
    for (const std::string& path : file.dataset_paths()) CHECK(file.array_info(path).type != Hdf5Type::other);
  }
  CHECK(files > 0);
}
