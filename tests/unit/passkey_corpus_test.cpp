// boxes: eval model text io kernels base
#include "eval/passkey_corpus.h"

#include <algorithm>
#include <map>
#include <set>

#include "eval/passkey_prompts.h"
#include "eval/passkey_wording.h"
#include "eval/passkey_words.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

// Ordinary text that holds what must not be learnt.
std::string tempting_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "Paragraph " + std::to_string(i) + " tells of a pass key and of Passkeys. The grass is green. The sky is ";
    text += "blue. Here we go. There and back again. What is the pass key? I will quiz you about the important ";
    text += "things. Some lines are harmless, and speak of bread, of roads and of the weather in the north.\n\n";
  }
  return text;
}

std::vector<CorpusDocument> documents(const text::Tokenizer& tokenizer, const CorpusTask& task, int count) {
  PasskeyCorpus corpus(tokenizer, task);
  std::vector<CorpusDocument> all;
  for (int i = 0; i < count; ++i) all.push_back(corpus.next());
  return all;
}

std::unique_ptr<text::Tokenizer> pieces() {
  return text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("passkey corpus: whole documents fill every window") {
  const auto check = [](const text::Tokenizer& tokenizer, Index max_tokens) {
    Index at = 0;
    for (const CorpusDocument& document :
         documents(tokenizer, {.max_tokens = max_tokens, .filler_text = tempting_text(), .seed = 3}, 1500)) {
      std::vector<text::Token> ids;
      text::encode_document(tokenizer, document.text, ids);
      REQUIRE(document.tokens == std::ssize(ids));
      REQUIRE(at / max_tokens == (at + document.tokens - 1) / max_tokens);
      at += document.tokens;
    }
  };
  check(*text::open_tokenizer("bytes"), 300);
  check(*text::open_tokenizer("bytes"), 1000);
  check(*pieces(), 128);
}

TEST_CASE("passkey corpus: the evaluation's wording is told from others") {
  CHECK(repeats_passkey_wording(kPasskeyDescription));
  CHECK(repeats_passkey_wording(kPasskeyFiller));
  CHECK(repeats_passkey_wording(kPasskeyQuestion));
  CHECK(repeats_passkey_wording(passkey_line("123")));
  CHECK(repeats_passkey_wording("a PASS-KEY"));
  CHECK(repeats_passkey_wording("two passkeys"));
  CHECK(repeats_passkey_wording("... then, the grass is GREEN"));
  CHECK(repeats_passkey_wording("back again the grass"));
  CHECK_FALSE(repeats_passkey_wording("The grass is wet, the key is here. What is the harbour code?"));
  CHECK_FALSE(repeats_passkey_wording("a pass, a key, bypass keys"));
  CHECK_FALSE(repeats_passkey_wording(""));
  // The prompt itself, from its own maker: every sentence of it is in what is looked for.
  const auto tokenizer = text::open_tokenizer("bytes");
  const PasskeyPrompt prompt = PasskeyPrompts(*tokenizer, {.samples = 1}).make(1000, 0);
  const std::string text = tokenizer->decode(prompt.ids);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(".?", at), text.size() - 1) + 1;
    const std::string sentence = text.substr(at, end - at);
    if (std::count(sentence.begin(), sentence.end(), ' ') > 3) CHECK(repeats_passkey_wording(sentence));
    at = end;
  }
}

TEST_CASE("passkey corpus: the evaluation's wording is in no document unless asked for") {
  const std::vector<std::string> phrases = {"pass key",       "passkey",         "pass-key",    "remember it. ",
                                            "grass is",       "the sky is blue", "sun is",      "here we go. there",
                                            "there and back", "irrelevant",      "find it and", "quiz you about"};
  const auto tokenizer = pieces();
  const auto found = [&](const std::vector<CorpusDocument>& all) {
    std::set<std::string> hits;
    for (const CorpusDocument& document : all) {
      for (const std::string& phrase : phrases) {
        if (contains(lower(document.text), phrase)) hits.insert(phrase);
      }
    }
    return hits;
  };
  CHECK(found(documents(*tokenizer, {.max_tokens = 256, .seed = 1}, 3000)).empty());
  // Parts of the tempting text that are shorter than four words of it may stand at a cut.
  const auto tempted =
      found(documents(*tokenizer, {.max_tokens = 256, .filler_text = tempting_text(), .seed = 1}, 3000));
  for (const char* phrase : {"pass key", "passkey", "the sky is blue", "here we go. there", "quiz you about the"})
    CHECK(tempted.count(phrase) == 0);

  int exact = 0;
  int passkeys = 0;
  for (const CorpusDocument& document : documents(*tokenizer, {.max_tokens = 256, .exact_share = 0.5}, 2000)) {
    if (document.kind != CorpusKind::passkey) continue;
    ++passkeys;
    exact += document.exact ? 1 : 0;
    CHECK(document.exact == contains(document.text, "What is the pass key? The pass key is " + document.key));
    CHECK(document.exact == contains(document.text, passkey_line(document.key)));
  }
  CHECK(exact > passkeys / 4);
  CHECK(exact < passkeys);
}

