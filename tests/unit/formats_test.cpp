// boxes: text io base
#include "text/formats.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_bpe.h"
#include "text/bpe_tokenizer.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

FormatChoice choice(const std::string& bos = "", bool allow_special = false) {
  return {"tiny", "tiny.json", {bos, std::nullopt}, allow_special};
}

std::unique_ptr<Tokenizer> huggingface(const std::string& parts, const std::string& model = "",
                                       bool allow_special = false) {
  return make_huggingface(tiny_tokenizer_json(parts, model), choice("", allow_special));
}

// A small alphabet of characters with byte fallback, as Llama 2 has it.
std::string character_json(const std::string& parts) {
  bam::io::JsonWriter vocabulary;
  std::int64_t id = 0;
  vocabulary.begin_object();
  for (const std::string token : {"<unk>", "<s>", "</s>"}) vocabulary.field(token, id++);
  const std::string digits = "0123456789ABCDEF";
  for (std::size_t i = 0; i < 256; ++i) {
    const std::array<char, 6> name = {'<', '0', 'x', digits[i / 16], digits[i % 16], '>'};
    vocabulary.field(std::string_view(name.data(), name.size()), id++);
  }
  for (const std::string token : {"\xE2\x96\x81", "a", "b", "\xC3\xA9",
                                  "\xE2\x96\x81"
                                  "a",
                                  "ab",
                                  "\xE2\x96\x81"
                                  "ab",
                                  "\xE2\x96\x81\xE2\x96\x81"}) {
    vocabulary.field(token, id++);
  }
  vocabulary.end_object();
  return R"({"added_tokens":[{"id":0,"content":"<unk>","special":true},{"id":1,"content":"<s>","special":true,"normalized":false},{"id":2,"content":"</s>","special":true,"normalized":false}],)" +
         parts + R"("model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":)" +
         vocabulary.text() +
         ",\"merges\":[[\"a\",\"b\"],[\"\xE2\x96\x81\",\"a\"],[\"\xE2\x96\x81\",\"ab\"],[\"\xE2\x96\x81\","
         "\"\xE2\x96\x81\"]]}}";
}

const std::string kLlamaParts =
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"}]},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"},"
    "\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \","
    "\"start\":1,\"stop\":0}]},"
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},"
    "{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{\"id\":\"</s>\"}}],\"special_tokens\":{"
    "\"<s>\":{\"ids\":[1]},\"</s>\":{\"ids\":[2]}}},";

std::string some_text(bam::Rng& rng) {
  const std::vector<std::string> signs = {
      "the", " the", "hello",        "aaaaaaa", "\n\n\n", "  ",   "\xC3\xA9",
      "'ll", "1234", "\xE4\xB8\xAD", "<|end|>", "\xFF",   "\r\n", std::string(1, '\0'),
      "!"};
  std::string text;
  for (std::uint64_t i = rng.below(20); i > 0; --i) text += signs[rng.below(signs.size())];
  return text;
}

}  // namespace

TEST_CASE("formats: one vocabulary gives the same ids from every format") {
  const ScratchFolder folder;
  spit(folder / "tiny-vocab.json", tiny_vocabulary_json(true));
  spit(folder / "tiny-merges.txt", tiny_merges_text());
  spit(folder / "tokenizer.json", tiny_tokenizer_json(kTinyByteLevel));
  const auto gpt2 = open_tokenizer(folder / "tiny-vocab.json");
  const auto json = open_tokenizer(folder / "tokenizer.json");
  CHECK(gpt2->kind() == "gpt2");
  CHECK(gpt2->name() == "tiny");
  CHECK(json->kind() == "huggingface");
  CHECK(json->name() == "tokenizer");
  CHECK(open_tokenizer(folder / "tiny-merges.txt")->sha256() == gpt2->sha256());
  const auto end = static_cast<Token>(tiny_tokens().size());
  CHECK(gpt2->vocab_size() == end + 2);
  CHECK(gpt2->bos_id() == end + 1);
  CHECK_FALSE(gpt2->eos_id());
  const Token the = 259, blank_the = 258;
  CHECK(gpt2->encode("the the") == std::vector<Token>{the, blank_the});
  CHECK(gpt2->piece(blank_the) == "\xC4\xA0the");
  bam::Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = some_text(rng);
    CHECK(gpt2->encode(text) == json->encode(text));
  }
}

