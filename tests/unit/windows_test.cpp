// boxes: train io base
#include "train/windows.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/files.h"
#include "train/read_ahead.h"

using namespace bam;
using namespace bam::train;
using bam::test::contains;
using bam::test::error_of;
using bam::test::ScratchFolder;

namespace {

// A shard of ids first, first + 1, ... (below the BOS 60000), with a BOS wherever `borders` says.
std::string write_shard(const std::string& path, Index first, Index count, std::set<Index> borders = {0},
                        Index vocab = 60001) {
  io::OutputFile file(path);
  io::ShardHeader header;
  header.vocab_size = vocab;
  header.width = io::ShardHeader::width_for(vocab);
  header.bos_id = static_cast<Token>(vocab - 1);
  header.tokenizer_name = header.tokenizer_kind = "bytes";
  io::ShardWriter writer(file, header, {});
  std::vector<Token> ids;
  for (Index i = 0; i < count; ++i) {
    ids.push_back(borders.count(i) > 0 ? header.bos_id : static_cast<Token>(first + i));
  }
  writer.append(ids);
  writer.finish();
  file.commit();
  return path;
}

std::vector<std::vector<Token>> take(WindowSource& source, Index windows) {
  std::vector<Token> ids(static_cast<std::size_t>(windows * (source.context() + 1)));
  const Index got = source.next(ids);
  std::vector<std::vector<Token>> rows;
  for (Index w = 0; w < got; ++w) {
    const auto begin = ids.begin() + w * (source.context() + 1);
    rows.emplace_back(begin, begin + source.context() + 1);
  }
  return rows;
}

}  // namespace

TEST_CASE("windows: an epoch of files has each window once, across shard edges, and the next another order") {
  const ScratchFolder folder;
  const std::vector<std::string> paths = {write_shard(folder / "a", 0, 37, {}), write_shard(folder / "b", 37, 1, {}),
                                          write_shard(folder / "c", 38, 45, {})};
  const auto source = open_file_windows(paths, 4, 7);
  const Index windows = (37 + 1 + 45 - 1) / 4;
  REQUIRE(source->windows_per_epoch() == windows);
  std::vector<std::vector<Token>> epochs[2];
  for (auto& epoch : epochs) {
    epoch = take(*source, windows);
    std::set<Token> firsts;
    for (const auto& window : epoch) {
      firsts.insert(window.front());
      CHECK(window.front() % 4 == 0);
      for (std::size_t i = 1; i < window.size(); ++i) CHECK(window[i] == window[i - 1] + 1);
    }
    CHECK(std::ssize(firsts) == windows);
  }
  CHECK(epochs[0] != epochs[1]);
  CHECK(take(*open_file_windows(paths, 4, 7), windows) == epochs[0]);
  CHECK(take(*open_file_windows(paths, 4, 8), windows) != epochs[0]);
}

TEST_CASE("windows: a source that goes on hands out what the other would have, over edges of shard and epoch") {
  const ScratchFolder folder;
  const std::vector<std::string> paths = {write_shard(folder / "a", 0, 50), write_shard(folder / "b", 50, 60)};
  for (const bool streams : {false, true}) {
    const auto open = [&] { return streams ? open_stream_windows(paths, 3, 5) : open_file_windows(paths, 3, 5); };
    const Index total = streams ? 36 : 90;
    for (Index before = 0; before <= 35; before += 5) {
      const auto whole = open();
      const auto expected = take(*whole, total);
      const auto first = open();
      take(*first, before);
      const auto second = open();
      second->resume(first->consumed(), first->fingerprint());
      CHECK(second->consumed() == before);
      const auto rest = take(*second, total - before);
      CHECK(rest == std::vector(expected.begin() + before, expected.end()));
    }
  }
}

