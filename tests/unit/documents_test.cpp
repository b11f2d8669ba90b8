// boxes: text io base
#include "text/documents.h"

#include <simdjson.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/utf8.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

std::vector<Record> records_of(const std::string& bytes, InputFormat format, Cutter cutter = {}) {
  InputOptions options;
  options.format = format;
  DocumentReader reader(bam::io::source_from_memory("in", bytes), options, std::move(cutter));
  std::vector<Record> records;
  for (Record record; reader.next(record);) records.push_back(record);
  return records;
}

std::vector<std::string> lines_of(const std::string& bytes, InputFormat format = InputFormat::lines) {
  std::vector<std::string> lines;
  for (const Record& record : records_of(bytes, format)) lines.push_back(record.bytes);
  return lines;
}

using Strings = std::vector<std::string>;

// The text of one JSON line, or "problem: ...".
std::string extracted(const std::string& line, const std::string& field = "text", bool has_end = true) {
  const TextExtractor extractor(InputFormat::jsonl, field);
  Record record;
  record.bytes = line;
  record.has_end = has_end;
  std::string_view text;
  const std::string problem = extractor.extract(record, text);
  CHECK((problem.empty() || is_one_line(problem)));
  return problem.empty() ? std::string(text) : "problem: " + problem;
}

InputFormat format_of(const std::string& name, const std::string& content) {
  return DocumentReader(bam::io::source_from_memory(name, content), InputOptions()).format();
}

}  // namespace

TEST_CASE("documents: a text is one document, every byte of it") {
  const std::string bytes("\xef\xbb\xbf one\r\ntwo\0\xff\n\n", 16);
  const std::vector<Record> records = records_of(bytes, InputFormat::text);
  REQUIRE(records.size() == 1);
  CHECK(records[0].bytes == bytes);
  CHECK(records[0].begins);
  CHECK(records[0].ends);
  CHECK(records[0].line == 0);
}

TEST_CASE("documents: a long text comes in parts where it may be cut, whole where not") {
  std::string bytes;
  while (bytes.size() < 5'000'000) bytes += "some words and a line " + std::to_string(bytes.size()) + "\n";
  const auto behind_newline = [](std::string_view text) { return static_cast<Index>(text.rfind('\n') + 1); };
  const std::vector<Record> parts = records_of(bytes, InputFormat::text, behind_newline);
  CHECK(parts.size() > 3);
  std::string together;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].begins == (i == 0));
    CHECK(parts[i].ends == (i + 1 == parts.size()));
    if (!parts[i].ends) CHECK(parts[i].bytes.ends_with('\n'));
    together += parts[i].bytes;
  }
  CHECK(together == bytes);
  const std::vector<Record> whole = records_of(bytes, InputFormat::text, [](std::string_view) { return Index{0}; });
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].bytes == bytes);
  // A cut at the very end leaves an empty last part, which still ends the document.
  const std::vector<Record> ends = records_of(std::string(1 << 20, 'x'), InputFormat::text,
                                              [](std::string_view text) { return static_cast<Index>(text.size()); });
  REQUIRE(ends.size() > 1);
  CHECK(ends.back().bytes.empty());
  CHECK(ends.back().ends);
}

