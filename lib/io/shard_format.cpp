#include "io/shard_format.h"

#include <simdjson.h>
#include <zstd.h>

#include <limits>

#include "base/error.h"
#include "io/bytes.h"
#include "io/json.h"

namespace bam::io::shard_format {
namespace {

constexpr std::string_view kFormat = "bam-tokens";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kDigestDigits = 64;
constexpr std::string_view kAfterLastDigest = "\"}";

std::string_view text_of(TokenWidth width) {
  return width == TokenWidth::u16 ? "u16" : "u32";
}

std::string totals_text(const Totals& totals) {
  JsonWriter json;
  json.begin_object()
      .field("tokens", totals.totals.tokens)
      .field("documents", totals.totals.documents)
      .field("sha256", totals.totals.sha256)
      .field("index_sha256", totals.index_sha256)
      .end_object();
  return json.text();
}

template <typename T>
T get(simdjson::dom::element object, const char* name, const char* kind, const std::string& subject) {
  T value;
  if (object[name].get(value) != simdjson::SUCCESS) {
    throw Error(subject + ": damaged shard header, expected " + kind + " named '" + name + "'");
  }
  return value;
}

Index get_integer(simdjson::dom::element object, const char* name, const std::string& subject) {
  return get<std::int64_t>(object, name, "an integer", subject);
}

std::string get_text(simdjson::dom::element object, const char* name, const std::string& subject) {
  return std::string(get<std::string_view>(object, name, "a string", subject));
}

Token to_id(Index value, const std::string& subject) {
  if (value < 0 || value > std::numeric_limits<Token>::max()) {
    throw Error(subject + ": special token id " + std::to_string(value) + ", expected 0 to 2147483647");
  }
  return static_cast<Token>(value);
}

}  // namespace

void fail_truncated(const std::string& subject) {
  throw Error(subject + ": truncated shard, expected more bytes");
}

void fail_damaged(const std::string& subject, const std::string& what) {
  throw Error(subject + ": damaged shard: " + what);
}

void rethrow_for_frame(const Error& error, std::size_t member, std::size_t frame) {
  std::string where = " (frame " + std::to_string(frame);
  if (member > 0) where += " of member " + std::to_string(member + 1);
  throw Error(error.what() + where + ")");
}

Index bytes_of(TokenWidth width) {
  return width == TokenWidth::u16 ? 2 : 4;
}

std::string skippable_frame(std::uint32_t magic, std::string_view content) {
  if (content.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("a skippable frame of " + std::to_string(content.size()) + " bytes, expected less than 4 GiB");
  }
  std::string frame;
  append_u32(frame, magic);
  append_u32(frame, static_cast<std::uint32_t>(content.size()));
  frame += content;
  return frame;
}

std::string encode_header(const ShardHeader& header) {
  JsonWriter json;
  json.begin_object().field("format", kFormat).field("version", kVersion).field("dtype", text_of(header.width));
  json.field("vocab_size", header.vocab_size).field("bos_id", Index{header.bos_id}).key("eos_id");
  if (header.eos_id) {
    json.value(Index{*header.eos_id});
  } else {
    json.value(nullptr);
  }
  json.field("frame_tokens", header.frame_tokens).key("tokenizer").begin_object();
  json.field("name", header.tokenizer_name).field("kind", header.tokenizer_kind);
  json.field("sha256", header.tokenizer_sha256).end_object().end_object();
  return json.text();
}

ShardHeader decode_header(std::string_view json, const std::string& subject) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(simdjson::padded_string(json)).get(root) != simdjson::SUCCESS || !root.is_object()) {
    throw Error(subject + ": damaged shard header, expected a JSON object");
  }
  if (get_text(root, "format", subject) != kFormat) {
    throw Error(subject + ": not a token shard, expected format bam-tokens");
  }
  if (const Index version = get_integer(root, "version", subject); version != kVersion) {
    throw Error(subject + ": token shard of version " + std::to_string(version) + ", expected version 1");
  }
  const std::string width = get_text(root, "dtype", subject);
  if (width != "u16" && width != "u32") throw Error(subject + ": ids of type '" + width + "', expected u16 or u32");
  ShardHeader header;
  header.width = width == "u16" ? TokenWidth::u16 : TokenWidth::u32;
  header.vocab_size = get_integer(root, "vocab_size", subject);
  header.bos_id = to_id(get_integer(root, "bos_id", subject), subject);
  if (!get<simdjson::dom::element>(root, "eos_id", "an integer or null", subject).is_null()) {
    header.eos_id = to_id(get_integer(root, "eos_id", subject), subject);
  }
  header.frame_tokens = get_integer(root, "frame_tokens", subject);
  const auto tokenizer = get<simdjson::dom::element>(root, "tokenizer", "an object", subject);
  header.tokenizer_name = get_text(tokenizer, "name", subject);
  header.tokenizer_kind = get_text(tokenizer, "kind", subject);
  header.tokenizer_sha256 = get_text(tokenizer, "sha256", subject);
  check_header(header, subject);
  return header;
}

void check_header(const ShardHeader& header, const std::string& subject) {
  const Index limit = header.width == TokenWidth::u16 ? Index{1} << 16 : Index{std::numeric_limits<Token>::max()};
  const auto text = [](Index number) { return std::to_string(number); };
  if (header.vocab_size < 1 || header.vocab_size > limit) {
    throw Error(subject + ": vocab_size " + text(header.vocab_size) + ", expected 1 to " + text(limit) +
                " for ids of " + text(8 * bytes_of(header.width)) + " bits");
  }
  for (const Index id : {Index{header.bos_id}, Index{header.eos_id.value_or(0)}}) {
    if (id < 0 || id >= header.vocab_size) {
      throw Error(subject + ": special token id " + text(id) + ", expected less than vocab_size " +
                  text(header.vocab_size));
    }
  }
  if (header.frame_tokens < 1 || header.frame_tokens > kMaxFrameTokens) {
    throw Error(subject + ": frame_tokens " + text(header.frame_tokens) + ", expected 1 to " + text(kMaxFrameTokens));
  }
}

