// boxes: io base
#include "io/checkpoint.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "io/sha256.h"
#include "support/catch.h"
#include "support/files.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

std::string write_checkpoint(const std::string& path, float value = 1.5F, Index count = 12) {
  CheckpointWriter writer(path);
  writer.file().set_string("format", "test");
  const std::vector<float> values(static_cast<std::size_t>(count), value);
  writer.file().write<float>("params/w", {count}, values);
  return writer.commit();
}

float read_checkpoint(const std::string& path, Index count = 12) {
  const CheckpointReader reader(path);
  CHECK(reader.file().attribute_string("format") == "test");
  return reader.file().read<float>("params/w", {count}).at(0);
}

}  // namespace

TEST_CASE("checkpoint: what is written is read, and the digest is of everything behind the block") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  const std::string digest = write_checkpoint(path);
  CHECK(read_checkpoint(path) == 1.5F);
  CHECK(CheckpointReader(path).digest() == digest);
  CHECK(CheckpointReader(path).name() == path);
  const std::string bytes = slurp(path);
  CHECK(digest == sha256_hex(std::string_view(bytes).substr(512)));
  CHECK(bytes.substr(0, 23) == "bam-checkpoint 1\nbytes ");
  CHECK(folder.entries() == 1);
  CHECK(write_checkpoint(folder / "b.h5") == digest);
  CHECK(slurp(folder / "b.h5") == bytes);
  CHECK(write_checkpoint(folder / "b.h5", 2.5F) != digest);
}

TEST_CASE("checkpoint: any HDF5 program reads it") {
  const ScratchFolder folder;
  write_checkpoint(folder / "a.h5");
  CHECK(Hdf5File::open(folder / "a.h5").attribute_string("format") == "test");
  if (std::system("h5dump --version >/dev/null 2>&1") != 0) return skip("no h5dump program");
  CHECK(std::system(("h5dump -H " + (folder / "a.h5") + " >" + (folder / "dump")).c_str()) == 0);
  CHECK(contains(slurp(folder / "dump"), "DATASET \"w\""));
}

TEST_CASE("checkpoint: cut at any byte it is truncated") {
  const ScratchFolder folder;
  write_checkpoint(folder / "a.h5");
  const std::string bytes = slurp(folder / "a.h5");
  const std::string path = folder / "cut";
  spit(path, bytes);
  for (std::size_t cut = bytes.size(); cut-- > 0;) {
    std::filesystem::resize_file(path, cut);
    INFO("cut after " << cut << " of " << bytes.size());
    const std::string error = error_of([&] { CheckpointReader reader(path); });
    CHECK(contains(error, path + (cut == 0 ? ": empty, expected a checkpoint" : ": truncated checkpoint")));
    CHECK(is_one_line(error));
  }
  spit(path, bytes + "x");
  CHECK(contains(error_of([&] { CheckpointReader reader(path); }), "damaged checkpoint: other bytes behind its end"));
}

TEST_CASE("checkpoint: a flipped byte anywhere is an error before HDF5 sees it") {
  const ScratchFolder folder;
  write_checkpoint(folder / "a.h5");
  const std::string bytes = slurp(folder / "a.h5");
  const std::string path = folder / "flipped";
  spit(path, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    patch(path, i, std::string(1, static_cast<char>(bytes[i] ^ (1 << (i % 8)))));
    INFO("byte " << i << " of " << bytes.size());
    const std::string error = error_of([&] { CheckpointReader reader(path); });
    CHECK(error != "no error");
    CHECK(is_one_line(error));
    CHECK(!contains(error, "HDF5"));
    if (i >= 512) CHECK(error == path + ": damaged checkpoint: its bytes do not have its digest");
    patch(path, i, bytes.substr(i, 1));
  }
  CHECK(read_checkpoint(path) == 1.5F);
}

TEST_CASE("checkpoint: other files are told from damaged ones") {
  const ScratchFolder folder;
  const auto error = [&](const std::string& bytes) {
    spit(folder / "x", bytes);
    return error_of([&] { CheckpointReader reader(folder / "x"); });
  };
  CHECK(error("some text") == (folder / "x") + ": not a checkpoint (bam-checkpoint(5))");
  CHECK(error("bam-cheese") == (folder / "x") + ": not a checkpoint (bam-checkpoint(5))");
  { Hdf5File::create(folder / "plain.h5").set_int("a", 1); }
  CHECK(contains(error(slurp(folder / "plain.h5")), "an HDF5 file, but not a checkpoint"));
  write_checkpoint(folder / "a.h5");
  std::string newer = slurp(folder / "a.h5");
  newer[15] = '2';
  CHECK(error(newer) == (folder / "x") + ": checkpoint of version 2, expected version 1");
  std::string huge = slurp(folder / "a.h5");
  huge.replace(23, 4, "9999");
  CHECK(error(huge) != "no error");
  CHECK(contains(error_of([&] { CheckpointReader reader(folder.path()); }), "is a directory"));
  CHECK(contains(error_of([&] { CheckpointReader reader(folder / "none"); }), "No such file"));
}

