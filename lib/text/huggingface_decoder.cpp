#include "text/huggingface_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace bam::text::huggingface {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

template <typename Change>
DecoderStep for_each(std::string name, Change change) {
  return {std::move(name),
          [change](const Texts& texts) {
            Texts changed;
            changed.reserve(texts.size(), texts.bytes());
            for (std::size_t i = 0; i < texts.size(); ++i) {
              change(texts[i], changed.last());
              changed.end();
            }
            return changed;
          },
          true};
}

// The value of <0x0A>, as the library reads it: a sign in place of the first digit is none of the number's.
std::optional<char> byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || !text.ends_with('>')) return std::nullopt;
  std::string_view digits = text.substr(3, 2);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  unsigned char value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<char>(value);
}

void add_run(std::string& run, Texts& texts) {
  if (run.empty()) return;
  if (is_utf8(run)) {
    texts.add(run);
  } else {
    for (std::size_t i = 0; i < run.size(); ++i) texts.add(kReplacement);
  }
  run.clear();
}

}  // namespace

DecoderStep replace_step(const std::string& from, const std::string& to) {
  return for_each("Replace " + from + " by " + to,
                  [=](std::string_view text, std::string& out) { append_replaced(text, from, to, out); });
}

DecoderStep strip_step(const std::string& content, std::size_t most) {
  return for_each("Strip " + std::to_string(most) + " of " + content, [=](std::string_view text, std::string& out) {
    for (std::size_t i = 0; i < most && text.starts_with(content); ++i) text.remove_prefix(content.size());
    out += text;
  });
}

DecoderStep metaspace_step(const std::string& sign, bool drops) {
  return {"Metaspace",
          [=](const Texts& texts) {
            Texts changed;
            for (std::size_t i = 0; i < texts.size(); ++i) {
              append_replaced(texts[i], sign, i == 0 && drops ? "" : " ", changed.last());
              changed.end();
            }
            return changed;
          },
          false};
}

DecoderStep byte_level_step() {
  return for_each("ByteLevel", [](std::string_view text, std::string& out) {
    const std::optional<std::string> bytes = bytes_of_characters(text);
    out += bytes ? *bytes : text;
  });
}

DecoderStep byte_fallback_step() {
  return {"ByteFallback",
          [](const Texts& texts) {
            Texts changed;
            changed.reserve(texts.size(), texts.bytes());
            std::string run;
            for (std::size_t i = 0; i < texts.size(); ++i) {
              if (const std::optional<char> byte = byte_of(texts[i])) {
                run += *byte;
                continue;
              }
              add_run(run, changed);
              changed.add(texts[i]);
            }
            add_run(run, changed);
            return changed;
          },
          false};
}

DecoderStep join_step(const std::string& between) {
  return {"Fuse",
          [=](Texts texts) {
            if (between.empty()) {
              texts.fuse();
              return texts;
            }
            Texts joined;
            for (std::size_t i = 0; i < texts.size(); ++i) {
              if (i > 0) joined.last() += between;
              joined.last() += texts[i];
            }
            joined.end();
            return joined;
          },
          false};
}

TokenDecoder::TokenDecoder(const std::vector<std::optional<std::string>>& tokens, std::vector<DecoderStep> steps)
    : steps_(std::move(steps)) {
  for (const std::optional<std::string>& token : tokens) {
    tokens_.add(token.value_or(""));
    is_token_.push_back(token.has_value());
  }
  const auto first = std::find_if(steps_.begin(), steps_.end(), [](const DecoderStep& step) { return !step.by_token; });
  for (auto step = steps_.begin(); step != first; ++step) tokens_ = step->apply(tokens_);
  steps_.erase(steps_.begin(), first);
}

std::string TokenDecoder::operator()(std::span<const Token> ids) const {
  constexpr std::size_t kBytesAnId = 5;  // more than most texts have
  Texts texts;
  texts.reserve(steps_.empty() ? 0 : ids.size(), kBytesAnId * ids.size());
  for (const Token id : ids) {
    const auto place = static_cast<std::size_t>(id);
    if (place >= is_token_.size() || !is_token_[place]) continue;
    texts.last() += tokens_[place];
    if (!steps_.empty()) texts.end();
  }
  for (const DecoderStep& step : steps_) texts = step.apply(std::move(texts));
  return std::move(texts).joined();
}

}  // namespace bam::text::huggingface
