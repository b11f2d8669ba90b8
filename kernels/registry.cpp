#include "kernels/registry.h"

#include "base/error.h"
#include "kernels/cpu/cpu_backend.h"
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

}  // namespace

std::vector<BackendInfo> list_backends() {
  std::vector<BackendInfo> list;
  for (const Entry& entry : kEntries) list.push_back({std::string(entry.name), true, entry.detail()});
  list.push_back({"cuda", false, "not part of this build"});
  return list;
}

std::unique_ptr<Backend> make_backend(std::string_view device, int threads) {
  const std::string_view wanted = device == "auto" ? std::string_view("cpu") : device;
  for (const Entry& entry : kEntries) {
    if (entry.name == wanted) return entry.make(threads);
  }
  if (wanted.substr(0, wanted.find(':')) == "cuda") {
    throw Error("--device " + std::string(device) + ": the CUDA backend is not part of this build, use --device cpu");
  }
  throw UsageError("--device: '" + std::string(device) + "' is not a device, expected cpu, cuda[:N], ref or auto");
}

}  // namespace bam