TEST_CASE("documents: what is too long to be held is a problem, and the rest of the file none") {
  InputOptions options;
  options.format = InputFormat::text;
  options.most_bytes = 1'000'000;
  const auto records = [&](const std::string& bytes, const Cutter& cutter) {
    DocumentReader reader(bam::io::source_from_memory("in", bytes), options, cutter);
    std::vector<Record> all;
    for (Record record; reader.next(record);) all.push_back(record);
    return all;
  };
  const Cutter behind_newline = [](std::string_view text) { return static_cast<Index>(text.rfind('\n') + 1); };
  CHECK(records(std::string(1'000'000, 'x'), {}).front().problem.empty());
  CHECK(records(std::string(1'000'001, 'x'), {}).front().problem == "a text of more than 1000000 bytes");
  const std::string uncut = "a text of more than 1000000 bytes without a place where the tokenizer lets it be cut";
  CHECK(records(std::string(1'000'000, 'x'), behind_newline).front().problem.empty());
  CHECK(records(std::string(1'000'001, 'x'), behind_newline).front().problem == uncut);
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += std::string(50'000, 'x') + "\n";
  CHECK(records(lines, behind_newline).back().problem.empty());
  const std::vector<Record> late = records(lines + std::string(3'000'000, 'x'), behind_newline);
  CHECK(late.front().problem.empty());
  CHECK(late.back().problem == uncut);
  CHECK_FALSE(late.back().begins);
  CHECK(late.back().ends);
}

TEST_CASE("documents: a file without a byte is an empty text, and no line") {
  CHECK(lines_of("", InputFormat::text) == Strings{""});
  CHECK(lines_of("").empty());
  CHECK(lines_of("", InputFormat::jsonl).empty());
}

TEST_CASE("documents: lines end with LF or CR LF") {
  CHECK(lines_of("a\nb\n") == Strings{"a", "b"});
  CHECK(lines_of("a\nb") == Strings{"a", "b"});
  CHECK(lines_of("a\r\nb\r\n") == Strings{"a", "b"});
  CHECK(lines_of("a\rb\n\r\r\n") == Strings{"a\rb", "\r"});
  CHECK(lines_of("a\n\nb\n") == Strings{"a", "", "b"});
  CHECK(lines_of("\n") == Strings{""});
  CHECK(lines_of("").empty());
  CHECK(lines_of("\xef\xbb\xbf"
                 "a\nb") == Strings{"a", "b"});
  CHECK(lines_of("  x \n") == Strings{"  x "});
}

TEST_CASE("documents: lines across the borders of what is read at once") {
  for (const std::size_t length : {262143U, 262144U, 262145U, 5'000'000U}) {
    const std::string longest(length, 'x');
    CHECK(lines_of(longest + "\nshort\n" + longest) == Strings{longest, "short", longest});
    CHECK(lines_of(longest + "\r\n") == Strings{longest});
  }
}

TEST_CASE("documents: a line above the limit is a problem of its own") {
  InputOptions options;
  options.format = InputFormat::lines;
  options.most_bytes = 1000;
  const std::string bytes = "one\n" + std::string(900'000, 'x') + "\nthree\n" + std::string(900'000, 'y');
  DocumentReader reader(bam::io::source_from_memory("in", bytes), options);
  std::vector<Record> records;
  for (Record record; reader.next(record);) records.push_back(record);
  REQUIRE(records.size() == 4);
  CHECK(records[0].bytes == "one");
  CHECK(records[1].problem == "a line of more than 1000 bytes");
  CHECK(records[1].line == 2);
  CHECK(records[2].bytes == "three");
  CHECK(records[3].problem == "a line of more than 1000 bytes");
  std::string_view text;
  CHECK(TextExtractor(InputFormat::lines, "").extract(records[1], text) == records[1].problem);
}

TEST_CASE("documents: JSON lines are numbered, and lines of blanks are none") {
  const std::vector<Record> records =
      records_of("\xef\xbb\xbf{\"text\":\"a\"}\r\n\n \t\r\n{\"text\":\"b\"}", InputFormat::jsonl);
  REQUIRE(records.size() == 2);
  CHECK(records[0].line == 1);
  CHECK(records[0].bytes == "{\"text\":\"a\"}");
  CHECK(records[1].line == 4);
  CHECK_FALSE(records[1].has_end);
}

TEST_CASE("documents: the field of a JSON line") {
  CHECK(extracted(R"({"text":"a"})") == "a");
  CHECK(extracted(R"( {"id": 3, "text" : "x\ny\t\"\\\/", "more": {"text": "no"}} )") == "x\ny\t\"\\/");
  CHECK(extracted(R"({"text":""})").empty());
  CHECK(extracted(R"({"text":"\u00e9\ud83d\ude00"})") == "\xc3\xa9\xf0\x9f\x98\x80");
  CHECK(extracted(R"({"text":"a\u0000b"})") == std::string("a\0b", 3));
  CHECK(extracted(R"({"content":"c","text":"t"})", "content") == "c");
  CHECK(extracted("{\"text\":\"" + std::string(5'000'000, 'x') + "\"}") == std::string(5'000'000, 'x'));
}

