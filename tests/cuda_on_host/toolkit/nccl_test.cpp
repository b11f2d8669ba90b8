// boxes: base
// What kernels/cuda/nccl.h says of NCCL, beside NCCL's own header and library where they are.
#include "kernels/cuda/nccl.h"

#include <cstdlib>

#include "support/catch.h"
#include "support/errors.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <type_traits>

namespace {

using namespace bam::cuda;

static_assert(NCCL_MAJOR == 2);
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId) && alignof(NcclId) == alignof(ncclUniqueId));
static_assert(sizeof(NcclComm) == sizeof(ncclComm_t) && std::is_pointer_v<ncclComm_t>);
static_assert(sizeof(NcclResult) == sizeof(ncclResult_t) && sizeof(NcclType) == sizeof(ncclDataType_t) &&
              sizeof(NcclOp) == sizeof(ncclRedOp_t) && sizeof(void*) == sizeof(cudaStream_t));
static_assert(int{kNcclSuccess} == ncclSuccess && int{kNcclInvalidArgument} == ncclInvalidArgument &&
              int{kNcclRemoteError} == ncclRemoteError);
static_assert(int{kNcclUint8} == ncclUint8 && int{kNcclFloat32} == ncclFloat32 && int{kNcclFloat64} == ncclFloat64 &&
              int{kNcclSum} == ncclSum);

// The order of the arguments: whoever takes NCCL's own types by this signature is the function itself.
static_assert(std::is_same_v<decltype(&ncclCommInitRank), ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int)>);
static_assert(std::is_same_v<decltype(&ncclAllReduce), ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t,
                                                                        ncclRedOp_t, ncclComm_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(&ncclBroadcast), ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t,
                                                                        int, ncclComm_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(&ncclCommGetAsyncError), ncclResult_t (*)(ncclComm_t, ncclResult_t*)>);

}  // namespace
#endif

TEST_CASE("nccl: a library that is missing or another one is told of, and the real one has all functions") {
  setenv("BAM_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  CHECK(bam::test::error_of([] { bam::cuda::open_nccl(); }) ==
        "cuda: several ranks need NCCL: /nowhere/libnccl.so.2: cannot open shared object file: No such file or "
        "directory, expected the package libnccl2, or BAM_NCCL_LIBRARY with the name of the file");
  setenv("BAM_NCCL_LIBRARY", "libc.so.6", 1);
  CHECK(bam::test::error_of([] { bam::cuda::open_nccl(); }) ==
        "cuda: libc.so.6: no ncclGetUniqueId, expected NCCL 2.13 or a later 2");
  unsetenv("BAM_NCCL_LIBRARY");
  const std::string outcome = bam::test::error_of([] { bam::cuda::open_nccl(); });
  if (outcome.find("cannot open shared object file") != std::string::npos) {
    WARN("NCCL is not here: its functions were not looked up");
  } else {
    CHECK(outcome == "no error");
  }
}
