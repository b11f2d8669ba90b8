// boxes: io base
#include "io/json.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "support/catch.h"

using bam::io::json_number;
using bam::io::json_quote;
using bam::io::JsonWriter;

TEST_CASE("json: strings are escaped, and text that is not UTF-8 still makes JSON") {
  CHECK(json_quote("") == "\"\"");
  CHECK(json_quote("a\"b\\c/") == R"("a\"b\\c/")");
  CHECK(json_quote("\n\r\t\x01\x1f") == R"("\n\r\t\u0001\u001f")");
  CHECK(json_quote(std::string_view("\0", 1)) == "\"\\u0000\"");
  CHECK(json_quote("é中😀\x7f") == "\"é中😀\x7f\"");
  const std::string replacement = "\xEF\xBF\xBD";
  CHECK(json_quote("a\xff"
                   "b") == "\"a" + replacement + "b\"");
  CHECK(json_quote("\xC3") == "\"" + replacement + "\"");                                      // cut short
  CHECK(json_quote("\xC0\xAF") == "\"" + replacement + replacement + "\"");                    // overlong
  CHECK(json_quote("\xED\xA0\x80") == "\"" + replacement + replacement + replacement + "\"");  // surrogate
}

TEST_CASE("json: numbers are the shortest text that reads back") {
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(3.0) == "3");
  CHECK(json_number(-0.0) == "-0");
  CHECK(json_number(1e300) == "1e+300");
  for (const double value : {1.0 / 3.0, 5e-324, 1.7976931348623157e308, 123456789.123456789}) {
    CHECK(std::strtod(json_number(value).c_str(), nullptr) == value);
  }
  CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json: members keep their order, nested values close") {
  JsonWriter json;
  json.begin_object().field("step", std::int64_t{7}).field("loss", 2.5).field("done", false).field("name", "a\tb");
  json.key("none").value(nullptr).key("list").begin_array();
  json.value(1).begin_array().end_array().begin_object().end_object().value("x").end_array();
  json.key("inner").begin_object().field("k", std::string("v")).end_object().end_object();
  CHECK(json.text() ==
        R"({"step":7,"loss":2.5,"done":false,"name":"a\tb","none":null,"list":[1,[],{},"x"],"inner":{"k":"v"}})");
}

TEST_CASE("json: calls that cannot make JSON are refused") {
  CHECK_THROWS_AS(JsonWriter().begin_object().value(1), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().begin_array().key("k"), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().key("k"), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().begin_object().key("a").key("b"), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().begin_object().key("a").end_object(), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().begin_object().end_array(), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().value(1).value(2), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().begin_object().text(), std::logic_error);
  CHECK_THROWS_AS(JsonWriter().text(), std::logic_error);
}
