// How an option's text becomes a value and back. A tool with a syntax of its own fills in a ValueType itself.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"

namespace bam::cli {

// What a tool does with the file an option names; one that it adds to is an output as well. Completion offers file
// names for all but `none`.
enum class PathUse : std::uint8_t { none, input, output, added_to, either };

template <typename T>
struct ValueType {
  std::string metavar;                            // what help shows for the value: TOKENS, f32|bf16
  std::function<T(std::string_view)> parse{};     // throws Error: "'abc' is not ..., expected ..."
  std::function<std::string(const T&)> format{};  // a text that parse reads back as the same value
  std::vector<std::string> words{};               // what completion offers
  PathUse path_use = PathUse::none;
  bool repeats = false;  // a vector; a second use of the option adds to it
};

ValueType<Index> integer(IntegerRange range = {});  // 512, 32k, 64Ki, 1e6
ValueType<Index> count(Index low = 1);              // a whole number of at least `low`
ValueType<Index> bytes(Index low = 0);              // 4Gi, 500MB
ValueType<Length> length(Index low = 1);            // 512, 32k, or 64x: multiples of the training context
ValueType<double> real(RealRange range = {});       // 0.1, 1e-3
ValueType<std::uint64_t> seed();                    // 0 to 2^64 - 1
ValueType<bool> yes_no();                           // the words yes and no
ValueType<std::string> text();                      // anything but nothing
ValueType<std::string> path(
    PathUse use = PathUse::input);  // a file name; - is a standard stream where the tool says so
ValueType<std::string> device();    // cpu, cuda, cuda:N, auto, ref: the syntax alone

// Ranges of reals as one reads them: real(above(0)), real(at_least(0)), real(between(0, 1)).
inline RealRange above(double low) {
  return {.low = low, .low_excluded = true};
}
inline RealRange at_least(double low) {
  return {.low = low};
}
inline RealRange between(double low, double high) {
  return {.low = low, .high = high};
}

namespace detail {
[[noreturn]] void refuse_word(std::string_view text, const std::vector<std::string>& words);
std::string join(const std::vector<std::string>& words, std::string_view between);
std::vector<std::string_view> split_list(std::string_view text);  // at commas; throws for an empty element
}  // namespace detail

// One of a table's names: a range of {name, value} pairs, which outlives nothing (it is copied).
//   choice<DType>({{"f32", DType::f32}, {"bf16", DType::bf16}})
template <typename E>
ValueType<E> choice(std::vector<std::pair<std::string, E>> table) {
  std::vector<std::string> words;
  for (const auto& [name, value] : table) words.push_back(name);
  ValueType<E> type;
  type.metavar = detail::join(words, "|");
  type.words = words;
  type.parse = [table, words](std::string_view text) -> E {
    for (const auto& [name, value] : table) {
      if (name == text) return value;
    }
    detail::refuse_word(text, words);
  };
  type.format = [table](const E& wanted) -> std::string {
    for (const auto& [name, value] : table) {
      if (value == wanted) return name;
    }
    return "?";
  };
  return type;
}

// A word that stands for one value: or_word(count(), "all", 0).
template <typename T>
ValueType<T> or_word(ValueType<T> type, std::string word, std::type_identity_t<T> meaning) {
  ValueType<T> with_word = type;
  with_word.words.push_back(word);
  with_word.parse = [type, word, meaning](std::string_view text) { return text == word ? meaning : type.parse(text); };
  with_word.format = [type, word, meaning](const T& value) { return value == meaning ? word : type.format(value); };
  return with_word;
}

// A value that may be missing, and the word that says so: optional(count(), "none").
template <typename T>
ValueType<std::optional<T>> optional(ValueType<T> type, std::string word) {
  ValueType<std::optional<T>> maybe{.metavar = type.metavar, .words = type.words, .path_use = type.path_use};
  maybe.words.push_back(word);
  maybe.parse = [type, word](std::string_view text) {
    return text == word ? std::nullopt : std::optional<T>(type.parse(text));
  };
  maybe.format = [type, word](const std::optional<T>& value) { return value ? type.format(*value) : word; };
  return maybe;
}

// Values with commas between them: 512,1k,32k.
template <typename T>
ValueType<std::vector<T>> list(ValueType<T> type) {
  ValueType<std::vector<T>> many{.metavar = type.metavar + ",...", .words = type.words, .repeats = true};
  many.parse = [type](std::string_view text) {
    std::vector<T> values;
    for (const std::string_view element : detail::split_list(text)) values.push_back(type.parse(element));
    return values;
  };
  many.format = [type](const std::vector<T>& values) {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back(type.format(value));
    return texts.empty() ? std::string("none") : detail::join(texts, ",");
  };
  return many;
}

// One value for each use of the option; commas are part of the value.
template <typename T>
ValueType<std::vector<T>> repeated(ValueType<T> type) {
  ValueType<std::vector<T>> many = list(type);
  many.metavar = type.metavar;
  many.path_use = type.path_use;
  many.parse = [type](std::string_view text) { return std::vector<T>{type.parse(text)}; };
  return many;
}

}  // namespace bam::cli
