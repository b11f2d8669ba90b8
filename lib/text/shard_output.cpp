#include "text/shard_output.h"

#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"

namespace bam::text {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tok.zst";

std::string shard_name(std::size_t number) {
  constexpr std::size_t kDigits = 5;
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < kDigits ? kDigits - digits.size() : 0, '0') + digits + std::string(kSuffix);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error && !fs::is_directory(folder)) throw Error(folder + ": cannot make this folder: " + error.message());
}

// The names of shards that a run may find in its folder.
std::set<std::string> own_shards(const std::optional<ShardJournal>& journal) {
  std::set<std::string> names;
  if (!journal || !journal->has_begun()) return names;
  for (const ShardJournal::Entry& entry : journal->entries()) names.insert(entry.shard);
  // One that got its name just before the run was stopped; it is made again.
  if (!journal->is_finished()) names.insert(shard_name(journal->entries().size()));
  return names;
}

// A mixture of two runs would look like one set of shards.
void require_no_shards_but(const std::set<std::string>& own, const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) throw Error(folder + ": cannot read this folder: " + error.message());
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kSuffix) || own.contains(name)) continue;
    throw Error(folder + ": holds shards already (" + name + "), expected a folder without any" +
                (own.empty() ? "" : " but those of this run"));
  }
}

}  // namespace

bool ShardOutput::is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || (path != "-" && fs::is_directory(path, ignored));
}

bool ShardOutput::is_in_folder(const std::string& file, const std::string& path) {
  if (!is_folder(path)) return false;
  const auto folder_of = [](const fs::path& name) {
    return fs::weakly_canonical(fs::absolute(name)).lexically_normal().parent_path();
  };
  return folder_of(file) == folder_of(fs::path(path) / "name");
}

ShardOutput::ShardOutput(const std::string& path, const Tokenizer& tokenizer, Options options)
    : tokenizer_(tokenizer), options_(options), path_(path) {
  if (is_folder(path)) {
    folder_ = path;
    while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
    make_folder(folder_);
    if (options_.run) journal_.emplace(folder_, *options_.run);
    require_no_shards_but(own_shards(journal_), folder_);
    // Before the first shard, so that a shard without its line is known to be of this run.
    if (journal_ && !journal_->has_begun()) journal_->begin();
  } else {
    file_ = std::make_unique<io::OutputFile>(path);
  }
}

ShardOutput::~ShardOutput() = default;

const io::OutputFile* ShardOutput::single_file() const {
  return folder_.empty() ? file_.get() : nullptr;
}

TokenizeTotals ShardOutput::before() const {
  return journal_ ? journal_->totals() : TokenizeTotals();
}

void ShardOutput::append(std::span<const Token> ids, bool ends_document, const TokenizeTotals& so_far) {
  if (!writer_) begin_shard();
  writer_->append(ids);
  if (!folder_.empty() && ends_document && writer_->tokens() >= options_.shard_tokens) end_shard(so_far);
}

void ShardOutput::begin_shard() {
  if (!folder_.empty()) {
    path_ = folder_ + "/" + shard_name(journal_ ? journal_->entries().size() : finished_.size());
    file_ = std::make_unique<io::OutputFile>(path_);
  }
  writer_ = std::make_unique<io::ShardWriter>(*file_, shard_header(tokenizer_), tokenizer_.files(), options_.writer);
}

void ShardOutput::end_shard(const TokenizeTotals& so_far) {
  io::ShardTotals totals = writer_->finish();
  writer_.reset();
  file_->commit();
  file_.reset();
  if (journal_) journal_->add({fs::path(path_).filename().string(), totals.sha256, so_far});
  finished_.push_back({path_, std::move(totals)});
}

void require_held_out(const std::string& path, const std::string& folder, const std::string& sha256) {
  const std::string expected =
      "; " + folder + " is finished, expected there what it held out, or another folder to begin anew";
  try {
    if (io::ShardFile(path).digest() != sha256) throw Error(path + ": another shard");
  } catch (const Error& error) {
    throw Error(error.what() + expected);
  }
}

const std::vector<ShardOutput::Finished>& ShardOutput::finish(const TokenizeTotals& totals,
                                                              const std::string& held_out_sha256) {
  if (!writer_ && options_.may_be_empty) begin_shard();
  if (writer_) end_shard(totals);
  if (journal_) journal_->finish(totals, held_out_sha256);
  return finished_;
}

}  // namespace bam::text