TEST_CASE("formats: ranks of tiktoken merge what stands for an entry together") {
  const std::string ranks = tiny_ranks();
  const auto tokenizer = make_tiktoken_as("r50k_base", ranks, choice());
  const auto special = make_tiktoken_as("r50k_base", ranks, choice("<|endoftext|>", true));
  CHECK(tokenizer->vocab_size() == 50258);
  CHECK(special->bos_id() == 50256);
  CHECK(special->encode("a<|endoftext|>") == std::vector<Token>{'a', 50256});
  CHECK(tokenizer->encode("a<|endoftext|>").size() == 14);
  CHECK(tokenizer->decode(std::vector<Token>{'a', 50256, 'b'}) == "a<|endoftext|>b");
  CHECK(special->decode(std::vector<Token>{50256, 'b'}) == "b");
  CHECK(tokenizer->piece(30'000) == "<unused>");
  const auto json = huggingface(kTinyByteLevel);
  bam::Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = some_text(rng);
    CHECK(tokenizer->encode(text) == json->encode(text));
  }
  CHECK(contains(error_of([&] { make_tiktoken(ranks, choice()); }),
                 "tiny.json: a tiktoken rank file that is none of r50k_base"));
  for (const std::string bad :
       {"IQ== x\n", "IQ=\n", "I Q== 1\n", "==== 1\n", "IQ== 99999999999\n", "IQ== 0\nIg== 0\n", "IQ== 0\n"}) {
    INFO(bad);
    CHECK(contains(error_of([&] { make_tiktoken_as("r50k_base", bad, choice()); }), "tiny.json"));
  }
}

TEST_CASE("formats: special tokens are text unless they are allowed") {
  const auto plain = huggingface(kTinyByteLevel), special = huggingface(kTinyByteLevel, "", true);
  const auto end = static_cast<Token>(tiny_tokens().size());
  CHECK(plain->encode("a<|end|>").size() == 8);
  CHECK(special->encode("a<|end|>") == std::vector<Token>{'a', end});
  CHECK(special->last_cut("a<|end|> b") == 0);
  CHECK(special->last_cut("ab cd") == 2);
  CHECK(plain->decode(special->encode("a<|end|>b")) == "a<|end|>b");
  CHECK_THROWS_AS(make_huggingface(tiny_tokenizer_json(kTinyByteLevel), choice("<no>")), bam::UsageError);
  CHECK(make_huggingface(tiny_tokenizer_json(kTinyByteLevel), choice("<|end|>"))->bos_id() == end);
}

TEST_CASE("formats: byte-level texts come back, whatever is in them, and may be cut") {
  bam::Rng rng(7);
  const auto tokenizer = huggingface(kTinyByteLevel);
  for (int round = 0; round < 200; ++round) {
    std::string text = some_text(rng) + "a b" + some_text(rng);
    const std::vector<Token> whole = tokenizer->encode(text);
    const Index cut = tokenizer->last_cut(text);
    REQUIRE(cut > 0);
    std::vector<Token> parts;
    tokenizer->encode_part(std::string_view(text).substr(0, static_cast<std::size_t>(cut)), true, parts);
    tokenizer->encode_part(std::string_view(text).substr(static_cast<std::size_t>(cut)), false, parts);
    CHECK(parts == whole);
    if (text.find('\xFF') == std::string::npos) CHECK(tokenizer->decode(whole) == text);
  }
  CHECK(tokenizer->fidelity() == Fidelity::text);
  CHECK(huggingface("\"normalizer\":{\"type\":\"NFC\"}," + kTinyByteLevel)->fidelity() == Fidelity::normalised);
}

TEST_CASE("formats: bytes without a token are lost or unknown, as in the library, and are named") {
  // Ids by tokenizers 0.23.
  const auto replaced = [](std::string json, const std::string& from, const std::string& to) {
    REQUIRE(contains(json, from));
    return json.replace(json.find(from), from.size(), to);
  };
  const auto lacking = [&](const std::string& instead, const std::string& model = "") {
    std::string json = replaced(tiny_tokenizer_json(kTinyByteLevel, model), "\"z\":122,", instead);
    const std::size_t added = json.find("{\"id\":");  // whose id would be another
    json.erase(added, json.find('}', added) + 1 - added);
    return make_huggingface(replaced(json, "\"\xC4\x84\":4,", ""), choice());
  };
  const Token aa = 262, aaaa = 263, unknown = 122;
  const auto encoded = [](const Tokenizer& tokenizer, std::string_view text, int lost) {
    std::vector<Token> ids;
    const std::optional<unsigned char> found = tokenizer.encode_part(text, true, ids);
    CHECK((found ? int{*found} : -1) == lost);
    return ids;
  };
  const auto dropping = lacking("");
  // Twice: what is remembered of a word says again that it lost something.
  for (int round = 0; round < 2; ++round) {
    CHECK(encoded(*dropping, "aaaa he", -1) == std::vector<Token>{aaaa, ' ', 256});
    CHECK(encoded(*dropping, "aza", 'z') == std::vector<Token>{aa});
    CHECK(encoded(*dropping, "a azazzazaz", 'z') == std::vector<Token>{'a', ' ', aaaa});
    CHECK(encoded(*dropping, "aaaaaaaazaaaaaaaaza", 'z') == std::vector<Token>{aaaa, aaaa, aaaa, aaaa, 'a'});
    CHECK(encoded(*dropping, "a\x04z", 4) == std::vector<Token>{'a'});
    CHECK(encoded(*dropping, "\x04", 4).empty());
  }
  std::vector<Token> none;
  CHECK(encode_document(*dropping, "z", none) == std::optional<unsigned char>('z'));
  CHECK(none.empty());
  CHECK(dropping->fidelity() == Fidelity::text);
  const auto apart = lacking("\"<unk>\":122,", "\"unk_token\":\"<unk>\",");
  CHECK(encoded(*apart, "a azzaa", 'z') == std::vector<Token>{'a', ' ', 'a', unknown, unknown, aa});
  CHECK(apart->fidelity() == Fidelity::normalised);
  const auto fused = lacking("\"<unk>\":122,", "\"unk_token\":\"<unk>\",\"fuse_unk\":true,");
  CHECK(encoded(*fused, "a azzaa", 'z') == std::vector<Token>{'a', ' ', 'a', unknown, aa});
  CHECK(contains(error_of([&] { lacking("", "\"unk_token\":\"<unk>\","); }), "the unk_token is not in the vocabulary"));
  CHECK(contains(error_of([&] { lacking("", "\"byte_fallback\":true,"); }), "byte_fallback, and not a token"));
  CHECK(contains(error_of([] {
                   make_huggingface("{" + kTinyByteLevel + R"(,"model":{"vocab":{"aa":0},"merges":[]}})", choice());
                 }),
                 "no token for any of the 256 bytes"));
}

TEST_CASE("formats: characters with byte fallback, as Llama 2 has them") {
  const auto tokenizer = make_huggingface(character_json(kLlamaParts), choice());
  CHECK(tokenizer->bos_id() == 1);
  CHECK(tokenizer->eos_id() == Token{2});
  CHECK(tokenizer->vocab_size() == 267);
  const Token blank = 259, a = 260, e = 262, blank_ab = 265, blanks = 266;
  CHECK(tokenizer->encode("ab") == std::vector<Token>{blank_ab});
  CHECK(tokenizer->encode("  ab") == std::vector<Token>{blanks, blank_ab});
  CHECK(tokenizer->encode("\xC3\xA9z") == std::vector<Token>{blank, e, 3 + 'z'});
  CHECK(tokenizer->encode("<s>")[0] == blank);
  CHECK(tokenizer->decode(std::vector<Token>{1, blank_ab, blank, a, 2}) == "ab a");
  // A run of bytes that is no character is U+FFFD for each.
  CHECK(tokenizer->decode(std::vector<Token>{a, 3 + 0xE2, 3 + 0x82, 3 + 'z', a}) ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
        "a");
  for (const std::string text : {"", " ", "ab", " ab", "  ab b\n\xE4\xB8\xAD", "\xC3\xA9"}) {
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  }
  CHECK(tokenizer->last_cut("ab ab") == 2);
}

TEST_CASE("formats: whole words of the vocabulary pass by merges where the file says so") {
  const std::string model = "\"ignore_merges\":true,";
  // "aaaa" is an entry; "aaa" is not.
  const auto tokenizer = huggingface(kTinyByteLevel, model);
  const auto aaaa = static_cast<Token>(tiny_tokens().size() - 3);
  REQUIRE(tokenizer->piece(aaaa) == "aaaa");
  CHECK(tokenizer->encode("aaaa") == std::vector<Token>{aaaa});
  CHECK(tokenizer->encode("aaa").size() == 2);
}

TEST_CASE("formats: what is not supported is named") {
  const auto problem_of = [](const std::string& parts, const std::string& model) {
    return error_of([&] { huggingface(parts, model); });
  };
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"\"normalizer\":{\"type\":\"BertNormalizer\"}", "the normalizer \"BertNormalizer\""},
      {"\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":\"\"}",
       "a Replace of a regular"},
      {"\"pre_tokenizer\":{\"type\":\"Whitespace\"}", "the pre-tokenizer \"Whitespace\""},
      {"\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"use_regex\":false}", "ByteLevel without a pattern"},
      {"\"truncation\":{\"max_length\":5}", "truncation"},
      {"\"padding\":{}", "padding"},
      {"\"news\":1", "\"news\" in it"},
      {"\"decoder\":{\"type\":\"WordPiece\"}", "the decoder \"WordPiece\""},
      {"\"post_processor\":{\"type\":\"Other\"}", "the post-processor \"Other\""},
      {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w\"},\"behavior\":\"Isolated\"}", "'\\w'"},
      {"\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\",\"replacement\":\"\u2581\"}"
       ","
       "{\"type\":\"Split\",\"pattern\":{\"String\":\"x\"},\"behavior\":\"Isolated\"}]}",
       "a Split behind Metaspace"},
      {"\"pre_tokenizer\":null", "neither ByteLevel nor byte_fallback nor an unk_token"},
  };
  for (const auto& [part, expected] : parts) {
    const std::string problem = problem_of(part, "");
    INFO(problem);
    CHECK(contains(problem, "tiny.json: "));
    CHECK(contains(problem, expected));
    CHECK(contains(problem, "not supported"));
  }
  for (const auto& [model, expected] :
       std::vector<std::pair<std::string, std::string>>{{"\"dropout\":0.1,", "dropout"},
                                                        {"\"end_of_word_suffix\":\"</w>\",", "end_of_word_suffix"},
                                                        {"\"other\":1,", "\"other\" in its model"}}) {
    CHECK(contains(problem_of(kTinyByteLevel, model), expected));
  }
  CHECK(contains(error_of([] { make_huggingface("{\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}", choice()); }),
                 "a model of the type \"Unigram\", which is not supported"));
}

