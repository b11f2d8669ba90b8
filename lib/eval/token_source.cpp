#include "eval/token_source.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "io/checkpoint.h"
#include "io/peeked_source.h"
#include "io/pipe.h"
#include "text/utf8.h"

namespace bam::eval {
struct TokenSource::State {
  State(const LoadedModel& model, TokenInput what) : loaded(model), input(std::move(what)) {}

  void open(const std::string& path) {
    auto source = std::make_unique<io::PeekedSource>(io::open_source(path), io::kBeginningBytes);
    if (source->peeked().empty()) throw Error(source->name() + ": empty, expected token shards or text");
    if (io::looks_like_shard(source->peeked())) {
      const std::string name = source->name();
      shard.emplace(std::move(source));
      const std::string difference = io::header_difference(shard->header(), loaded.tokenizer_header);
      if (!difference.empty()) {
        throw Error(name + ": does not fit the model " + loaded.name + ": " + difference +
                    ", expected shards made with the model's tokenizer");
      }
      return;
    }
    if (input.text.format == text::InputFormat::automatic && io::looks_like_checkpoint(source->peeked())) {
      throw Error(source->name() + ": a checkpoint, expected token shards or text");
    }
    const text::Tokenizer& tokenizer = *loaded.tokenizer;
    documents.emplace(io::decompress(std::move(source)), input.text,
                      [&tokenizer](std::string_view part) { return tokenizer.last_cut(part); });
    extractor.emplace(documents->format(), input.text.field);
  }

  // A file that cannot be read, or is none of ours, is refused before another is scored; a pipe opens only once.
  void look_ahead() {
    for (const std::string& path : input.paths) {
      if (io::is_pipe(path)) continue;
      open(path);
      shard.reset();
      documents.reset();
    }
  }

  // The next ids into `pending`; false at the end of all files.
  bool refill() {
    pending.clear();
    position = 0;
    while (pending.empty()) {
      if (!shard && !documents) {
        if (next_path == input.paths.size()) return false;
        open(input.paths[next_path++]);
      }
      if (shard) {
        const std::span<const io::Token> ids = shard->next();
        pending.assign(ids.begin(), ids.end());
        if (ids.empty()) shard.reset();
      } else {
        encode_record();
      }
      if (!uses_bos(input.bos)) leave_out_borders();
    }
    return true;
  }

  void encode_record() {
    text::Record record;
    if (!documents->next(record)) {
      documents.reset();
      return;
    }
    std::string_view bytes;
    const std::string problem = extractor->extract(record, bytes);
    std::string where = documents->name();
    if (record.line > 0) where.append(":").append(std::to_string(record.line));
    if (!problem.empty()) throw Error(where + ": " + problem);
    const text::Tokenizer& tokenizer = *loaded.tokenizer;
    lost_bytes.look(documents->name(), tokenizer, bytes);
    std::optional<unsigned char> lost;
    if (record.begins && record.ends) {
      lost = text::encode_document(tokenizer, bytes, pending);
    } else {
      if (record.begins) pending.push_back(tokenizer.bos_id());
      lost = tokenizer.encode_part(bytes, record.begins, pending);
      if (record.ends && tokenizer.eos_id()) pending.push_back(*tokenizer.eos_id());
    }
    if (lost) log::warning(where + ": " + text::lost_message(*lost));
  }

  void leave_out_borders() {
    std::erase_if(pending, [&](text::Token id) {
      return id == loaded.tokenizer_header.bos_id || id == loaded.tokenizer_header.eos_id;
    });
  }

  const LoadedModel& loaded;
  TokenInput input;
  std::size_t next_path = 0;
  std::optional<io::ShardReader> shard;
  std::optional<text::DocumentReader> documents;
  std::optional<text::TextExtractor> extractor;
  LostBytes lost_bytes;
  std::vector<text::Token> pending;
  std::size_t position = 0;
  Index tokens = 0;
};

void LostBytes::look(const std::string& name, const text::Tokenizer& tokenizer, std::string_view text) {
  if (is_said_ || tokenizer.fidelity() == text::Fidelity::bytes || text::is_utf8(text)) return;
  log::warning(name + ": bytes that are not UTF-8, which the model's tokenizer cannot keep: each becomes U+FFFD");
  is_said_ = true;
}

TokenSource::TokenSource(const LoadedModel& loaded, TokenInput input)
    : state_(std::make_unique<State>(loaded, std::move(input))) {
  state_->look_ahead();
}

TokenSource::~TokenSource() = default;

Index TokenSource::read(std::span<text::Token> out) {
  State& s = *state_;
  if (s.input.max_tokens > 0) {
    out = out.first(std::min(out.size(), static_cast<std::size_t>(s.input.max_tokens - s.tokens)));
  }
  std::size_t filled = 0;
  while (filled < out.size()) {
    if (s.position == s.pending.size() && !s.refill()) break;
    const std::size_t count = std::min(out.size() - filled, s.pending.size() - s.position);
    std::copy_n(s.pending.begin() + static_cast<std::ptrdiff_t>(s.position), count,
                out.begin() + static_cast<std::ptrdiff_t>(filled));
    s.position += count;
    filled += count;
  }
  s.tokens += static_cast<Index>(filled);
  return static_cast<Index>(filled);
}

Index TokenSource::tokens() const {
  return state_->tokens;
}

std::string TokenSource::name() const {
  const std::vector<std::string>& paths = state_->input.paths;
  const std::string first = io::input_name(paths.empty() ? "-" : paths.front());
  return paths.size() > 1 ? first + " and " + std::to_string(paths.size() - 1) + " more" : first;
}

ByteCounts::ByteCounts(const text::Tokenizer& tokenizer) : bos_id_(tokenizer.bos_id()) {
  for (text::Token id = 0; id < tokenizer.vocab_size(); ++id) {
    // Decoded alone, a byte that is part of a character can come back as the replacement character.
    const std::string piece = tokenizer.piece(id);
    const auto alone = static_cast<std::int32_t>(tokenizer.decode(std::vector<text::Token>{id}).size());
    const bool is_byte = piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>') && alone > 0;
    const auto twice = static_cast<std::int32_t>(tokenizer.decode(std::vector<text::Token>{id, id}).size());
    at_start_.push_back(is_byte ? 1 : alone);
    inside_.push_back(is_byte ? 1 : twice - alone);
  }
}

Index ByteCounts::operator()(text::Token id, text::Token previous) const {
  return (previous == bos_id_ ? at_start_ : inside_)[static_cast<std::size_t>(id)];
}

}  // namespace bam::eval
