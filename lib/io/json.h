// JSON out: headers, log lines, table rows. (JSON in goes through simdjson, inside .cpp files.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.h"

namespace bam::io {

// A quoted JSON string. Bytes that are not valid UTF-8 become U+FFFD, since JSON has no way to carry them.
std::string json_quote(std::string_view text);

// Shortest text that reads back as the same double ("0.1", "1e+300", "3"); "null" for NaN and infinities, which JSON
// cannot carry.
std::string json_number(double value);

// Builds one value on one line, without blanks, members in the order of the calls.
//   JsonWriter json;
//   json.begin_object().field("step", step).field("loss", loss).end_object();
//   sink.write(json.text() + "\n");
// Calls that cannot make JSON (a value without a key inside an object) throw std::logic_error.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(double number);
  JsonWriter& value(bool flag);
  JsonWriter& value(std::nullptr_t);

  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const;  // throws std::logic_error while something is still open

 private:
  void separate();
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket, char expected);

  std::string text_;
  std::string open_;  // brackets not yet closed
  bool needs_comma_ = false;
  bool has_key_ = false;
};

}  // namespace bam::io
