#include "dist/communicator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bam::dist {
namespace {

class Alone : public Communicator {
 public:
  Alone() : Communicator(0, 1) {}
  int on_this_machine() const override { return 1; }
  int place_on_machine() const override { return 0; }
  void send(std::span<const std::byte> /*bytes*/, int /*to*/) override { nobody(); }
  void receive(std::span<std::byte> /*bytes*/, int /*from*/) override { nobody(); }
  std::vector<double> gather_all(std::span<const double> own) override { return {own.begin(), own.end()}; }

 private:
  void do_progress() override {}
  void do_finish() override {}
  void do_start_sum(std::span<float> /*x*/) override {}
  void do_start_sum(std::span<double> /*x*/) override {}
  void do_start_broadcast(std::span<std::byte> /*x*/, int /*from*/) override {}
  [[noreturn]] static void nobody() { throw std::logic_error("a rank by itself has nobody to talk to"); }
};

// The value of a variable that holds a number, or `otherwise`.
int number_in(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return otherwise;
  const std::string_view text = value;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

std::string library_path() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "lib" / "bam" / "bam-mpi.so").string();
}

}  // namespace

void Communicator::broadcast(std::string& text, int from) {
  const auto size = static_cast<double>(text.size());
  text.resize(static_cast<std::size_t>(gather_all({&size, 1})[static_cast<std::size_t>(from)]));
  const std::span bytes = std::as_writable_bytes(std::span(text));
  if (rank_ != from) return receive(bytes, from);
  for (int to = 0; to < size_; ++to) {
    if (to != from) send(bytes, to);
  }
}

void Communicator::start_sum(TensorView x) {
  if (devices_) return devices_->start_sum(x);
  const auto count = static_cast<std::size_t>(x.count());
  if (x.dtype == DType::f64) {
    do_start_sum(std::span(static_cast<double*>(x.data), count));
  } else if (x.dtype == DType::f32) {
    do_start_sum(std::span(static_cast<float*>(x.data), count));
  } else {
    throw std::logic_error("ranks sum f32 or f64");
  }
}

void Communicator::start_broadcast(TensorView x, int from) {
  if (devices_) return devices_->start_broadcast(x, from);
  do_start_broadcast({static_cast<std::byte*>(x.data), x.bytes()}, from);
}

void Communicator::progress() {
  if (!devices_) do_progress();
}

void Communicator::finish() {
  if (devices_) return devices_->finish();
  do_finish();
}

Communicator& alone() {
  static Alone one;
  return one;
}

Launch launch_of_environment() {
  // Of srun, the variables of the step: those of the job are also there in a batch script, which is one process.
  constexpr const char* kPairs[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank_name, size_name] : kPairs) {
    const Launch launch{number_in(rank_name, -1), number_in(size_name, -1)};
    if (launch.rank >= 0 && launch.rank < launch.size) return launch;
  }
  return {};
}

std::unique_ptr<Communicator> connect(const Launch& launch) {
  const std::string who = "rank " + std::to_string(launch.rank) + " of " + std::to_string(launch.size);
  const std::string path = library_path();
  if (!std::filesystem::exists(path)) {
    throw Error(who + ": built without MPI, expected one process (or --ranks one: each for itself)");
  }
  // Global, because MPI loads parts of its own that look for its symbols.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw Error(who + ": cannot load MPI: " + dlerror());
  using Connect = Communicator* (*)();
  const auto connect_mpi = reinterpret_cast<Connect>(dlsym(library, "bam_connect_mpi"));
  if (connect_mpi == nullptr) throw Error(path + ": not the MPI library of this program");
  std::unique_ptr<Communicator> ranks(connect_mpi());
  if (ranks->size() != launch.size || ranks->rank() != launch.rank) {
    throw Error(who + ": MPI sees rank " + std::to_string(ranks->rank()) + " of " + std::to_string(ranks->size()) +
                ", expected the launcher's (srun --mpi=pmix, or mpirun of the same MPI)");
  }
  return ranks;
}

}  // namespace bam::dist