std::string encode_seek_table(std::span<const SeekEntry> entries) {
  std::string content;
  for (const SeekEntry& entry : entries) {
    append_u32(content, entry.compressed_bytes);
    append_u32(content, entry.content_bytes);
  }
  append_u32(content, static_cast<std::uint32_t>(entries.size()));
  content += '\0';  // descriptor: no checksums here, the frames have their own
  append_u32(content, kSeekFooterMagic);
  return skippable_frame(kSeekTableMagic, content);
}

Tail make_tail(Index tokens, Index documents, std::vector<SeekEntry> entries, Sha256 digest, Sha256 index_digest) {
  Tail tail;
  const std::string blank(kDigestDigits, '0');
  tail.totals = {{tokens, documents, blank}, blank};
  std::string frame = skippable_frame(kTotalsMagic, totals_text(tail.totals));

  const std::size_t index_place = frame.size() - kAfterLastDigest.size() - kDigestDigits;
  const std::size_t digest_place = frame.find(blank);
  digest.update(std::string_view(frame).substr(0, digest_place));
  tail.totals.totals.sha256 = digest.hex();
  frame.replace(digest_place, kDigestDigits, tail.totals.totals.sha256);

  entries.push_back({static_cast<std::uint32_t>(frame.size()), 0});
  tail.seek_table_frame = encode_seek_table(entries);
  index_digest.update(std::string_view(frame).substr(0, index_place));
  index_digest.update(tail.seek_table_frame);
  tail.totals.index_sha256 = index_digest.hex();
  frame.replace(index_place, kDigestDigits, tail.totals.index_sha256);
  tail.totals_frame = std::move(frame);
  return tail;
}

Totals decode_totals(std::string_view content, const std::string& subject) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  Totals totals;
  std::string_view sha256;
  std::string_view index_sha256;
  const bool parsed = parser.parse(simdjson::padded_string(content)).get(root) == simdjson::SUCCESS &&
                      root["tokens"].get(totals.totals.tokens) == simdjson::SUCCESS &&
                      root["documents"].get(totals.totals.documents) == simdjson::SUCCESS &&
                      root["sha256"].get(sha256) == simdjson::SUCCESS &&
                      root["index_sha256"].get(index_sha256) == simdjson::SUCCESS;
  if (!parsed) fail_damaged(subject, "its totals cannot be read");
  totals.totals.sha256 = sha256;
  totals.index_sha256 = index_sha256;
  const bool exact = sha256.size() == kDigestDigits && index_sha256.size() == kDigestDigits &&
                     totals.totals.tokens >= 0 && totals.totals.documents >= 0 && totals_text(totals) == content;
  if (!exact) fail_damaged(subject, "its totals have another form than expected");
  return totals;
}

std::string_view indexed_part(std::string_view totals_frame) {
  return totals_frame.substr(0, totals_frame.size() - kAfterLastDigest.size() - kDigestDigits);
}

Index frame_content_bytes(std::string_view head, const ShardHeader& header, const std::string& subject) {
  constexpr unsigned kChecksumFlag = 4;
  constexpr unsigned kDictionaryFlags = 3;
  if (head.size() < 6) fail_damaged(subject, "a data frame without a head");
  const auto descriptor = static_cast<unsigned char>(head[4]);
  if (load_u32(head) != kZstdMagic || (descriptor & kChecksumFlag) == 0 || (descriptor & kDictionaryFlags) != 0) {
    fail_damaged(subject, "expected a zstd frame with a checksum and without a dictionary");
  }
  const unsigned long long bytes = ZSTD_getFrameContentSize(head.data(), head.size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR) {
    fail_damaged(subject, "a data frame without its content size");
  }
  const auto width = static_cast<unsigned long long>(bytes_of(header.width));
  if (bytes == 0 || bytes % width != 0 || bytes / width > static_cast<unsigned long long>(header.frame_tokens)) {
    fail_damaged(subject, "a data frame of " + std::to_string(bytes) + " bytes, expected ids of " +
                              std::to_string(width) + " bytes, 1 to " + std::to_string(header.frame_tokens));
  }
  return static_cast<Index>(bytes);
}

Index decode_ids(std::string_view bytes, const ShardHeader& header, const std::string& subject,
                 std::vector<Token>& ids) {
  const auto width = static_cast<std::size_t>(bytes_of(header.width));
  ids.resize(bytes.size() / width);
  const auto* raw = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto vocab = static_cast<std::uint32_t>(header.vocab_size);
  const auto bos = static_cast<std::uint32_t>(header.bos_id);
  Index documents = 0;
  for (std::size_t i = 0; i < ids.size(); ++i, raw += width) {
    std::uint32_t id = raw[0] | static_cast<std::uint32_t>(raw[1]) << 8U;
    if (width == 4) id |= static_cast<std::uint32_t>(raw[2]) << 16U | static_cast<std::uint32_t>(raw[3]) << 24U;
    if (id >= vocab) {
      throw Error(subject + ": token id " + std::to_string(id) + ", expected less than vocab_size " +
                  std::to_string(vocab));
    }
    documents += id == bos ? 1 : 0;
    ids[i] = static_cast<Token>(id);
  }
  return documents;
}

}  // namespace bam::io::shard_format
