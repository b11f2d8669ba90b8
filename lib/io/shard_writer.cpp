#include <algorithm>
#include <limits>

#include "base/error.h"
#include "io/bytes.h"
#include "io/frame_compressor.h"
#include "io/sha256.h"
#include "io/shard.h"
#include "io/shard_format.h"

namespace bam::io {

namespace format = shard_format;

namespace {

ShardWriter::Options checked(ShardWriter::Options options) {
  if (options.level < 1 || options.level > 19) {
    throw UsageError("compression level " + std::to_string(options.level) + ", expected 1 to 19");
  }
  if (options.threads < 1) throw UsageError(std::to_string(options.threads) + " threads, expected at least 1");
  return options;
}

void append_ids(std::string& out, std::span<const Token> ids, TokenWidth width) {
  const auto bytes = static_cast<std::size_t>(format::bytes_of(width));
  std::size_t at = out.size();
  out.resize(at + ids.size() * bytes);
  for (const Token id : ids) {
    const auto bits = static_cast<std::uint32_t>(id);
    for (std::size_t byte = 0; byte < bytes; ++byte) out[at++] = static_cast<char>(bits >> (8 * byte) & 0xFFU);
  }
}

// Returns ids.end() where all are in the vocabulary.
auto first_outside(std::span<const Token> ids, Index vocab_size) {
  return std::find_if(ids.begin(), ids.end(), [=](Token id) { return id < 0 || id >= vocab_size; });
}

}  // namespace

struct ShardWriter::State {
  State(ByteSink& to, ShardHeader described, Options options)
      : sink(to), header(std::move(described)), compressor(options.level, options.threads) {}

  void put(std::string_view frame, Index content_bytes) {
    if (static_cast<Index>(entries.size()) >= format::kMaxFrames - 2) {
      throw Error(sink.name() + ": too many tokens for one shard, expected at most " +
                  std::to_string(format::kMaxFrames) + " frames");
    }
    entries.push_back({static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(content_bytes)});
    digest.update(frame);
    sink.write(frame);
  }

  void put_index(const std::string& frame) {
    index_digest.update(frame);
    put(frame, 0);
  }

  void put_oldest() {
    const CompressedFrame frame = compressor.take();
    put(frame.compressed, static_cast<Index>(frame.content.size()));
  }

  void submit() {
    if (compressor.is_full()) put_oldest();
    compressor.submit(std::move(content));
    content.clear();
  }

  ByteSink& sink;
  ShardHeader header;
  FrameCompressor compressor;
  std::string content;  // of the frame that is filling up
  std::vector<format::SeekEntry> entries;
  Sha256 digest;
  Sha256 index_digest;
  Index tokens = 0;
  Index documents = 0;
};

ShardWriter::ShardWriter(ByteSink& sink, ShardHeader header, const std::vector<TokenizerFile>& files)
    : ShardWriter(sink, std::move(header), files, Options{}) {}

ShardWriter::ShardWriter(ByteSink& sink, ShardHeader header, const std::vector<TokenizerFile>& files, Options options) {
  const std::string blob = pack_tokenizer_files(files);
  const std::string digest = sha256_hex(blob);
  if (!header.tokenizer_sha256.empty() && header.tokenizer_sha256 != digest) {
    throw Error(sink.name() + ": the tokenizer's digest is not that of its files");
  }
  header.tokenizer_sha256 = digest;
  header.frame_tokens = kFrameTokens;
  format::check_header(header, sink.name());
  const std::string text = format::encode_header(header);
  if (static_cast<Index>(text.size()) > format::kMaxHeaderBytes) {
    throw Error(sink.name() + ": the tokenizer's name is too long for a shard header");
  }
  state_ = std::make_unique<State>(sink, std::move(header), checked(options));
  state_->put_index(format::skippable_frame(format::kHeaderMagic, text));
  state_->put_index(format::skippable_frame(format::kTokenizerMagic, blob));
}

ShardWriter::~ShardWriter() = default;

void ShardWriter::append(std::span<const Token> tokens) {
  State& state = *state_;
  if (const auto bad = first_outside(tokens, state.header.vocab_size); bad != tokens.end()) {
    throw Error(state.sink.name() + ": token id " + std::to_string(*bad) + ", expected 0 to less than vocab_size " +
                std::to_string(state.header.vocab_size));
  }
  const auto bytes = static_cast<std::size_t>(format::bytes_of(state.header.width));
  for (std::span<const Token> rest = tokens; !rest.empty();) {
    const std::size_t room = static_cast<std::size_t>(kFrameTokens) - state.content.size() / bytes;
    append_ids(state.content, rest.first(std::min(room, rest.size())), state.header.width);
    if (rest.size() >= room) state.submit();
    rest = rest.subspan(std::min(room, rest.size()));
  }
  state.tokens += static_cast<Index>(tokens.size());
  state.documents += std::count(tokens.begin(), tokens.end(), state.header.bos_id);
}

Index ShardWriter::tokens() const {
  return state_->tokens;
}

Index ShardWriter::documents() const {
  return state_->documents;
}

ShardTotals ShardWriter::finish() {
  State& state = *state_;
  if (!state.content.empty()) state.submit();
  while (!state.compressor.is_empty()) state.put_oldest();
  const format::Tail tail = format::make_tail(state.tokens, state.documents, state.entries, std::move(state.digest),
                                              std::move(state.index_digest));
  state.sink.write(tail.totals_frame);
  state.sink.write(tail.seek_table_frame);
  return tail.totals.totals;
}

}  // namespace bam::io
