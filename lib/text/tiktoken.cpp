#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "io/sha256.h"
#include "text/byte_level.h"
#include "text/formats.h"

namespace bam::text {
namespace {

constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// What tiktoken's own list of encodings says.
struct Encoding {
  std::string name;
  std::string sha256;  // of the rank file
  std::string pattern;
  std::vector<SpecialToken> special;
};

const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> known = {
      {"r50k_base",
       "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
       published_pattern(SplitPattern::gpt2),
       {{50256, "<|endoftext|>"}}},
      {"p50k_base",
       "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
       published_pattern(SplitPattern::gpt2),
       {{50256, "<|endoftext|>"}}},
      {"cl100k_base",
       "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
       published_pattern(SplitPattern::cl100k),
       {{100257, "<|endoftext|>"},
        {100258, "<|fim_prefix|>"},
        {100259, "<|fim_middle|>"},
        {100260, "<|fim_suffix|>"},
        {100276, "<|endofprompt|>"}}},
      {"o200k_base",
       "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
       std::string(kO200k),
       {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}},
  };
  return known;
}

// Nothing for what is not base64.
std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t bits = 0;
    std::size_t count = 0;
    for (; count < 4 && text[i + count] != '='; ++count) {
      const std::size_t digit = kDigits.find(text[i + count]);
      if (digit == std::string_view::npos) return std::nullopt;
      bits |= static_cast<std::uint32_t>(digit) << (18 - 6 * count);
    }
    const bool is_last = i + 4 == text.size();
    if (count < 2 || (count < 4 && !is_last) || (count == 2 && text[i + 3] != '=')) return std::nullopt;
    for (std::size_t byte = 0; byte + 1 < count; ++byte) bytes += static_cast<char>(bits >> (16 - 8 * byte));
  }
  return bytes;
}

struct RankLine {
  std::string bytes;
  Token rank = 0;
};

std::vector<RankLine> parse_ranks(std::string_view file, const std::string& subject) {
  constexpr std::size_t kMostBytes = 4096;
  std::vector<RankLine> lines;
  Index number = 0;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    const std::string_view line = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    ++number;
    if (line.empty()) continue;
    const auto refuse = [&] {
      throw Error(subject + ":" + std::to_string(number) +
                  ": not a line of a tiktoken rank file: base64, a blank, a rank");
    };
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) refuse();
    const std::optional<std::string> bytes = from_base64(line.substr(0, blank));
    Token rank = -1;
    const char* last = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + blank + 1, last, rank);
    if (!bytes || bytes->empty() || bytes->size() > kMostBytes || error != std::errc() || stop != last || rank < 0) {
      refuse();
    }
    lines.push_back({*bytes, rank});
  }
  if (lines.empty()) throw Error(subject + ": not a tiktoken rank file: it has no lines");
  const auto by_rank = [](const RankLine& a, const RankLine& b) { return a.rank < b.rank; };
  require_dense_ids(std::max_element(lines.begin(), lines.end(), by_rank)->rank, std::ssize(lines), subject);
  return lines;
}

void put(std::vector<BpePiece>& pieces, Token id, std::string text, std::string label, const std::string& subject) {
  const auto place = static_cast<std::size_t>(id);
  if (place >= pieces.size()) pieces.resize(place + 1, {"", "<unused>", PieceRole::nothing});
  if (pieces[place].role == PieceRole::text) throw Error(subject + ": rank " + std::to_string(id) + " twice");
  pieces[place] = {std::move(text), std::move(label), PieceRole::text};
}

std::vector<Merge> merges_of(const std::vector<BpePiece>& pieces, const std::vector<RankLine>& lines,
                             const std::string& subject) {
  const std::array<Token, 256> bytes = byte_symbols(pieces, subject);
  std::vector<RankedText> entries;
  for (const RankLine& line : lines) {
    entries.push_back({line.bytes, line.rank, static_cast<std::uint32_t>(line.rank)});
  }
  const auto units = [&](std::string_view text, std::vector<RankedText>& parts) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      parts.push_back({text.substr(i, 1), bytes[static_cast<unsigned char>(text[i])], 0});
    }
  };
  return derive_merges(entries, units);
}

