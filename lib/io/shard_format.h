// The pieces of a token shard as bytes, shared by its writer and its two readers. For use inside this box.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/sha256.h"
#include "io/shard.h"

namespace bam::io::shard_format {

inline constexpr std::uint32_t kHeaderMagic = 0x184D2A50;
inline constexpr std::uint32_t kTokenizerMagic = 0x184D2A51;
inline constexpr std::uint32_t kTotalsMagic = 0x184D2A52;
inline constexpr std::uint32_t kSeekTableMagic = 0x184D2A5E;
inline constexpr std::uint32_t kZstdMagic = 0xFD2FB528;
inline constexpr std::uint32_t kSeekFooterMagic = 0x8F92EAB1;

inline constexpr Index kSkippableHeadBytes = 8;  // magic, size
inline constexpr Index kSeekEntryBytes = 8;      // compressed size, content size
inline constexpr Index kSeekFooterBytes = 9;     // number of frames, descriptor, magic
inline constexpr Index kZstdHeadBytes = 18;      // the longest head of a zstd frame (RFC 8878)
inline constexpr Index kMaxHeaderBytes = 1 << 16;
inline constexpr Index kMaxTokenizerBytes = Index{1} << 30;
inline constexpr Index kMaxTotalsBytes = 1 << 12;
inline constexpr Index kMaxFrameTokens = 1 << 22;
inline constexpr Index kMaxFrames = 1 << 27;

// One line of the seek table. Skippable frames have content 0.
struct SeekEntry {
  std::uint32_t compressed_bytes = 0;
  std::uint32_t content_bytes = 0;
};

Index bytes_of(TokenWidth width);

std::string skippable_frame(std::uint32_t magic, std::string_view content);

std::string encode_header(const ShardHeader& header);
// Throws Error "SUBJECT: ..." for anything but a header of this version whose numbers can be.
ShardHeader decode_header(std::string_view json, const std::string& subject);
// Throws Error("SUBJECT: ...") unless ids, widths and sizes fit each other.
void check_header(const ShardHeader& header, const std::string& subject);

// The seek table's frame for the frames before it.
std::string encode_seek_table(std::span<const SeekEntry> entries);

// The totals' own digests: totals.sha256 covers every byte of the shard before its first digit; index_sha256 the header
// frame, the tokenizer frame, the totals frame before its first digit, and the seek table frame, which is what opening
// a file reads, so that opening needs no pass over the ids.
struct Totals {
  ShardTotals totals;
  std::string index_sha256;
};

// What stands behind the last data frame.
struct Tail {
  Totals totals;
  std::string totals_frame;
  std::string seek_table_frame;
};

// `entries` are those of all frames before the totals, `digest` has seen all their bytes, `index_digest` the first two
// frames. A reader makes the tail from what it has read and requires the same bytes.
Tail make_tail(Index tokens, Index documents, std::vector<SeekEntry> entries, Sha256 digest, Sha256 index_digest);

// Reads a totals frame's content and requires its exact form; the digests are compared by the caller.
// Throws Error "SUBJECT: damaged shard...".
Totals decode_totals(std::string_view content, const std::string& subject);

// The part of the totals frame that index_sha256 covers.
std::string_view indexed_part(std::string_view totals_frame);

// What a zstd frame's head promises. Throws Error "SUBJECT: damaged shard..." unless it is a frame with content size
// and checksum, without dictionary, of 1 to max_tokens ids.
Index frame_content_bytes(std::string_view head, const ShardHeader& header, const std::string& subject);

// Ids out of a decoded frame, each checked against the vocabulary; returns how many are BOS.
Index decode_ids(std::string_view bytes, const ShardHeader& header, const std::string& subject,
                 std::vector<Token>& ids);

// What was thrown about one frame, with the frame in it: as the seek table counts them, from 0 within its member.
[[noreturn]] void rethrow_for_frame(const Error& error, std::size_t member, std::size_t frame);

[[noreturn]] void fail_truncated(const std::string& subject);
[[noreturn]] void fail_damaged(const std::string& subject, const std::string& what);

}  // namespace bam::io::shard_format
