// NCCL for the devices of the emulation: processes meet in shared memory that the id names, and sums are made in the
// order of the ranks. Work goes to the stream that is passed and is done when the stream comes to it. What the library
// would answer with wrong numbers or wait for ever for (ranks that ask for different things, another stream than
// before) ends the process. BAM_FAKE_NCCL_FAILS=N lets the N-th piece of work fail as a broken network does, from 1 on.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "cuda_on_host/streams.h"
#include "kernels/cuda/nccl.h"

using namespace bam::cuda;

namespace {

constexpr int kMostRanks = 8;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr auto kPatience = std::chrono::seconds(120);  // of a rank whose job nobody has ended

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "fake NCCL: %s\n", what);
  std::abort();
}

struct Wish {
  bool is_sum;
  std::size_t count;
  int type, root;
  bool operator==(const Wish&) const = default;
};

// Begins as zeros.
struct Shared {
  std::atomic<int> size;
  std::atomic<int> arrived, meetings;
  std::atomic<bool> taken[kMostRanks];
  Wish wishes[kMostRanks];
  alignas(64) unsigned char pieces[kMostRanks][kPieceBytes];
};

class Comm {
 public:
  Comm(Shared* shared, int size, int rank) : shared_(shared), size_(size), rank_(rank) {}
  ~Comm() { munmap(shared_, sizeof(Shared)); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  void meet() {
    const int meeting = shared_->meetings;
    if (++shared_->arrived == size_) {
      shared_->arrived = 0;
      ++shared_->meetings;
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    while (shared_->meetings == meeting) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (std::chrono::steady_clock::now() - begin > kPatience) refuse("a rank that does not come");
    }
  }

  void require_stream(void* stream) {
    if (stream == nullptr || (stream_ != nullptr && stream != stream_)) refuse("work on another stream");
    stream_ = stream;
  }

  void work(const Wish& wish, void* data) {
    if (aborted || error != kNcclSuccess) return;
    const char* const fails = std::getenv("BAM_FAKE_NCCL_FAILS");
    if (fails != nullptr && ++works_ == std::atoi(fails)) {
      error = kNcclRemoteError;
      return;
    }
    shared_->wishes[rank_] = wish;
    meet();
    for (int i = 0; i < size_; ++i) {
      if (shared_->wishes[i] != wish) refuse("ranks that ask for different things");
    }
    const std::size_t unit = wish.type == kNcclUint8 ? 1 : wish.type == kNcclFloat32 ? sizeof(float) : sizeof(double);
    auto* const bytes = static_cast<unsigned char*>(data);
    const std::size_t all = wish.count * unit;
    for (std::size_t first = 0; first < all; first += kPieceBytes) {
      const std::size_t count = std::min(kPieceBytes, all - first);
      std::memcpy(shared_->pieces[rank_], bytes + first, count);
      meet();
      take(wish, bytes + first, count);
      meet();  // before the pieces are used again
    }
    meet();  // and the wishes
  }

  NcclResult error = kNcclSuccess;
  bool aborted = false;

 private:
  void take(const Wish& wish, unsigned char* to, std::size_t bytes) const {
    if (!wish.is_sum) {
      std::memcpy(to, shared_->pieces[wish.root], bytes);
    } else if (wish.type == kNcclFloat32) {
      add_up<float>(to, bytes);
    } else {
      add_up<double>(to, bytes);
    }
  }
  template <typename Real>
  void add_up(unsigned char* to, std::size_t bytes) const {
    for (std::size_t at = 0; at < bytes; at += sizeof(Real)) {
      Real sum = 0;
      for (int i = 0; i < size_; ++i) {
        Real part;
        std::memcpy(&part, shared_->pieces[i] + at, sizeof part);
        sum += part;
      }
      std::memcpy(to + at, &sum, sizeof sum);
    }
  }

  Shared* shared_;
  int size_, rank_;
  int works_ = 0;
  void* stream_ = nullptr;
};

using Handle = std::shared_ptr<Comm>;  // work that is still waiting in a stream keeps it

Handle& of(NcclComm comm) {
  return *reinterpret_cast<Handle*>(comm);
}

NcclResult submit(const Wish& wish, const void* from, void* to, NcclComm comm, void* stream) {
  const Handle& handle = of(comm);
  if (from != to) refuse("work that is not in place");
  if (handle->error != kNcclSuccess) return handle->error;
  handle->require_stream(stream);
  static_cast<on_host::Stream*>(stream)->submit([handle, wish, to] { handle->work(wish, to); });
  return kNcclSuccess;
}

}  // namespace

extern "C" {

NcclResult ncclGetUniqueId(NcclId* id) {
  *id = {};
  std::random_device random;
  std::snprintf(id->bytes, sizeof id->bytes, "/bam-nccl-%d-%08x", getpid(), random());
  const int file = shm_open(id->bytes, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return kNcclInvalidArgument;
  close(file);
  return kNcclSuccess;
}

NcclResult ncclCommInitRank(NcclComm* comm, int size, NcclId id, int rank) {
  *comm = nullptr;
  const int file = shm_open(id.bytes, O_RDWR, 0600);
  if (file < 0 || rank < 0 || rank >= size || size > kMostRanks) return kNcclInvalidArgument;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return kNcclInvalidArgument;
  auto* const shared = static_cast<Shared*>(memory);
  int expected = 0;
  shared->size.compare_exchange_strong(expected, size);
  if ((expected != 0 && expected != size) || shared->taken[rank].exchange(true)) return kNcclInvalidArgument;
  auto made = std::make_shared<Comm>(shared, size, rank);
  made->meet();
  if (rank == 0) shm_unlink(id.bytes);
  *comm = reinterpret_cast<NcclComm>(new Handle(std::move(made)));
  return kNcclSuccess;
}

NcclResult ncclCommDestroy(NcclComm comm) {
  delete &of(comm);
  return kNcclSuccess;
}
NcclResult ncclCommAbort(NcclComm comm) {
  of(comm)->aborted = true;
  return ncclCommDestroy(comm);
}

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult* error) {
  *error = of(comm)->error;
  return kNcclSuccess;
}

NcclResult ncclAllReduce(const void* from, void* to, std::size_t count, NcclType type, NcclOp op, NcclComm comm,
                         void* stream) {
  if (op != kNcclSum || (type != kNcclFloat32 && type != kNcclFloat64)) refuse("a sum of another kind");
  return submit({true, count, type, 0}, from, to, comm, stream);
}

NcclResult ncclBroadcast(const void* from, void* to, std::size_t count, NcclType type, int root, NcclComm comm,
                         void* stream) {
  if (type != kNcclUint8) refuse("a broadcast of another type");
  return submit({false, count, type, root}, from, to, comm, stream);
}

const char* ncclGetErrorString(NcclResult result) {
  return result == kNcclRemoteError ? "remote process exited or there was a network error" : "invalid argument";
}
const char* ncclGetLastError(NcclComm /*comm*/) {
  return "";
}

}  // extern "C"