TEST_CASE("windows: a stream has each window once, mixed, the same from pipe and files") {
  const ScratchFolder folder;
  const auto a = write_shard(folder / "a", 0, 1000, {});
  const auto b = write_shard(folder / "b", 1000, 505, {});
  test::spit(folder / "ab", test::slurp(a) + test::slurp(b));
  const auto from_files = open_stream_windows({a, b}, 4, 1);
  const auto all = take(*from_files, 1000);
  CHECK(std::ssize(all) == (1505 - 1) / 4);
  CHECK(all == take(*open_stream_windows({folder / "ab"}, 4, 1), 1000));
  CHECK(all != take(*open_stream_windows({a, b}, 4, 2), 1000));
  std::set<Token> firsts;
  for (const auto& window : all) firsts.insert(window.front());
  CHECK(std::ssize(firsts) == std::ssize(all));
  CHECK(!std::is_sorted(all.begin(), all.end()));
  CHECK(take(*from_files, 5).empty());
  CHECK(from_files->digests().size() == 2);
}

TEST_CASE("windows: the buffer of a stream is bounded") {
  const ScratchFolder folder;
  const auto path = write_shard(folder / "a", 0, 50000, {});
  const auto source = open_stream_windows({path}, 1, 1);
  Index place = 0;
  for (const auto& window : take(*source, 49999)) {
    CHECK(window.front() < place + 8192);  // nothing comes before it could have been read
    ++place;
  }
}

TEST_CASE("windows: other data is noticed at a resume") {
  const ScratchFolder folder;
  const auto a = write_shard(folder / "a", 0, 50);
  const auto b = write_shard(folder / "b", 1, 50);
  for (const bool streams : {false, true}) {
    const auto open = [&](const std::string& path) {
      return streams ? open_stream_windows({path}, 3, 5) : open_file_windows({path}, 3, 5);
    };
    const auto source = open(a);
    take(*source, 4);
    const auto other = open(b);
    CHECK(contains(error_of([&] { other->resume(4, source->fingerprint()); }), "not the data"));
  }
  const auto stream = open_stream_windows({a}, 3, 5);
  CHECK(contains(error_of([&] { stream->resume(17, ""); }), "ends after 16 windows"));
}

TEST_CASE("windows: what cannot be trained on is refused") {
  const ScratchFolder folder;
  const auto a = write_shard(folder / "a", 0, 10);
  const auto other = write_shard(folder / "other", 0, 10, {0}, 50000);
  CHECK(
      contains(error_of([&] { open_file_windows({a}, 10, 0); }), "10 tokens do not fill a window, expected at least"));
  CHECK(open_file_windows({a}, 9, 0)->windows_per_epoch() == 1);
  CHECK(contains(error_of([&] { take(*open_stream_windows({a}, 10, 0), 1); }), "10 tokens do not fill a window"));
  CHECK(contains(error_of([&] { open_file_windows({a, other}, 3, 0); }), "vocab_size"));
  CHECK(contains(error_of([&] { open_stream_windows({a, other}, 3, 0); }), "vocab_size"));
  CHECK(contains(error_of([&] { open_file_windows({}, 3, 0); }), "no shard"));
  CHECK(contains(error_of([&] { open_stream_windows({a, folder / "missing"}, 3, 0); }), "missing"));
}

TEST_CASE("windows: batches have shifted targets, and first keys by document") {
  const std::vector<Token> ids = {9, 1, 9, 2, 3, 3, 4, 9, 5, 6};  // two windows of 4 + 1, BOS 9
  const Batch batch = make_batch(ids, 4, {9, true});
  CHECK(batch.windows == 2);
  CHECK(batch.ids == std::vector<std::int32_t>{9, 1, 9, 2, 3, 4, 9, 5});
  CHECK(batch.targets == std::vector<std::int32_t>{1, 9, 2, 3, 4, 9, 5, 6});
  CHECK(batch.first_key == std::vector<std::int32_t>{0, 0, 2, 2, 0, 0, 2, 2});
  const Batch inside = make_batch(ids, 4, {9, false});
  CHECK(inside.targets == std::vector<std::int32_t>{1, kNotScored, 2, 3, 4, kNotScored, 5, 6});
  CHECK(count_targets(inside) == 6);
  const Batch second = slice(batch, 1, 1);
  CHECK(second.ids == std::vector<std::int32_t>{3, 4, 9, 5});
  CHECK(second.first_key == std::vector<std::int32_t>{0, 0, 2, 2});
}