TEST_CASE("checkpoint: through a FIFO it is the same, and spooled without a name") {
  const ScratchFolder folder;
  const ScratchFolder spool;
  setenv("TMPDIR", spool.path().c_str(), 1);
  const std::string path = folder / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  constexpr Index kCount = 500000;
  std::string written;
  // HDF5 is not for two threads at once, so the writer is a process of its own.
  const pid_t child = fork();
  if (child == 0) {
    write_checkpoint(path, 2.5F, kCount);
    _exit(0);
  }
  const CheckpointReader reader(path);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(spool.entries() == 0);
  unsetenv("TMPDIR");
  CHECK(reader.file().read<float>("params/w", {kCount}).at(kCount - 1) == 2.5F);
  CHECK(reader.digest() == write_checkpoint(folder / "file.h5", 2.5F, kCount));
}

TEST_CASE("checkpoint: cut or flipped in a pipe") {
  const ScratchFolder folder;
  write_checkpoint(folder / "a.h5");
  const std::string bytes = slurp(folder / "a.h5");
  const auto piped = [&](const std::string& content) {
    const std::string path = folder / "fifo";
    unlink(path.c_str());
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    std::thread writer([&] { spit(path, content); });
    const std::string error = error_of([&] { CheckpointReader reader(path); });
    writer.join();
    return error;
  };
  CHECK(piped(bytes) == "no error");
  for (const std::size_t cut :
       {std::size_t{5}, std::size_t{511}, std::size_t{512}, std::size_t{513}, bytes.size() - 1}) {
    CHECK(contains(piped(bytes.substr(0, cut)), "truncated checkpoint"));
  }
  std::string flipped = bytes;
  flipped[1000] = static_cast<char>(flipped[1000] ^ 1);
  CHECK(contains(piped(flipped), "damaged checkpoint"));
}

TEST_CASE("checkpoint: without commit, or on a full disk, the old one stays and nothing else does") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  write_checkpoint(path);
  const std::string old = slurp(path);
  {
    CheckpointWriter writer(path);
    writer.file().write<float>("params/w", {1}, std::array<float, 1>{9});
  }
  CHECK(slurp(path) == old);
  CHECK(folder.entries() == 1);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  for (const rlim_t room : {0, 600, 3000, 500000}) {
    const rlimit small{room, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string error = error_of([&] { write_checkpoint(path, 3.0F, 1000000); });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(error == path + ": cannot write: File too large");
    CHECK(slurp(path) == old);
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("checkpoint: a full disk for spooling is named as such") {
  const ScratchFolder spool;
  setenv("TMPDIR", spool.path().c_str(), 1);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{3000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = error_of([&] { write_checkpoint("/dev/null", 3.0F, 1000000); });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  unsetenv("TMPDIR");
  CHECK(error == "temporary file in " + spool.path() + ": cannot write: File too large");
  CHECK(spool.entries() == 0);
}

TEST_CASE("checkpoint: a writer killed at any time leaves a whole checkpoint") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  constexpr Index kCount = 50000;
  for (int round = 1; round <= 20; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      for (float value = 1.0F;; value += 1.0F) {
        write_checkpoint(path, value, kCount);
        if (write(ends[1], "x", 1) != 1) _exit(1);
      }
    }
    // It is killed somewhere in the writing that follows its `round`th commit.
    for (int commits = 0; commits < round % 5 + 1; ++commits) {
      char byte = 0;
      REQUIRE(read(ends[0], &byte, 1) == 1);
    }
    usleep(static_cast<useconds_t>(137 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    CHECK(read_checkpoint(path, kCount) >= static_cast<float>(round % 5 + 1));
  }
}

TEST_CASE("checkpoint: a device that takes nothing") {
  if (access("/dev/full", W_OK) != 0) return skip("no /dev/full");
  CHECK(error_of([] { write_checkpoint("/dev/full"); }) == "/dev/full: cannot write: No space left on device");
}
