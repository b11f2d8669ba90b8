// As much of Catch2 as the tests of the ops use, for machines that have CUDA and nothing else: BAM_OWN_CATCH takes it
// in Catch2's place (support/catch.h). TEST_CASE, CHECK, REQUIRE, INFO, Approx, and a main that runs all cases, or
// those whose names begin with an argument.
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace bam::test::own {

struct Case {
  const char* name;
  void (*body)();
};
inline std::vector<Case>& cases() {
  static std::vector<Case> list;
  return list;
}
inline std::vector<std::string>& notes() {
  static std::vector<std::string> list;
  return list;
}
inline long checks = 0;
inline long failures = 0;

struct Registered {
  Registered(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

// Stands in the list as long as its scope lasts.
struct Note {
  explicit Note(std::string text) { notes().push_back(std::move(text)); }
  ~Note() { notes().pop_back(); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
};

struct Required : std::exception {};

inline bool judge(bool holds, const char* text, const char* file, int line) {
  constexpr long kShown = 50;
  ++checks;
  if (holds) return true;
  if (++failures <= kShown) {
    std::printf("%s:%d: failed: %s\n", file, line, text);
    for (const std::string& note : notes()) std::printf("  with %s\n", note.c_str());
  }
  return false;
}

// The failing side of `fault == ""`, which says what is wrong.
struct Left {
  std::string* shown;
  template <typename T>
  struct Value {
    const T& value;
    std::string* shown;
    template <typename U>
    bool operator==(const U& other) const {
      if (value == other) return true;
      if constexpr (std::is_convertible_v<T, std::string>) *shown = " : " + std::string(value);
      return false;
    }
    template <typename U>
    bool operator!=(const U& other) const {
      return value != other;
    }
    template <typename U>
    bool operator<(const U& other) const {
      return value < other;
    }
    template <typename U>
    bool operator<=(const U& other) const {
      return value <= other;
    }
    template <typename U>
    bool operator>(const U& other) const {
      return value > other;
    }
    template <typename U>
    bool operator>=(const U& other) const {
      return value >= other;
    }
    explicit operator bool() const { return static_cast<bool>(value); }
  };
  template <typename T>
  Value<T> operator<<(const T& value) const {
    return {value, shown};
  }
};

inline int run(int argc, char** argv) {
  for (const Case& each : cases()) {
    bool chosen = argc < 2;
    for (int i = 1; i < argc; ++i) chosen = chosen || std::string(each.name).rfind(argv[i], 0) == 0;
    if (!chosen) continue;
    const long before = failures;
    try {
      each.body();
    } catch (const Required&) {
    } catch (const std::exception& error) {
      ++failures;
      std::printf("%s: threw: %s\n", each.name, error.what());
    }
    std::printf("%s  %s\n", failures == before ? "ok    " : "FAILED", each.name);
    std::fflush(stdout);
  }
  std::printf("%ld checks, %ld failed\n", checks, failures);
  return failures == 0 && checks > 0 ? 0 : 1;
}

}  // namespace bam::test::own

class Approx {
 public:
  explicit Approx(double value) : value_(value) {}
  Approx& epsilon(double share) {
    epsilon_ = share;
    return *this;
  }
  Approx& margin(double size) {
    margin_ = size;
    return *this;
  }
  friend bool operator==(double x, const Approx& y) {
    return x == y.value_ || std::abs(x - y.value_) <= std::max(y.margin_, y.epsilon_ * std::abs(y.value_));
  }

 private:
  double value_;
  double epsilon_ = 1.2e-5;
  double margin_ = 0;
};

#define BAM_JOIN2(a, b) a##b
#define BAM_JOIN(a, b) BAM_JOIN2(a, b)
#define TEST_CASE(name)                                                                                                \
  static void BAM_JOIN(bam_case_, __LINE__)();                                                                         \
  static const ::bam::test::own::Registered BAM_JOIN(bam_registered_, __LINE__)(name, &BAM_JOIN(bam_case_, __LINE__)); \
  static void BAM_JOIN(bam_case_, __LINE__)()
#define BAM_JUDGE(...)                                                                                 \
  [&] {                                                                                                \
    std::string bam_shown;                                                                             \
    const bool bam_holds = static_cast<bool>(::bam::test::own::Left{&bam_shown} << __VA_ARGS__);       \
    return ::bam::test::own::judge(bam_holds, (#__VA_ARGS__ + bam_shown).c_str(), __FILE__, __LINE__); \
  }()
#define CHECK(...) BAM_JUDGE(__VA_ARGS__)
#define REQUIRE(...) \
  if (!BAM_JUDGE(__VA_ARGS__)) throw ::bam::test::own::Required()
#define INFO(...)                                   \
  std::ostringstream BAM_JOIN(bam_text_, __LINE__); \
  BAM_JOIN(bam_text_, __LINE__) << __VA_ARGS__;     \
  const ::bam::test::own::Note BAM_JOIN(bam_note_, __LINE__)(BAM_JOIN(bam_text_, __LINE__).str())