struct Ranks {
  std::vector<BpePiece> pieces;
  std::vector<Merge> merges;
};

Ranks read_ranks(const Encoding& encoding, std::string_view file, const std::string& subject) {
  const std::vector<RankLine> lines = parse_ranks(file, subject);
  Ranks ranks;
  for (const RankLine& line : lines) put(ranks.pieces, line.rank, line.bytes, characters_of_bytes(line.bytes), subject);
  ranks.merges = merges_of(ranks.pieces, lines, subject);
  for (const SpecialToken& token : encoding.special) put(ranks.pieces, token.id, token.text, token.text, subject);
  return ranks;
}

std::unique_ptr<Tokenizer> make(const Encoding& encoding, std::string file, const FormatChoice& choice) {
  Ranks ranks = read_ranks(encoding, file, choice.subject);
  const std::array<Token, 256> bytes = byte_symbols(ranks.pieces, choice.subject);
  std::vector<AddedToken> added;
  for (const SpecialToken& token : encoding.special) added.push_back({token.text, token.id});
  BpeParts parts;
  parts.words = {Alphabet(bytes), MergeTable(ranks.merges), {}};
  parts.kind = "tiktoken";
  parts.name = choice.name;
  parts.files.push_back({"tokenizer.tiktoken", std::move(file)});
  parts.pieces = std::move(ranks.pieces);
  parts.special = encoding.special;
  if (choice.allow_special) parts.first = AddedTokens(std::move(added));
  parts.splitter = make_regex_splitter(encoding.pattern, SplitBehaviour::isolated, false, choice.subject);
  return make_bpe_tokenizer(std::move(parts), choice.bos, choice.subject);
}

const Encoding& encoding_of(const std::string& ranks, const std::string& subject) {
  const std::string digest = io::sha256_hex(ranks);
  std::string names;
  for (const Encoding& encoding : encodings()) {
    if (encoding.sha256 == digest) return encoding;
    names += (names.empty() ? "" : ", ") + encoding.name;
  }
  parse_ranks(ranks, subject);
  throw Error(subject + ": a tiktoken rank file that is none of " + names +
              ", so that its split pattern is not known; expected one of them, or its tokenizer.json");
}

const Encoding& encoding_named(const std::string& name) {
  for (const Encoding& known : encodings()) {
    if (known.name == name) return known;
  }
  throw UsageError(name + ": not an encoding of tiktoken that is known");
}

TokenizerJson json_of(const Encoding& encoding, const std::string& file, const std::string& subject) {
  Ranks ranks = read_ranks(encoding, file, subject);
  TokenizerJson json;
  json.byte_level = true;
  json.pattern = encoding.pattern;
  json.entries = entries_of(ranks.pieces);
  json.merges = std::move(ranks.merges);
  std::sort(json.merges.begin(), json.merges.end(), [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
  for (const SpecialToken& token : encoding.special) json.special.push_back(token.id);
  return json;
}

}  // namespace

std::unique_ptr<Tokenizer> make_tiktoken(std::string ranks, const FormatChoice& choice) {
  const Encoding& encoding = encoding_of(ranks, choice.subject);
  return make(encoding, std::move(ranks), choice);
}

TokenizerJson tiktoken_json(const std::string& ranks, const std::string& subject) {
  return json_of(encoding_of(ranks, subject), ranks, subject);
}

std::unique_ptr<Tokenizer> make_tiktoken_as(const std::string& encoding, std::string ranks,
                                            const FormatChoice& choice) {
  return make(encoding_named(encoding), std::move(ranks), choice);
}

TokenizerJson tiktoken_json_as(const std::string& encoding, const std::string& ranks, const std::string& subject) {
  return json_of(encoding_named(encoding), ranks, subject);
}

}  // namespace bam::text