TEST_CASE("windows: validation scores every token but the first, once") {
  const ScratchFolder folder;
  for (const Index tokens : {2, 3, 4, 5, 6, 9, 10}) {
    TokenFiles files({write_shard(folder / "val", 0, tokens, {})});
    const ValidationWindows windows(files, 4, {60000, true});
    for (const Index at_a_time : {1, 2, 100}) {
      std::vector<std::int32_t> seen;
      for (Index first = 0; first < windows.windows(); first += at_a_time) {
        const Batch batch = windows.batch(first, std::min(at_a_time, windows.windows() - first));
        for (const std::int32_t target : batch.targets) {
          if (target != kNotScored) seen.push_back(target);
        }
      }
      std::vector<std::int32_t> expected;
      for (Index i = 1; i < tokens; ++i) expected.push_back(static_cast<std::int32_t>(i));
      CHECK(seen == expected);
    }
  }
}

TEST_CASE("windows: what is read ahead is what the source hands out, with its count and fingerprint at each batch") {
  const ScratchFolder folder;
  const std::string path = write_shard(folder / "a", 0, 83, {0, 20});
  const Targets targets{60000, false};
  for (const bool streams : {false, true}) {
    const auto open = [&] { return streams ? open_stream_windows({path}, 4, 7) : open_file_windows({path}, 4, 7); };
    const auto source = open();
    ReadAhead reading(open(), 3, 8, targets);
    for (int i = 0; i < 8; ++i) {
      const auto read = reading.next([] { return false; });
      REQUIRE(read);
      std::vector<Token> ids(3 * 5);
      const Index windows = source->next(ids);
      const Batch batch = make_batch(std::span(ids).first(static_cast<std::size_t>(windows * 5)), 4, targets);
      CHECK(read->batch.windows == windows);
      CHECK(read->batch.ids == batch.ids);
      CHECK(read->batch.targets == batch.targets);
      CHECK(read->batch.first_key == batch.first_key);
      CHECK(read->consumed == source->consumed());
      CHECK(read->fingerprint == source->fingerprint());
      CHECK(read->digests == source->digests());
      if (windows < 3) break;
    }
  }
}

TEST_CASE("windows: an error that is read ahead comes in its turn") {
  const ScratchFolder folder;
  const std::string path = write_shard(folder / "a", 0, 41);
  const std::string damaged = write_shard(folder / "b", 0, 5000);
  std::string bytes = bam::test::slurp(damaged);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  bam::test::spit(damaged, bytes);
  const auto open = [&] { return open_stream_windows({path, damaged}, 4, 7); };
  // As many windows come as without reading ahead, then the same message.
  ReadAhead reading(open(), 1, 5000, {});
  const auto source = open();
  std::vector<Token> ids(5);
  Index before = 0, ahead = 0;
  const std::string expected = error_of([&] {
    while (source->next(ids) > 0) ++before;
  });
  CHECK(contains(expected, damaged));
  CHECK(error_of([&] {
          while (reading.next([] { return false; })->batch.windows > 0) ++ahead;
        }) == expected);
  CHECK(ahead == before);
}

TEST_CASE("windows: waiting for a silent pipe can be given up") {
  const ScratchFolder folder;
  const std::string path = write_shard(folder / "a", 0, 83);
  const std::string bytes = bam::test::slurp(path);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  // Enough for the headers, then nothing.
  REQUIRE(write(ends[1], bytes.data(), bytes.size() - 200) == std::ssize(bytes) - 200);
  {
    ReadAhead reading(open_stream_windows({"/proc/self/fd/" + std::to_string(ends[0])}, 4, 7), 100, 3, {60000, true});
    int asked = 0;
    CHECK_FALSE(reading.next([&] { return ++asked == 3; }));
    CHECK(asked == 3);
    CHECK(reading.waited_s() == 0);
  }
  close(ends[1]);
  close(ends[0]);
}