TEST_CASE("formats: files that are damaged are refused in one line") {
  const std::string json = tiny_tokenizer_json(kTinyByteLevel);
  bam::Rng rng(3);
  for (int round = 0; round < 150; ++round) {
    std::string broken = round < 50 ? json.substr(0, rng.below(json.size())) : json;
    if (round >= 50) broken[rng.below(broken.size())] ^= static_cast<char>(1U << rng.below(7));
    try {
      const auto tokenizer = make_huggingface(broken, choice());
      tokenizer->decode(tokenizer->encode("the hello aaaa"));
    } catch (const bam::Error& error) {
      CHECK(is_one_line(error.what()));
    }
  }
  CHECK(contains(error_of([] { make_gpt2("[]", "", choice()); }), "not a GPT-2 vocabulary"));
  CHECK(contains(error_of([] { make_gpt2("{\"a\":0,\"b\":0}", "", choice()); }), "twice"));
  CHECK(contains(error_of([] { make_gpt2("{\"a\":999999999}", "", choice()); }), "in a vocabulary of 1 tokens"));
  CHECK(contains(error_of([] { make_gpt2("{\"a\":9223372036854775807}", "", choice()); }),
                 "expected a number below 2^31"));
  CHECK(contains(error_of([] { make_tiktoken_as("r50k_base", "YQ== 0\nYg== 2147483647\n", choice()); }),
                 "the id 2147483647 in a vocabulary of 2 tokens"));
  const std::string far = R"({"added_tokens":[{"id":16000000,"content":"<x>"}],"model":{"vocab":{"a":0},"merges":[]}})";
  CHECK(contains(error_of([&] { make_huggingface(far, choice()); }), "the id 16000000 in a vocabulary of 1 tokens"));
  CHECK(contains(error_of([] { make_gpt2(tiny_vocabulary_json(true), "#version\na b c\n", choice()); }),
                 "tiny.json:2: not a merge"));
  CHECK(contains(error_of([] { make_gpt2(tiny_vocabulary_json(true), "a zz\n", choice()); }), "does not have all of"));
  CHECK(contains(error_of([] { make_gpt2("{\"a\":0}", "", choice()); }), "no token for the byte 0"));
}

TEST_CASE("formats: shards and checkpoints carry every kind") {
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  tokenizers.push_back(huggingface(kTinyByteLevel));
  tokenizers.push_back(make_gpt2(tiny_vocabulary_json(true), tiny_merges_text(), choice("<|end|>")));
  tokenizers.push_back(make_huggingface(character_json(kLlamaParts), choice()));
  for (const auto& tokenizer : tokenizers) {
    const bam::io::ShardHeader header = shard_header(*tokenizer);
    // In the order of a shard.
    auto files = tokenizer->files();
    std::reverse(files.begin(), files.end());
    for (const auto& carried :
         {make_tokenizer(header, tokenizer->files(), "shard"), make_tokenizer(header, files, "shard")}) {
      CHECK(bam::io::header_difference(shard_header(*carried), header).empty());
      CHECK(carried->encode("ab the\xE4\xB8\xAD") == tokenizer->encode("ab the\xE4\xB8\xAD"));
    }
  }
}