TEST_CASE("documents: numbers of any size are JSON") {
  for (const std::string number : {"18446744073709551616", "-9223372036854775809", "1e400", "-1E-400", "0.1e+7", "-0",
                                   "123456789012345678901234567890.5"}) {
    CHECK(extracted("{\"n\":" + number + ",\"text\":\"a\"}") == "a");
    CHECK(extracted("{\"text\":\"a\",\"n\":[" + number + "]}") == "a");
    CHECK(extracted("{\"text\":" + number + "}") == "problem: field \"text\" is a number, expected a string");
  }
}

TEST_CASE("documents: a field by its name, however that is written, and at the top alone") {
  CHECK(extracted(R"({"te\u0078t":"a"})") == "a");
  CHECK(extracted(R"({"a":{"text":"no"},"b":[{"text":"no"}],"text":"a"})") == "a");
  CHECK(extracted(R"({"a":{"text":"no"}})") == R"(problem: no field "text"; it has "a")");
  CHECK(extracted(R"({"text":"a","text":1})") == "problem: field \"text\" twice");
  CHECK(extracted(R"({"text":{"text":"a"}})") == "problem: field \"text\" is an object, expected a string");
  CHECK(extracted(R"([{"text":"a"}])") == "problem: not a JSON object but an array");
}

// What simdjson makes of the same line.
std::string by_simdjson(const std::string& line) {
  static simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  std::string_view text;
  const simdjson::error_code error = parser.parse(line).get(root);
  if (error == simdjson::NUMBER_ERROR || error == simdjson::STRING_ERROR)
    return "unknown";  // it refuses some that JSON allows
  if (error != simdjson::SUCCESS) return "not JSON";
  if (root.get(object) != simdjson::SUCCESS) return "other JSON";
  int found = 0;
  for (const auto entry : object) {
    if (entry.key != "text") continue;
    if (++found > 1 || entry.value.get(text) != simdjson::SUCCESS) return "other JSON";
  }
  return found == 1 && is_utf8(text) ? "text: " + std::string(text) : "other JSON";
}

TEST_CASE("documents: what is JSON and what its text is, as simdjson has it, for lines with a fault or none") {
  const std::vector<std::string> lines = {
      R"({"text":"some \"quoted\" words\n, \u00e9\ud83d\ude00 and more of them","id":12,"x":[1.5,-2e3,[],{}]})",
      R"( {"a":{"b":[true,false,null,{"c":"d"}]} , "text" : "t" } )", R"({"text":""})", R"([{"text":"a"},"b"])", "{}"};
  const std::string faults("\"\\{}[],:ntu01-.eE /\0\x1f\x7f\x80\xc3\xa9\xff \t", 32);
  std::mt19937 random(7);
  int known = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string line = lines[random() % lines.size()];
    for (auto faulty = random() % 3; faulty > 0; --faulty) {
      const std::size_t at = random() % (line.size() + 1);
      const char fault = faults[random() % faults.size()];
      switch (random() % 3) {
        case 0:
          line.insert(at, 1, fault);
          break;
        case 1:
          line.erase(at, 1 + random() % 4);
          break;
        default:
          if (at < line.size()) line[at] = fault;
      }
    }
    const std::string expected = by_simdjson(line);
    if (expected == "unknown") continue;
    const std::string found = extracted(line);
    INFO(line << " gives " << found << ", expected " << expected);
    const bool is_json =
        !contains(found, "problem: not valid") && !contains(found, "unknown escape") && !contains(found, "not allow");
    if (expected == "not JSON") REQUIRE_FALSE(is_json);
    if (expected == "other JSON") REQUIRE((is_json && contains(found, "problem: ")));
    if (expected.starts_with("text: ")) REQUIRE(found == expected.substr(6));
    ++known;
  }
  CHECK(known > 100'000);
}

