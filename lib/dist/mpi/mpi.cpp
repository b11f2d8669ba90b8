// The ranks of MPI. The only file that sees it.
#include <mpi.h>

#include <algorithm>

#include "dist/communicator.h"

namespace bam::dist {
namespace {

// MPI counts with an int.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;

int as_int(std::size_t count) {
  return static_cast<int>(count);
}

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// This rank's among those of its machine, and their number.
struct OnMachine {
  int place = 0;
  int ranks = 0;
};
OnMachine ask_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  OnMachine found;
  MPI_Comm_rank(machine, &found.place);
  MPI_Comm_size(machine, &found.ranks);
  MPI_Comm_free(&machine);
  return found;
}

template <typename T, typename Work>
void in_pieces(std::span<T> all, const Work& work) {
  for (; !all.empty(); all = all.subspan(std::min(all.size(), kMostAtOnce))) {
    work(all.first(std::min(all.size(), kMostAtOnce)));
  }
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() : Communicator(rank_of_world(), size_of_world()), machine_(ask_machine()) {}
  ~MpiCommunicator() override { MPI_Finalize(); }

  int on_this_machine() const override { return machine_.ranks; }
  int place_on_machine() const override { return machine_.place; }

  void send(std::span<const std::byte> bytes, int to) override {
    in_pieces(bytes, [to](std::span<const std::byte> piece) {
      MPI_Send(piece.data(), as_int(piece.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
    });
  }

  void receive(std::span<std::byte> bytes, int from) override {
    in_pieces(bytes, [from](std::span<std::byte> piece) {
      MPI_Recv(piece.data(), as_int(piece.size()), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }

  std::vector<double> gather_all(std::span<const double> own) override {
    std::vector<double> all(own.size() * static_cast<std::size_t>(size()));
    MPI_Allgather(own.data(), as_int(own.size()), MPI_DOUBLE, all.data(), as_int(own.size()), MPI_DOUBLE,
                  MPI_COMM_WORLD);
    return all;
  }

 private:
  void do_progress() override {
    int all_done = 0;
    MPI_Testall(as_int(requests_.size()), requests_.data(), &all_done, MPI_STATUSES_IGNORE);
    if (all_done != 0) requests_.clear();
  }

  void do_finish() override {
    MPI_Waitall(as_int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  template <typename Real>
  void sum(std::span<Real> x, MPI_Datatype type) {
    in_pieces(x, [&](std::span<Real> piece) {
      MPI_Iallreduce(MPI_IN_PLACE, piece.data(), as_int(piece.size()), type, MPI_SUM, MPI_COMM_WORLD,
                     &requests_.emplace_back());
    });
  }
  void do_start_sum(std::span<float> x) override { sum(x, MPI_FLOAT); }
  void do_start_sum(std::span<double> x) override { sum(x, MPI_DOUBLE); }

  void do_start_broadcast(std::span<std::byte> x, int from) override {
    in_pieces(x, [&](std::span<std::byte> piece) {
      MPI_Ibcast(piece.data(), as_int(piece.size()), MPI_BYTE, from, MPI_COMM_WORLD, &requests_.emplace_back());
    });
  }

  OnMachine machine_;
  std::vector<MPI_Request> requests_;
};

}  // namespace
}  // namespace bam::dist

extern "C" bam::dist::Communicator* bam_connect_mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  return new bam::dist::MpiCommunicator;
}
