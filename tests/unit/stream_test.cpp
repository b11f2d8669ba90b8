// boxes: io base
#include "io/stream.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/rng.h"
#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/files.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

std::string some_bytes(std::size_t count) {
  bam::Rng rng(7);
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>('a' + rng.below(20));
  return bytes;
}

std::string gzip(const std::string& bytes) {
  std::string out(compressBound(static_cast<uLong>(bytes.size())) + 64, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// zstd's own program makes the input, so that this test shares nothing with the code under test.
std::string zstd(const ScratchFolder& folder, const std::string& bytes) {
  spit(folder / "plain", bytes);
  const std::string command = "zstd -q -f -1 --check " + (folder / "plain") + " -o " + (folder / "packed");
  return std::system(command.c_str()) == 0 ? slurp(folder / "packed") : "";
}

std::string unpack(const std::string& bytes, std::size_t step = 1000) {
  const auto source = decompress(source_from_memory("input", bytes));
  std::string out;
  std::string piece(step, '\0');
  while (const Index got = source->read(piece)) out.append(piece, 0, static_cast<std::size_t>(got));
  return out;
}

void check_compressed(const std::string& text, const std::string& packed, const char* kind) {
  CHECK(unpack(packed) == text);
  CHECK(unpack(packed, 1) == text);
  CHECK(unpack(packed, text.size()) == text);
  CHECK(unpack(packed + packed) == text + text);
  for (std::size_t cut = 1; cut < packed.size();
       cut += cut < 100 || cut + 100 > packed.size() ? 1 : packed.size() / 50 + 1) {
    if (cut < 4) continue;  // too short to be told from other text
    INFO("cut after " << cut << " of " << packed.size());
    const std::string error = error_of([&] { unpack(packed.substr(0, cut)); });
    CHECK(contains(error, std::string("input: truncated ") + kind + " stream"));
    CHECK(contains(error_of([&] { unpack(packed + packed.substr(0, cut)); }), "truncated"));
  }
  CHECK(contains(error_of([&] { unpack(packed + "other bytes"); }), std::string("input: damaged ") + kind));
}

}  // namespace

TEST_CASE("stream: missing files, folders and empty files are named") {
  const ScratchFolder folder;
  CHECK(error_of([&] { open_source(folder / "none"); }) ==
        (folder / "none") + ": cannot open: No such file or directory");
  CHECK(error_of([&] { open_source(folder.path()); }) == folder.path() + ": is a directory, expected a file");
  spit(folder / "empty", "");
  CHECK(error_of([&] { open_decompressed(folder / "empty"); }) == (folder / "empty") + ": empty, expected text");
  CHECK(read_file(folder / "empty", 10).empty());
}

TEST_CASE("stream: the limit of read_all is exact") {
  CHECK(read_all(*source_from_memory("m", "12345"), 5) == "12345");
  CHECK(error_of([] { read_all(*source_from_memory("m", "123456"), 5); }) == "m: too large, expected at most 5 bytes");
}

TEST_CASE("stream: plain bytes pass, also fewer than a magic number") {
  for (const std::string& text : {std::string("x"), std::string("abc"), some_bytes(70000)}) {
    CHECK(unpack(text) == text);
  }
}

TEST_CASE("stream: gzip, any number of members, cut anywhere") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3000}, std::size_t{200000}}) {
    const std::string text = some_bytes(size);
    if (size > 0) check_compressed(text, gzip(text), "gzip");
    CHECK(unpack(gzip(text) + gzip("tail")) == text + "tail");
  }
}

TEST_CASE("stream: zstd, any number of frames, cut anywhere") {
  const ScratchFolder folder;
  if (zstd(folder, "x").empty()) return skip("no zstd program");
  for (const std::size_t size : {std::size_t{1}, std::size_t{3000}, std::size_t{200000}}) {
    const std::string text = some_bytes(size);
    check_compressed(text, zstd(folder, text), "zstd");
  }
  const std::string skippable("\x50\x2A\x4D\x18\x03\0\0\0abc", 11);
  CHECK(unpack(skippable + zstd(folder, "text") + skippable) == "text");
  // As pzstd begins a file: the size of the frame behind it, whose first byte may be a brace.
  const std::string sized("\x50\x2A\x4D\x18\x04\0\0\0{\0\0\0", 12);
  spit(folder / "sized", sized + zstd(folder, "text"));
  CHECK(read_all(*open_decompressed(folder / "sized"), 100) == "text");
  CHECK(unpack(zstd(folder, "")).empty());
}

