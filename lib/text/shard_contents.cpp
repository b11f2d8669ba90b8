#include "text/shard_contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "base/error.h"
#include "io/json.h"
#include "io/sha256.h"

namespace bam::text {
namespace {

// A document's ids as 128 bits of their SHA-256.
using DocumentDigest = std::string;

DocumentDigest digest_of(const std::vector<Token>& ids) {
  constexpr std::size_t kDigits = 32;
  std::string bytes(ids.size() * sizeof(Token), '\0');
  std::memcpy(bytes.data(), ids.data(), bytes.size());
  return io::sha256_hex(bytes).substr(0, kDigits);
}

// Calls `visit` with the ids of each document. Ids before the first BOS are a document, too.
template <typename Visit>
io::ShardHeader for_documents(const std::string& path, const Visit& visit) {
  io::ShardReader reader(path);
  const Token bos = reader.header().bos_id;
  std::vector<Token> document;
  for (std::span<const Token> ids = reader.next(); !ids.empty(); ids = reader.next()) {
    for (const Token id : ids) {
      if (id == bos && !document.empty()) {
        visit(document);
        document.clear();
      }
      document.push_back(id);
    }
  }
  if (!document.empty()) visit(document);
  return reader.header();
}

}  // namespace

void ContentCounts::add(std::span<const Token> ids, Token bos) {
  for (const Token id : ids) {
    if (id == bos) finish();
    ++length_;
    ++of_id_[static_cast<std::size_t>(id)];
  }
}

void ContentCounts::finish() {
  if (length_ == 0) return;
  ++of_limit_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length_ - 1)))];
  shortest_ = shortest_ == 0 ? length_ : std::min(shortest_, length_);
  longest_ = std::max(longest_, length_);
  length_ = 0;
}

std::string ContentCounts::lengths() const {
  std::string text;
  for (std::size_t i = 0; i < of_limit_.size(); ++i) {
    if (of_limit_[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text.append(std::to_string(Index{1} << i)).append(":").append(std::to_string(of_limit_[i]));
  }
  return text;
}

std::vector<std::size_t> ContentCounts::most_frequent(int most) const {
  std::vector<std::size_t> ids(of_id_.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
  const auto end = ids.begin() + std::min<std::ptrdiff_t>(most, std::ssize(ids));
  std::partial_sort(ids.begin(), end, ids.end(), [&](std::size_t a, std::size_t b) {
    return of_id_[a] > of_id_[b] || (of_id_[a] == of_id_[b] && a < b);
  });
  ids.erase(end, ids.end());
  std::erase_if(ids, [&](std::size_t id) { return of_id_[id] == 0; });
  return ids;
}

std::string ContentCounts::frequent(int most) const {
  std::string text;
  for (const std::size_t id : most_frequent(most)) {
    if (!text.empty()) text += ' ';
    text.append(std::to_string(id)).append(":").append(std::to_string(of_id_[id]));
  }
  return text;
}

std::string ContentCounts::frequent_pieces(int most, const Tokenizer& tokenizer) const {
  io::JsonWriter json;
  json.begin_array();
  for (const std::size_t id : most_frequent(most)) json.value(tokenizer.piece(static_cast<Token>(id)));
  return json.end_array().text();
}

Index ContentCounts::distinct() const {
  return std::count_if(of_id_.begin(), of_id_.end(), [](Index count) { return count > 0; });
}

void write_leaks(const std::string& held_out, const std::vector<std::string>& paths, io::ByteSink& sink,
                 io::TableFormat format, bool header) {
  std::unordered_set<DocumentDigest> known;
  const io::ShardHeader expected =
      for_documents(held_out, [&](const std::vector<Token>& ids) { known.insert(digest_of(ids)); });
  static const std::vector<io::Column> columns = {{"file", io::ColumnType::text},
                                                  {"documents", io::ColumnType::integer},
                                                  {"shared", io::ColumnType::integer},
                                                  {"held_out_documents", io::ColumnType::integer}};
  std::optional<io::TableWriter> table;  // not before there is a row: what fails leaves no header behind
  Index all_shared = 0;
  for (const std::string& path : paths) {
    Index documents = 0, shared = 0;
    const io::ShardHeader found = for_documents(path, [&](const std::vector<Token>& ids) {
      ++documents;
      if (known.contains(digest_of(ids))) ++shared;
    });
    if (const std::string difference = io::header_difference(expected, found); !difference.empty()) {
      throw Error(io::input_name(path) + ": differs from " + held_out + " in " + difference);
    }
    if (!table) table.emplace(sink, format, columns, header);
    table->row({io::input_name(path), documents, shared, static_cast<Index>(known.size())});
    all_shared += shared;
  }
  if (all_shared > 0) {
    throw Error(held_out + ": " + std::to_string(all_shared) +
                " documents of the other shards are in it, expected none");
  }
}

}  // namespace bam::text