TEST_CASE("passkey corpus: what is asked for has been told") {
  const auto tokenizer = pieces();
  for (const CorpusDocument& document : documents(*tokenizer, {.max_tokens = 200, .seed = 2}, 1500)) {
    if (document.kind == CorpusKind::passkey) {
      CHECK(document.key.size() >= 3);
      CHECK(document.key.size() <= 8);
      CHECK(document.key.front() != '0');
      CHECK(occurrences(document.text, document.key) >= 2);
      CHECK(contains(document.text, "is " + document.key + "."));
    } else {
      CHECK(document.key.empty());
    }
    if (document.kind != CorpusKind::copy) continue;
    bool halves = false;
    for (const std::string_view word : words::repeats()) {
      const std::string middle = std::string(" ").append(word).append(" ");
      const std::size_t at = document.text.find(middle);
      halves = halves ||
               (at != std::string::npos && document.text.substr(0, at) == document.text.substr(at + middle.size()));
    }
    CHECK(halves);
  }
}

TEST_CASE("passkey corpus: kinds have their shares of the tokens") {
  std::map<CorpusKind, double> tokens;
  double all = 0;
  for (const CorpusDocument& document : documents(*pieces(), {.max_tokens = 128, .seed = 5}, 4000)) {
    tokens[document.kind] += static_cast<double>(document.tokens);
    if (document.kind != CorpusKind::text) all += static_cast<double>(document.tokens);
  }
  CHECK(tokens[CorpusKind::passkey] / all == Approx(0.50).margin(0.02));
  CHECK(tokens[CorpusKind::list] / all == Approx(0.36).margin(0.02));
  CHECK(tokens[CorpusKind::copy] / all == Approx(0.14).margin(0.02));
  CHECK(tokens[CorpusKind::text] / all < 0.1);
}

TEST_CASE("passkey corpus: six keys in ten have two or three different digits") {
  Rng rng(9);
  int few = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string key = words::key(rng);
    if (key.size() == 8 && std::set<char>(key.begin(), key.end()).size() <= 4) ++few;
  }
  // One key in six has eight digits: 667, of which 400 are drawn from two or three, and the first digit may add one; of
  // the 267 others one in eleven has four different ones or fewer.
  CHECK(few > 360);
  CHECK(few < 490);
}

TEST_CASE("passkey corpus: the seed alone decides, and a longer corpus begins like a shorter one") {
  const auto tokenizer = pieces();
  const auto lines = [&](std::uint64_t seed, int count) {
    std::string all;
    for (const CorpusDocument& document : documents(*tokenizer, {.seed = seed}, count))
      all += corpus_line(document) + "\n";
    return all;
  };
  CHECK(lines(1, 50) == lines(1, 50));
  CHECK(lines(1, 80).starts_with(lines(1, 50)));
  CHECK(lines(1, 50) != lines(2, 50));
}

TEST_CASE("passkey corpus: a window that holds no passkey document is refused") {
  const auto tokenizer = text::open_tokenizer("bytes");
  CHECK(contains(error_of([&] { PasskeyCorpus(*tokenizer, {.max_tokens = 40}); }),
                 "--max-tokens: 40 tokens are too few, expected at least "));
  const CorpusDocument document = documents(*tokenizer, {.max_tokens = 110}, 1).front();
  CHECK(document.tokens <= 110);
  CHECK(corpus_line({.kind = CorpusKind::passkey, .text = "a \"b\"", .key = "12", .tokens = 7}) ==
        "{\"text\":\"a \\\"b\\\"\",\"kind\":\"passkey\",\"tokens\":7,\"key\":\"12\",\"exact\":false}");
}
