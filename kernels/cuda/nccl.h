// NCCL, as much of it as is used here. The library is opened when ranks meet, and a build needs nothing of it: types
// and numbers are those of nccl.h, which keeps them for all of NCCL 2 (tests/cuda_on_host/toolkit/nccl_test.cpp
// compares them with that file where there is one).
#pragma once

#include <cstddef>

namespace bam::cuda {

struct NcclId {  // ncclUniqueId
  char bytes[128];
};
using NcclComm = struct NcclCommOfLibrary*;  // ncclComm_t

enum NcclResult : int { kNcclSuccess = 0, kNcclInvalidArgument = 4, kNcclRemoteError = 6 };
enum NcclType : int { kNcclUint8 = 1, kNcclFloat32 = 7, kNcclFloat64 = 8 };
enum NcclOp : int { kNcclSum = 0 };

struct Nccl {
  NcclResult (*get_unique_id)(NcclId* id);
  NcclResult (*comm_init_rank)(NcclComm* comm, int size, NcclId id, int rank);
  NcclResult (*comm_destroy)(NcclComm comm);
  NcclResult (*comm_abort)(NcclComm comm);
  NcclResult (*comm_get_async_error)(NcclComm comm, NcclResult* error);
  NcclResult (*all_reduce)(const void* from, void* to, std::size_t count, NcclType type, NcclOp op, NcclComm comm,
                           void* stream);
  NcclResult (*broadcast)(const void* from, void* to, std::size_t count, NcclType type, int root, NcclComm comm,
                          void* stream);
  const char* (*get_error_string)(NcclResult result);
  const char* (*get_last_error)(NcclComm comm);  // more words about it, or none
};

// libnccl.so.2, or the file that BAM_NCCL_LIBRARY names; opened once and never closed. Throws Error where there is
// none, or one that lacks a function.
const Nccl& open_nccl();

}  // namespace bam::cuda