TEST_CASE("stream: what zstd needs more memory or a dictionary for is told from what is damaged") {
  const ScratchFolder folder;
  if (zstd(folder, "x").empty()) return skip("no zstd program");
  const auto packed = [&](const std::string& how) {
    const std::string to = folder / "packed";
    return std::system(("zstd -q -f " + how + " <" + (folder / "plain") + " >" + to).c_str()) == 0 ? slurp(to) : "";
  };
  spit(folder / "plain", some_bytes(3000));
  CHECK(unpack(packed("--long=27")) == some_bytes(3000));
  CHECK(error_of([&] { unpack(packed("--long=31")); }) ==
        "input: compressed by zstd with a window above 128 MiB, expected at most that of --long=27");
  REQUIRE(std::system(("zstd -q -f --train -B200 --maxdict=1000 " + (folder / "plain") + " -o " +
                       (folder / "dictionary") + " 2>/dev/null")
                          .c_str()) == 0);
  CHECK(error_of([&] { unpack(packed("-D " + (folder / "dictionary"))); }) ==
        "input: compressed by zstd with a dictionary, expected none");
}

TEST_CASE("stream: a flipped byte in a checked zstd stream is seen") {
  const ScratchFolder folder;
  const std::string text = some_bytes(500);
  const std::string packed = zstd(folder, text);
  if (packed.empty()) return skip("no zstd program");
  for (std::size_t i = 4; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    INFO("byte " << i);
    std::string out;
    const std::string error = error_of([&] { out = unpack(damaged); });
    CHECK((error != "no error" || out == text));  // an unused bit of the frame's head may be anything
  }
}

TEST_CASE("stream: a FIFO is read to its end") {
  const ScratchFolder folder;
  const std::string path = folder / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const std::string text = some_bytes(300000);
  std::thread writer([&] { spit(path, gzip(text)); });
  const auto source = open_decompressed(path);
  CHECK(read_all(*source, 1 << 20) == text);
  writer.join();
}

TEST_CASE("stream: output appears only when committed, by either kind of temporary") {
  for (const auto kind : {OutputFile::Temporary::automatic, OutputFile::Temporary::named}) {
    const ScratchFolder folder;
    const std::string path = folder / "out";
    {
      OutputFile file(path, kind);
      CHECK(file.is_atomic());
      file.write("half");
      CHECK(!std::filesystem::exists(path));
    }
    CHECK(folder.entries() == 0);
    spit(path, "old");
    REQUIRE(chmod(path.c_str(), 0640) == 0);
    {
      OutputFile file(path, kind);
      file.write("new ");
      file.write("text");
      CHECK(slurp(path) == "old");
      CHECK(slurp("/proc/self/fd/" + std::to_string(file.descriptor())) == "new text");
      file.commit();
    }
    CHECK(slurp(path) == "new text");
    CHECK(folder.entries() == 1);
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0640U);
  }
}

TEST_CASE("stream: a symbolic link stays, and its target is replaced") {
  const ScratchFolder folder;
  spit(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  OutputFile file(folder / "link");
  file.write("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(slurp(folder / "target") == "new");
}

TEST_CASE("stream: outputs that cannot be are refused before anything is written") {
  const ScratchFolder folder;
  CHECK(contains(error_of([&] { OutputFile file(folder.path()); }), "is a directory"));
  CHECK(contains(error_of([&] { OutputFile file(folder / "none/"); }), "is a directory"));
  const std::string error = error_of([&] { OutputFile file(folder / "none/out"); });
  CHECK(contains(error, (folder / "none/out") + ": cannot write a file in folder " + (folder / "none")));
}

TEST_CASE("stream: devices, FIFOs and descriptors are written directly") {
  const ScratchFolder folder;
  if (access("/dev/full", W_OK) == 0) {
    OutputFile full("/dev/full");
    CHECK(!full.is_atomic());
    CHECK(error_of([&] { full.write("x"); }) == "/dev/full: cannot write: No space left on device");
  }
  const std::string path = folder / "appended";
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  REQUIRE(write(fd, "before ", 7) == 7);
  {
    OutputFile output("/dev/fd/" + std::to_string(fd));
    output.write("after");
    output.commit();
  }
  close(fd);
  CHECK(slurp(path) == "before after");
}

TEST_CASE("stream: a reader that went away is a broken pipe") {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  OutputFile output("/dev/fd/" + std::to_string(ends[1]));
  CHECK_THROWS_AS(output.write("x"), bam::BrokenPipe);
  close(ends[1]);
}

TEST_CASE("stream: a full disk leaves the old file alone") {
  const ScratchFolder folder;
  const std::string path = folder / "out";
  spit(path, "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = error_of([&] {
    OutputFile file(path);
    file.write(std::string(2000, 'x'));
    file.commit();
  });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(error == path + ": cannot write: File too large");
  CHECK(slurp(path) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("stream: a spool file has no name and can be opened again") {
  SpoolFile spool;
  spool.write("abc");
  CHECK(slurp("/proc/self/fd/" + std::to_string(spool.descriptor())) == "abc");
}
