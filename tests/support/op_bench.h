// The bench every op is tested on. A test writes the call once; the bench runs it on ref and on every other backend,
// on the same rounded inputs, and says where they differ:
//
//   for_each_backend([](const std::string& device, DType dtype) {
//     const Values x = normal({3, 5}, 1);
//     compare(device, [&](Bench& bench) {
//       bench->cast({bench.in(x), bench.out("to", {3, 5}, dtype, rounding(dtype))});
//     });
//   });
//
// Every tensor lies between guard zones of NaN: what is read beyond an input poisons the result, what is written beyond
// an output, or to an input, is reported. Outputs start as garbage, another one for each side, so what is not written
// differs. Each backend runs with 1 and 2 threads (one that has no threads once), aligned and one element off, and
// twice: the bits must be the same.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "support/catch.h"
#include "support/device_under_test.h"
#include "support/tolerances.h"
#include "support/values.h"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace bam::test {

struct Result {
  std::string name;
  DType dtype;
  Tolerance tolerance;
  Values values;
  std::string bytes;
};

// One run of one call: the tensors it was given and what became of them.
class Bench {
 public:
  Bench(Backend& backend, Index shift, char garbage, bool rounds = true)
      : backend_(backend), shift_(shift), garbage_(garbage), rounds_(rounds) {}

  Backend* operator->() const { return &backend_; }
  Backend& backend() const { return backend_; }

  // x rounded to dtype; a ref tensor holds the rounded numbers as f64.
  ConstTensorView in(const Values& x, DType dtype = DType::f32) { return place("", x, dtype, {}, Use::read); }
  // Nothing for no values.
  ConstTensorView optional_in(const Values& x) { return x.shape.rank() == 0 ? ConstTensorView{} : in(x); }
  TensorView out(const std::string& name, const Shape& shape, DType dtype, Tolerance tolerance) {
    return place(name, filled(shape, 0), dtype, tolerance, Use::write);
  }
  TensorView inout(const std::string& name, const Values& x, DType dtype, Tolerance tolerance) {
    return place(name, x, dtype, tolerance, Use::read_write);
  }
  // A number the op returned.
  void returned(const std::string& name, double value, Tolerance tolerance) {
    results_.push_back(
        {name, DType::f64, tolerance, {{1}, {value}}, std::to_string(std::bit_cast<std::uint64_t>(value))});
  }