TEST_CASE("documents: what is wrong with a JSON line") {
  CHECK(extracted("{}") == "problem: no field \"text\" in an empty object");
  CHECK(extracted(R"({"a":1,"b":2})") == R"(problem: no field "text"; it has "a", "b")");
  CHECK(extracted(R"({"text":5})") == "problem: field \"text\" is a number, expected a string");
  CHECK(extracted(R"({"text":null})") == "problem: field \"text\" is null, expected a string");
  CHECK(extracted(R"({"text":["a"]})") == "problem: field \"text\" is an array, expected a string");
  CHECK(extracted(R"({"text":"a","text":"b"})") == "problem: field \"text\" twice");
  CHECK(extracted("[1]") == "problem: not a JSON object but an array");
  CHECK(extracted("\"text\"") == "problem: not a JSON object but a string");
  CHECK(extracted("{\"text\":\"\xff\"}") == "problem: not valid UTF-8");
  CHECK(extracted("{\"text\":\"\xed\xa0\x80\"}") == "problem: not valid UTF-8");
  for (const std::string half : {R"(\ud800)", R"(\udc00)", R"(\ud800x)", R"(\ud800\ud800)", R"(\ud800\u0041)"}) {
    CHECK(contains(extracted("{\"text\":\"" + half + "\"}"), "half of a surrogate pair"));
    CHECK(extracted("{\"title\":\"" + half + "\",\"text\":\"a\"}") == "a");  // JSON allows it
  }
  for (const std::string escape : {R"(\q)", R"(\u12g4)", R"(\u123)", R"(\')"}) {
    CHECK(extracted("{\"a\":\"" + escape + "\",\"text\":\"a\"}") == "problem: a string with an unknown escape");
  }
  for (const std::string number : {"01", "-", "1.", "1e", "1e+", "-a", "00", "-01"}) {
    CHECK(extracted("{\"text\":\"a\",\"n\":" + number + "}") == "problem: a number that JSON does not allow");
  }
  for (const std::string other : {"+1", ".5", "1x", "NaN", "Infinity", "0x1", "1 2", "nul", "truex", "\0"}) {
    CHECK(extracted("{\"text\":\"a\",\"n\":" + other + "}") == "problem: not valid JSON");
  }
  for (const std::string broken : {R"({"text":"a")", R"({"text":"a)", R"({"text":)", "{", R"({"text":"a"} x)",
                                   R"({"text":"a",})", "{'text':'a'}", "text", R"({"text":"a","n":tru})"}) {
    CHECK(extracted(broken) == "problem: not valid JSON");
    CHECK(extracted(broken, "text", false) == "problem: not valid JSON (a last line without its newline: cut short?)");
  }
  CHECK(contains(extracted("{\"text\":\"a\",\"n\":" + std::string(2000, '[') + std::string(2000, ']') + "}"), "deep"));
  CHECK(extracted("{\"a\nb\":1}") == "problem: not valid JSON");
  CHECK(extracted("{\"a\\nb\":1}") == R"(problem: no field "text"; it has "a\nb")");
}

TEST_CASE("documents: auto goes by name, then by content") {
  CHECK(format_of("a.txt", "{\"text\": 1}") == InputFormat::text);
  CHECK(format_of("A.TXT.gz", "{\"text\": 1}") == InputFormat::text);
  CHECK(format_of("a.jsonl", "hello") == InputFormat::jsonl);
  CHECK(format_of("a.jsonl.zst", "hello") == InputFormat::jsonl);
  CHECK(format_of("a.json", "hello") == InputFormat::jsonl);
  CHECK(format_of("a", "hello") == InputFormat::text);
  CHECK(format_of("a", "{\"text\": 1}") == InputFormat::jsonl);
  CHECK(format_of("a", "\xef\xbb\xbf\n { \"text\": 1}") == InputFormat::jsonl);
  CHECK(format_of("a", "{}\n") == InputFormat::jsonl);
  CHECK(format_of("a", "{ int main() }") == InputFormat::text);
  CHECK(format_of("a", "{") == InputFormat::text);
  CHECK(format_of("a", "") == InputFormat::text);
}
