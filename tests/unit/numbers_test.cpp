// boxes: base
#include "base/numbers.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/catch.h"

using namespace bam;

namespace {

// What the parser says of a text it refuses; "" where it took it.
template <typename Parse>
std::string refusal(Parse parse) {
  try {
    parse();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("numbers: integers take suffixes, fractions and powers that are exactly whole") {
  const std::vector<std::pair<std::string, Index>> cases{
      {"0", 0},
      {"512", 512},
      {"-3", -3},
      {"007", 7},
      {"1k", 1000},
      {"32k", 32000},
      {"64Ki", 65536},
      {"1.5k", 1500},
      {"1.5Ki", 1536},
      {"0.0009765625Ki", 1},
      {"2M", 2000000},
      {"2Mi", 2097152},
      {"3G", 3000000000},
      {"3Gi", 3221225472},
      {"1e6", 1000000},
      {"1E6", 1000000},
      {"1e+6", 1000000},
      {"2.5e3", 2500},
      {"5000e-3", 5},
      {"1.50e1", 15},
      {"1.000000000000000000000000000000", 1},
      {"0e999999999999999999999", 0},
      {"1234567890.123456789G", 1234567890123456789},
      {"9223372036854775807", std::numeric_limits<Index>::max()},
      {"-9223372036854775807", -std::numeric_limits<Index>::max()},
  };
  for (const auto& [text, value] : cases) {
    INFO(text);
    CHECK(parse_integer(text) == value);
  }
}

TEST_CASE("numbers: integers refuse everything else") {
  for (const char* text : {"",
                           "-",
                           "+1",
                           " 1",
                           "1 ",
                           "1_000",
                           "1,000",
                           "abc",
                           "0x10",
                           "1.5",
                           "1e-1",
                           "nan",
                           "inf",
                           "1K",
                           "1ki",
                           "i",
                           "k",
                           "Ki",
                           "1i",
                           "1kk",
                           "e6",
                           "1e",
                           "1e+-2",
                           "1e6.5",
                           "1.",
                           ".",
                           "1.2.3",
                           "--1",
                           "1e6x",
                           "1e99",
                           "1e999999999999999999999",
                           "9223372036854775808",
                           "99999999999999999999",
                           "9e18k",
                           "9007199254740993.5",
                           "8589934592Gi"}) {
    INFO(text);
    const std::string said = refusal([&] { parse_integer(text); });
    CHECK(said.find("expected a whole number") != std::string::npos);
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("numbers: integer ranges hold at both ends and are named") {
  const IntegerRange range{2, 10};
  CHECK(parse_integer("2", range) == 2);
  CHECK(parse_integer("10", range) == 10);
  CHECK(refusal([&] { parse_integer("1", range); }) ==
        "'1' is out of range, expected a whole number from 2 to 10 (as 512, 32k, 64Ki or 1e6)");
  CHECK(refusal([&] { parse_integer("11", range); }).find("from 2 to 10") != std::string::npos);
  CHECK(refusal([&] { parse_integer("-1", {.low = 1}); }) ==
        "'-1' is out of range, expected a whole number of at least 1 (as 512, 32k, 64Ki or 1e6)");
  CHECK(refusal([&] { parse_integer("1e99", {.low = 1}); }).find("is out of range") != std::string::npos);
}

TEST_CASE("numbers: bytes") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("4096B") == 4096);
  CHECK(parse_bytes("500MB") == 500000000);
  CHECK(parse_bytes("4Gi") == 4294967296);
  CHECK(parse_bytes("1.5GiB") == 1610612736);
  for (const Index size : {Index{0}, Index{1000}, Index{1024}, Index{1536}, Index{1} << 30, Index{1} << 50}) {
    CHECK(parse_bytes(format_bytes(size)) == size);
  }
  CHECK(format_bytes(Index{4} << 30) == "4Gi");
  CHECK(format_bytes(1536) == "1536");
  for (const char* text : {"", "B", "-1", "4GiBB", "4Gb", "much"}) {
    INFO(text);
    CHECK(refusal([&] { parse_bytes(text); }).find("size in bytes") != std::string::npos);
  }
}

TEST_CASE("numbers: reals") {
  CHECK(parse_real("0.1") == 0.1);
  CHECK(parse_real("-2") == -2.0);
  CHECK(parse_real("1e-3") == 1e-3);
  CHECK(parse_real("1e308") == 1e308);
  for (const char* text : {"", "abc", "nan", "NaN", "inf", "-inf", "infinity", "1e999", "1e-999", "0.1x", " 1", "1 ",
                           "+1", "0,1", "0x1p3", "1e", "--1"}) {
    INFO(text);
    const std::string said = refusal([&] { parse_real(text); });
    CHECK(said.find("expected a real number") != std::string::npos);
  }
}

TEST_CASE("numbers: real ranges know open and closed ends") {
  const RealRange closed{.low = 0, .high = 1};
  CHECK(parse_real("0", closed) == 0);
  CHECK(parse_real("1", closed) == 1);
  CHECK(refusal([&] { parse_real("1.5", closed); }) ==
        "'1.5' is out of range, expected a real number of at least 0 and of at most 1");
  const RealRange open{.low = 0, .high = 1, .low_excluded = true, .high_excluded = true};
  CHECK(parse_real("0.5", open) == 0.5);
  CHECK(refusal([&] { parse_real("0", open); }).find("above 0 and below 1") != std::string::npos);
  CHECK(refusal([&] { parse_real("1", open); }) != "");
}

TEST_CASE("numbers: seeds use all 64 bits") {
  CHECK(parse_seed("0") == 0);
  CHECK(parse_seed("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_seed("1e6") == 1000000);
  for (const char* text : {"", "-1", "18446744073709551616", "one"}) {
    INFO(text);
    CHECK(refusal([&] { parse_seed(text); }) != "");
  }
}

TEST_CASE("numbers: lengths in tokens or in training contexts") {
  CHECK(parse_length("32k") == Length{32000, false});
  CHECK(parse_length("64x") == Length{64, true});
  CHECK(parse_length("64x").tokens(512) == 32768);
  CHECK(parse_length("1Ki").tokens(512) == 1024);
  CHECK(format_length(parse_length("64x")) == "64x");
  CHECK(format_length(parse_length("1k")) == "1000");
  for (const char* text : {"", "x", "0", "0x", "-1x", "1.5x", "64X", "64xx"}) {
    INFO(text);
    CHECK(refusal([&] { parse_length(text); }).find("training contexts") != std::string::npos);
  }
  CHECK(refusal([&] { parse_length("9e18x").tokens(512); }).find("out of range") != std::string::npos);
}

TEST_CASE("numbers: reals are written so that they read back as the same double") {
  for (const double value : {0.0, 0.1, 1.0 / 3.0, 1e-8, 5e-324, 1.7976931348623157e308, -2.5, 589824.0}) {
    INFO(value);
    CHECK(format_real(value) == format_real(std::strtod(format_real(value).c_str(), nullptr)));
    if (std::fpclassify(value) != FP_SUBNORMAL) CHECK(parse_real(format_real(value)) == value);
  }
  CHECK(format_real(0.1) == "0.1");
  CHECK(format_real(3.0) == "3");
}

TEST_CASE("numbers: three figures for people") {
  CHECK(human_count(0) == "0");
  CHECK(human_count(7) == "7");
  CHECK(human_count(1.5) == "1.50");
  CHECK(human_count(999) == "999");
  CHECK(human_count(999.7) == "1.00k");
  CHECK(human_count(1234) == "1.23k");
  CHECK(human_count(45600000) == "45.6M");
  CHECK(human_count(999999) == "1.00M");
  CHECK(human_count(-1234) == "-1.23k");
  CHECK(human_count(2e15) == "2000T");
  CHECK(human_bytes(512) == "512 B");
  CHECK(human_bytes(1536) == "1.50 KiB");
  CHECK(human_bytes(2147483648.0) == "2.00 GiB");
  CHECK(human_seconds(0.2) == "0s");
  CHECK(human_seconds(59.6) == "1m00s");
  CHECK(human_seconds(185) == "3m05s");
  CHECK(human_seconds(7620) == "2h07m");
  CHECK(human_seconds(356400) == "4d03h");
  CHECK(human_seconds(std::numeric_limits<double>::infinity()) == "?");
}
