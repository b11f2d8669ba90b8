#include "kernels/cuda/nccl.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace bam::cuda {
namespace {

template <typename Function>
void look_up(void* file, const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(file, name));
  if (function == nullptr) throw Error("cuda: " + path + ": no " + name + ", expected NCCL 2.13 or a later 2");
}

Nccl load() {
  const char* const named = std::getenv("BAM_NCCL_LIBRARY");
  const std::string path = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
  void* const file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    throw Error(std::string("cuda: several ranks need NCCL: ") + dlerror() +
                ", expected the package libnccl2, or BAM_NCCL_LIBRARY with the name of the file");
  }
  Nccl nccl{};
  look_up(file, path, "ncclGetUniqueId", nccl.get_unique_id);
  look_up(file, path, "ncclCommInitRank", nccl.comm_init_rank);
  look_up(file, path, "ncclCommDestroy", nccl.comm_destroy);
  look_up(file, path, "ncclCommAbort", nccl.comm_abort);
  look_up(file, path, "ncclCommGetAsyncError", nccl.comm_get_async_error);
  look_up(file, path, "ncclAllReduce", nccl.all_reduce);
  look_up(file, path, "ncclBroadcast", nccl.broadcast);
  look_up(file, path, "ncclGetErrorString", nccl.get_error_string);
  look_up(file, path, "ncclGetLastError", nccl.get_last_error);
  return nccl;
}

}  // namespace

const Nccl& open_nccl() {
  static const Nccl nccl = load();
  return nccl;
}

}  // namespace bam::cuda
