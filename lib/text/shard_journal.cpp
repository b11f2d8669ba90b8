#include "text/shard_journal.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/shard.h"
#include "io/stream.h"

namespace bam::text {
namespace {

constexpr Index kMostBytes = Index{256} << 20;

constexpr std::array<std::pair<const char*, Index TokenizeTotals::*>, 13> kCounts = {
    {{"records", &TokenizeTotals::records},
     {"documents", &TokenizeTotals::documents},
     {"tokens", &TokenizeTotals::tokens},
     {"text_bytes", &TokenizeTotals::text_bytes},
     {"empty", &TokenizeTotals::empty},
     {"skipped", &TokenizeTotals::skipped},
     {"not_utf8", &TokenizeTotals::not_utf8},
     {"lossy", &TokenizeTotals::lossy},
     {"duplicates", &TokenizeTotals::duplicates},
     {"held_out", &TokenizeTotals::held_out},
     {"files", &TokenizeTotals::files},
     {"read_bytes", &TokenizeTotals::read_bytes},
     {"input_digest", &TokenizeTotals::input_digest}}};

// Another number stands for another form of these lines, or for documents that are counted or parted in another way.
constexpr std::string_view kVersion = "{\"version\":2,";

std::string joined(std::string_view name, std::string_view json) {
  return io::json_quote(name).append(":").append(json);
}

template <typename T>
std::string array_of(const std::vector<T>& values) {
  io::JsonWriter json;
  json.begin_array();
  for (const T& value : values) json.value(value);
  return json.end_array().text();
}

// The first line, in the parts that are compared with it.
struct RunLine {
  explicit RunLine(const ShardJournal::Run& run)
      : options(joined("options", run.options) + ","),
        inputs(joined("files", array_of(run.files)) + "," + joined("bytes", array_of(run.bytes)) + ","),
        times(joined("times_ns", array_of(run.times_ns)) + "}") {}
  std::string whole() const { return std::string(kVersion) + options + inputs + times; }
  std::string options, inputs, times;
};

std::string line_of(const ShardJournal::Entry* entry, const TokenizeTotals& totals, const std::string& held_out = "") {
  io::JsonWriter json;
  json.begin_object();
  if (entry != nullptr) {
    json.field("shard", entry->shard).field("sha256", entry->sha256);
  } else {
    json.field("finished", true).field("held_out_sha256", held_out);
  }
  for (const auto& [name, member] : kCounts) json.field(name, totals.*member);
  return json.end_object().text() + "\n";
}

}  // namespace

std::string ShardJournal::path_in(const std::string& folder) {
  return folder + "/bam-tokenize.jsonl";
}

ShardJournal::Run ShardJournal::describe(std::string options, const std::vector<std::string>& files) {
  namespace fs = std::filesystem;
  Run run{std::move(options), files, {}, {}};
  for (const std::string& file : files) {
    std::error_code error;
    Index bytes = -1, time_ns = -1;
    if (file != "-" && fs::is_regular_file(file, error)) {
      bytes = static_cast<Index>(fs::file_size(file, error));
      const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(file, error));
      time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    }
    run.bytes.push_back(bytes);
    run.times_ns.push_back(time_ns);
  }
  return run;
}

ShardJournal::ShardJournal(const std::string& folder, Run run) : folder_(folder), run_(std::move(run)) {
  std::error_code error;
  if (std::filesystem::exists(path_in(folder), error)) read(io::read_file(path_in(folder), kMostBytes));
}

// Returns where the second line begins.
std::size_t ShardJournal::read_run(const std::string& content) {
  const std::string path = path_in(folder_);
  const std::size_t first = content.find('\n');
  if (first == std::string::npos || !content.ends_with('\n')) {
    throw Error(path + ": damaged, expected lines of JSON; with it and its shards removed the run begins anew");
  }
  std::string_view rest = std::string_view(content).substr(0, first);
  const auto take = [&](const std::string_view expected) {
    const bool is_so = rest.starts_with(expected);
    if (is_so) rest.remove_prefix(expected.size());
    return is_so;
  };
  const RunLine line(run_);
  const bool is_alone = first + 1 == content.size();
  if (is_alone && !rest.starts_with(std::string(kVersion) + line.options + line.inputs)) return first + 1;
  has_begun_ = true;
  if (!take(kVersion)) {
    throw Error(folder_ + ": holds shards of a run of another version of this program (see " + path +
                "), expected a folder without shards");
  }
  for (const auto& [part, name] : {std::pair(&line.options, "options"), std::pair(&line.inputs, "inputs")}) {
    if (take(*part)) continue;
    throw Error(folder_ + ": holds shards of a run with other " + name + " (see " + path +
                "), expected the same run or a folder without shards");
  }
  const bool has_pipes = std::find(run_.bytes.begin(), run_.bytes.end(), -1) != run_.bytes.end();
  has_unchanged_files_ = rest == line.times && !has_pipes;
  return first + 1;
}

void ShardJournal::read(const std::string& content) {
  const std::string path = path_in(folder_);
  const std::size_t begin = read_run(content);
  simdjson::dom::parser parser;
  for (std::size_t at = begin; at < content.size();) {
    const std::size_t end = content.find('\n', at);
    simdjson::dom::object object;
    Entry entry;
    bool is_whole = parser.parse(content.substr(at, end - at)).get(object) == simdjson::SUCCESS;
    for (const auto& [name, member] : kCounts) {
      std::int64_t count = 0;
      is_whole = is_whole && object[name].get(count) == simdjson::SUCCESS && count >= 0;
      entry.totals.*member = count;
    }
    std::string_view shard, digest, held_out;
    const bool has_shard = is_whole && object["shard"].get(shard) == simdjson::SUCCESS &&
                           object["sha256"].get(digest) == simdjson::SUCCESS;
    is_whole = is_whole && (has_shard || object["held_out_sha256"].get(held_out) == simdjson::SUCCESS);
    if (!is_whole || finished_) throw Error(path + ": damaged at byte " + std::to_string(at));
    if (has_shard) {
      entry.shard = shard;
      entry.sha256 = digest;
      if (io::ShardFile(folder_ + "/" + entry.shard).digest() != entry.sha256) {
        throw Error(folder_ + "/" + entry.shard + ": not the shard that " + path + " names");
      }
      entries_.push_back(std::move(entry));
    } else {
      finished_ = entry.totals;
      held_out_sha256_ = held_out;
    }
    at = end + 1;
  }
}

TokenizeTotals ShardJournal::totals() const {
  if (finished_) return *finished_;
  return entries_.empty() ? TokenizeTotals() : entries_.back().totals;
}

void ShardJournal::add(Entry entry) {
  entries_.push_back(std::move(entry));
  write();
}

void ShardJournal::finish(const TokenizeTotals& totals, const std::string& held_out_sha256) {
  finished_ = totals;
  held_out_sha256_ = held_out_sha256;
  write();
}

void ShardJournal::write() const {
  io::OutputFile file(path_in(folder_));
  file.write(RunLine(run_).whole() + "\n");
  for (const Entry& entry : entries_) file.write(line_of(&entry, entry.totals));
  if (finished_) file.write(line_of(nullptr, *finished_, held_out_sha256_));
  file.commit();
}

}  // namespace bam::text
