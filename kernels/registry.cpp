#include "kernels/registry.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "build_id.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda/library.h"
#include "kernels/ref/ref_backend.h"

namespace bam {
namespace {

struct Entry {
  std::string_view name;
  std::string (*detail)();
  std::unique_ptr<Backend> (*make)(int threads);
};

constexpr Entry kEntries[] = {
    {"cpu", &cpu::describe_machine, &cpu::make_cpu_backend},
    {"ref", [] { return std::string("float64 plain loops, the yardstick of the tests"); }, &ref::make_ref_backend},
};

#ifndef BAM_LIBDIR
#define BAM_LIBDIR "lib"
#endif

// BAM_CUDA_LIBRARY names the file; else it lies beside the executable, in the lib folder beside that of executables (a
// build), or in the private folder of an installation or a bundle.
std::filesystem::path find_cuda_library() {
  constexpr char kFile[] = "libbam_cuda.so";
  if (const char* const named = std::getenv("BAM_CUDA_LIBRARY"); named != nullptr && *named != '\0') {
    if (std::filesystem::is_regular_file(named)) return std::filesystem::absolute(named);
    throw Error(std::string("BAM_CUDA_LIBRARY: ") + named + " is not a file");
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path above = folder.parent_path();
  for (const auto& place : {folder, above / "lib", above / BAM_LIBDIR / "bam", above / "lib" / "bam"}) {
    if (std::filesystem::is_regular_file(place / kFile, error)) return place / kFile;
  }
  throw Error(std::string("no ") + kFile + " beside the executable, this build is without CUDA");
}

// Opened once and never closed: its code runs to the end of the process.
const cuda::Library& open_cuda_library() {
  const std::filesystem::path path = find_cuda_library();
  void* const file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) throw Error(std::string("the library cannot be opened: ") + dlerror());
  const auto* const library = static_cast<const cuda::Library*>(dlsym(file, kCudaLibraryEntry));
  if (library == nullptr) throw Error(path.string() + ": not a library of these tools");
  if (library->build_id != std::string_view(kBuildId)) {
    throw Error(path.string() + ": build " + library->build_id + ", expected that of this executable, " + kBuildId);
  }
  return *library;
}

BackendInfo look_for_cuda() {
  try {
    return {"cuda", true, open_cuda_library().describe()};
  } catch (const Error& error) {
    return {"cuda", false, error.what()};
  }
}

std::unique_ptr<Backend> make_cuda(const std::string& device, std::optional<int> number, int place) {
  try {
    const cuda::Library& library = open_cuda_library();
    return library.open(number ? *number : place % library.count());
  } catch (const Error& error) {
    throw Error("--device " + device + ": " + error.what());
  }
}

// The N of "cuda:N", or nothing.
std::optional<int> cuda_number(std::string_view device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (device.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const std::string_view digits = device.substr(kPrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::vector<BackendInfo> list_backends() {
  std::vector<BackendInfo> list;
  for (const Entry& entry : kEntries) list.push_back({std::string(entry.name), true, entry.detail()});
  list.push_back(look_for_cuda());
  return list;
}

std::unique_ptr<Backend> make_backend(std::string_view device, int threads, int place) {
  std::string wanted(device);
  if (wanted == "auto") wanted = look_for_cuda().available ? "cuda" : "cpu";
  for (const Entry& entry : kEntries) {
    if (entry.name == wanted) return entry.make(threads);
  }
  const std::optional<int> number = cuda_number(wanted);
  if (number || wanted == "cuda") return make_cuda(wanted, number, place);
  throw UsageError("--device: '" + std::string(device) + "' is not a device, expected cpu, cuda[:N], ref or auto");
}

}  // namespace bam
