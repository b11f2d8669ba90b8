#include "text/shard_journal.h"

#include <simdjson.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/shard.h"
#include "io/stream.h"

namespace bam::text {
namespace {

constexpr Index kMostBytes = Index{256} << 20;

constexpr std::array<std::pair<const char*, Index TokenizeTotals::*>, 12> kCounts = {
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
     {"read_bytes", &TokenizeTotals::read_bytes}}};

std::string line_of(const ShardJournal::Entry* entry, const TokenizeTotals& totals) {
  io::JsonWriter json;
  json.begin_object();
  if (entry != nullptr) {
    json.field("shard", entry->shard).field("sha256", entry->sha256);
  } else {
    json.field("finished", true);
  }
  for (const auto& [name, member] : kCounts) json.field(name, totals.*member);
  return json.end_object().text() + "\n";
}

}  // namespace

std::string ShardJournal::path_in(const std::string& folder) {
  return folder + "/bam-tokenize.jsonl";
}

ShardJournal::ShardJournal(const std::string& folder, std::string run) : folder_(folder), run_(std::move(run)) {
  std::error_code error;
  if (std::filesystem::exists(path_in(folder), error)) read(io::read_file(path_in(folder), kMostBytes));
}

void ShardJournal::read(const std::string& content) {
  const std::string path = path_in(folder_);
  const std::size_t first = content.find('\n');
  if (first == std::string::npos || !content.ends_with('\n')) {
    throw Error(path + ": damaged, expected lines of JSON; with it and its shards removed the run begins anew");
  }
  if (content.substr(0, first) != run_) {
    throw Error(folder_ + ": holds shards of a run with other inputs or options (see " + path +
                "), expected the same run or an empty folder");
  }
  simdjson::dom::parser parser;
  for (std::size_t at = first + 1; at < content.size();) {
    const std::size_t end = content.find('\n', at);
    simdjson::dom::object object;
    Entry entry;
    bool is_whole = parser.parse(content.substr(at, end - at)).get(object) == simdjson::SUCCESS;
    for (const auto& [name, member] : kCounts) {
      std::int64_t count = 0;
      is_whole = is_whole && object[name].get(count) == simdjson::SUCCESS && count >= 0;
      entry.totals.*member = count;
    }
    std::string_view shard, digest;
    const bool has_shard = is_whole && object["shard"].get(shard) == simdjson::SUCCESS &&
                           object["sha256"].get(digest) == simdjson::SUCCESS;
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

void ShardJournal::finish(const TokenizeTotals& totals) {
  finished_ = totals;
  write();
}

void ShardJournal::write() const {
  io::OutputFile file(path_in(folder_));
  file.write(run_ + "\n");
  for (const Entry& entry : entries_) file.write(line_of(&entry, entry.totals));
  if (finished_) file.write(line_of(nullptr, *finished_));
  file.commit();
}

}  // namespace bam::text