  ~Bench() { open_guards(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // What was written, or the reason in `fault` why nothing should be believed.
  std::vector<Result> finish(std::string& fault) {
    backend_.synchronize();
    open_guards();
    for (const Placed& placed : placed_) {
      const std::string now = read(placed);
      const std::size_t end = placed.offset + placed.bytes;
      if (now.compare(0, placed.offset, placed.before, 0, placed.offset) != 0) fault = "wrote before " + placed.name;
      if (now.compare(end, std::string::npos, placed.before, end) != 0) fault = "wrote behind " + placed.name;
      if (placed.use == Use::read) {
        if (now != placed.before) fault = "wrote to an input of shape " + placed.shape.text();
        continue;
      }
      Values values = filled(placed.shape, 0);
      for (Index i = 0; i < values.count(); ++i) {
        values[i] =
            load(placed.dtype, now.data() + placed.offset + static_cast<std::size_t>(i) * size_of(placed.dtype));
      }
      results_.push_back(
          {placed.name, placed.dtype, placed.tolerance, std::move(values), now.substr(placed.offset, placed.bytes)});
    }
    return std::move(results_);
  }

 private:
  enum class Use { read, write, read_write };
  struct Placed {
    std::string name;
    DType dtype;
    Shape shape;
    Tolerance tolerance;
    Use use;
    std::size_t offset, bytes;
    std::string before;
    Buffer buffer;
  };
  static constexpr std::size_t kGuard = 128;

  TensorView place(const std::string& name, const Values& x, DType dtype, Tolerance tolerance, Use use) {
    const bool is_real = dtype != DType::i32;
    const DType stored = is_real && backend_.real() == DType::f64 ? DType::f64 : dtype;
    Placed placed{name, stored, x.shape, tolerance, use, 0, 0, "", {}};
    placed.bytes = static_cast<std::size_t>(x.count()) * size_of(stored);
    placed.offset = kGuard + static_cast<std::size_t>(shift_) * size_of(stored);
    placed.before.assign((placed.offset + placed.bytes + kGuard + 3) / 4 * 4, '\xFF');
    for (Index i = 0; i < x.count(); ++i) {
      char* to = placed.before.data() + placed.offset + static_cast<std::size_t>(i) * size_of(stored);
      store(rounds_ ? rounded(x[i], dtype) : x[i], stored, to);
    }
    if (use == Use::write) placed.before.replace(placed.offset, placed.bytes, placed.bytes, garbage_);
    placed.buffer = Buffer(backend_, placed.before.size());
    backend_.copy_in(all(placed), {placed.before.data(), DType::i32, all(placed).shape});
    close_guards(placed);
    placed_.push_back(std::move(placed));
    return {static_cast<char*>(placed_.back().buffer.data()) + placed_.back().offset, stored, x.shape};
  }

  // NaN does not tell of what is read and not used. AddressSanitizer does, where it is built in; it knows of eighths.
  static void close_guards(const Placed& placed) {
    const char* const begin = static_cast<const char*>(placed.buffer.data());
    const std::size_t end = placed.offset + placed.bytes;
    ASAN_POISON_MEMORY_REGION(begin, placed.offset / 8 * 8);
    ASAN_POISON_MEMORY_REGION(begin + end, placed.before.size() - end);
  }
  void open_guards() const {
    for (const Placed& placed : placed_) ASAN_UNPOISON_MEMORY_REGION(placed.buffer.data(), placed.before.size());
  }

  // The whole buffer as 32-bit words, so that every backend can copy it as it is.
  static TensorView all(const Placed& placed) {
    return {placed.buffer.data(), DType::i32, {static_cast<Index>(placed.before.size() / 4)}};
  }
  std::string read(const Placed& placed) const {
    std::string bytes(placed.before.size(), '\0');
    backend_.copy_out({bytes.data(), DType::i32, all(placed).shape}, all(placed));
    backend_.synchronize();
    return bytes;
  }

  Backend& backend_;
  Index shift_;
  char garbage_;
  bool rounds_;
  std::vector<Placed> placed_;
  std::vector<Result> results_;
};

using Call = std::function<void(Bench&)>;

// One backend by name and thread count for the whole program: what it keeps between calls is put to the test too.
inline Backend& shared_backend(const std::string& device, int threads) {
  static std::map<std::pair<std::string, int>, std::unique_ptr<Backend>> backends;
  auto& backend = backends[{device, threads}];
  if (backend == nullptr) backend = make_backend(device, threads);
  return *backend;
}

inline std::vector<Result> run_once(const std::string& device, int threads, Index shift, const Call& call,
                                    std::string& fault) {
  Bench bench(shared_backend(device, threads), shift, device == "ref" ? '\xFF' : '\x7F');
  call(bench);
  return bench.finish(fault);
}

inline std::map<std::string, Values> by_name(std::vector<Result> results) {
  std::map<std::string, Values> values;
  for (Result& result : results) values[result.name] = std::move(result.values);
  return values;
}

// What the call gives on ref, by name, from the inputs as a backend would have them.
inline std::map<std::string, Values> run_on_ref(const Call& call) {
  std::string fault;
  auto values = by_name(run_once("ref", 1, 0, call, fault));
  REQUIRE(fault == "");
  return values;
}

// The same from inputs that are not rounded, whatever their dtypes are called: for derivatives.
inline std::map<std::string, Values> run_unrounded(const Call& call) {
  Bench bench(shared_backend("ref", 1), 0, '\xFF', false);
  call(bench);
  std::string fault;
  auto values = by_name(bench.finish(fault));
  REQUIRE(fault == "");
  return values;
}

// "" when `found` is within the tolerance of `truth` in every entry, and not a number or infinite in the same places.
// With BAM_TEST_SHOW_ERRORS set, says how much of the tolerance was used.
inline std::string difference(const Result& found, const Values& truth) {
  double largest = 0;
  for (const double each : truth.at) largest = std::isfinite(each) ? std::max(largest, std::abs(each)) : largest;
  double worst = 0;
  Index where = -1;
  for (Index i = 0; i < truth.count(); ++i) {
    const double allowed = found.tolerance.allowed(truth[i], largest);
    const double error = std::abs(found.values[i] - truth[i]);
    const bool same = found.values[i] == truth[i] || (std::isnan(found.values[i]) && std::isnan(truth[i]));
    const double used = same                   ? 0
                        : error <= allowed     ? error / allowed
                        : std::isfinite(error) ? error / allowed
                                               : HUGE_VAL;
    if (used > worst) {
      worst = used;
      where = i;
    }
  }
  if (std::getenv("BAM_TEST_SHOW_ERRORS") != nullptr) {
    std::fprintf(stderr, "%s %s %s: %.3g of the tolerance\n", found.name.c_str(),
                 std::string(name_of(found.dtype)).c_str(), truth.shape.text().c_str(), worst);
  }
  if (worst <= 1) return "";
  char text[200];
  std::snprintf(text, sizeof text, "%s%s at %lld: %.9g, ref has %.9g (largest %.3g), %.3g times the tolerance",
                found.name.c_str(), truth.shape.text().c_str(), static_cast<long long>(where), found.values[where],
                truth[where], largest, worst);
  return text;
}

// "" or the first thing that is wrong with the call on this backend.
inline std::string fault_of(const std::string& device, const std::map<std::string, Values>& truth, const Call& call) {
  for (const int threads : {1, 2}) {
    if (threads > 1 && shared_backend(device, 1).threads() == shared_backend(device, threads).threads()) break;
    for (const Index shift : {0, 1}) {
      const std::string where =
          device + " with " + std::to_string(threads) + " threads, shift " + std::to_string(shift) + ": ";
      std::string fault;
      const auto first = run_once(device, threads, shift, call, fault);
      const auto second = run_once(device, threads, shift, call, fault);
      if (!fault.empty()) return where + fault;
      for (std::size_t i = 0; i < first.size(); ++i) {
        fault = difference(first[i], truth.at(first[i].name));
        if (!fault.empty()) return where + fault;
        if (first[i].bytes != second[i].bytes) return where + first[i].name + " differs between two equal runs";
      }
    }
  }
  return "";
}

inline void compare(const std::string& device, const Call& call) {
  CHECK(fault_of(device, run_on_ref(call), call) == "");
}

// body(device, dtype) for every backend that has ref to agree with, with the dtypes that large tensors may have.
template <typename Body>
void for_each_backend(Body&& body) {
  int found = 0;
  for (const BackendInfo& info : list_backends()) {
    if (!info.available || info.name == "ref" || !is_under_test(info.name)) continue;
    ++found;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      INFO("backend " << info.name << ", " << name_of(dtype));
      body(info.name, dtype);
    }
  }
  REQUIRE(found > 0);
}

}  // namespace bam::test
