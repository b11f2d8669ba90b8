// boxes: text io base
// Ids and texts by tokenizers 0.23: what a tokenizer.json asks for beyond the usual.
#include <functional>

#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_bpe.h"
#include "text/formats.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

using Ids = std::vector<Token>;

const std::vector<std::string> kTokens = {
    "<unk>",        "a",      "b",      "s",      "<",      ">",      "\u2581", "\u2581a", "ab",
    "\u2581\u2581", "<0xC3>", "<0xA9>", "<0x4G>", "<0x+A>", "\u00e9", " "};
constexpr const char* kMerges = R"(["a","b"],["▁","a"],["▁","▁"])";

// `parts`, `added` and `model` as they stand in the file, each followed by what comes next.
std::string file_of(const std::string& parts, const std::string& added = "", const std::string& model = "",
                    const std::string& merges = kMerges) {
  bam::io::JsonWriter vocabulary;
  vocabulary.begin_object();
  for (std::size_t i = 0; i < kTokens.size(); ++i) vocabulary.field(kTokens[i], static_cast<std::int64_t>(i));
  vocabulary.end_object();
  return R"({"added_tokens":[)" + added + "]," + parts + R"("model":{"type":"BPE","unk_token":"<unk>",)" + model +
         R"("vocab":)" + vocabulary.text() + R"(,"merges":[)" + merges + "]}}";
}

std::unique_ptr<Tokenizer> open(const std::string& file, bool allow_special = false) {
  return make_huggingface(file, {"t", "t.json", {}, allow_special});
}

std::string problem_of(const std::string& file) {
  const std::string problem = error_of([&] { open(file); });
  CHECK(is_one_line(problem));
  return problem;
}

std::string token(int id, const std::string& content, const std::string& flags = "") {
  return R"({"id":)" + std::to_string(id) + R"(,"content":)" + bam::io::json_quote(content) + flags + "}";
}

std::string replace(const std::string& from, const std::string& to) {
  return R"({"type":"Replace","pattern":{"String":")" + from + R"("},"content":")" + to + "\"}";
}

std::string metaspace(const std::string& scheme) {
  return R"("pre_tokenizer":{"type":"Metaspace","replacement":"▁","split":false,"prepend_scheme":")" + scheme + "\"},";
}

const std::string kRaw = R"(,"normalized":false)";
const std::string kLlama =
    R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)" + replace(" ", "▁") + "]},";

}  // namespace

TEST_CASE("huggingface_text: decoders are taken one behind the other") {
  const auto sequence = [](const std::string& steps) { return R"({"type":"Sequence","decoders":[)" + steps + "]}"; };
  const std::string blanks = replace("▁", " "), bytes = R"({"type":"ByteFallback"})", fuse = R"({"type":"Fuse"})";
  const std::string strip = R"({"type":"Strip","content":" ","start":2,"stop":0})";
  const Ids ids = {9, 7, 6, 10, 11, 1, 10, 13, 12, 14};
  for (const auto& [decoder, expected] : std::vector<std::pair<std::string, std::string>>{
           {"null", "▁▁ ▁a ▁ <0xC3> <0xA9> a <0xC3> <0x+A> <0x4G> é"},
           {fuse, "▁▁▁a▁<0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {sequence(blanks + "," + bytes + "," + fuse + "," + strip), " a éa\uFFFD\uFFFD<0x4G>é"},
           {sequence(strip + "," + blanks), "   a <0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {sequence(blanks + "," + strip + "," + fuse), "a<0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})",
            " a <0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"never"})",
            "   a <0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {sequence(fuse + "," + replace("aa", "x") + "," + replace("a▁", "y")),
            "▁▁▁y<0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {replace("▁a", "ab"), "▁▁ab▁<0xC3><0xA9>a<0xC3><0x+A><0x4G>é"},
           {R"({"type":"ByteLevel"})", "▁▁▁a▁<0xC3><0xA9>a<0xC3><0x+A><0x4G>\xE9"}}) {
    INFO(decoder);
    CHECK(open(file_of("\"decoder\":" + decoder + ","))->decode(ids) == expected);
  }
  CHECK(open(file_of("\"decoder\":" + sequence(fuse + "," + bytes) + ","))->decode(Ids{10}) == "\uFFFD");
  for (const auto& [decoder, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"type":"Strip","content":" ","start":0,"stop":1})", "a Strip decoder that is not for the start"},
           {R"({"type":"Replace","pattern":{"Regex":"a"},"content":""})", "a Replace decoder of a regular expression"},
           {sequence(R"({"type":"ByteLevel"},)" + bytes), "the decoder \"ByteFallback\" behind ByteLevel"}}) {
    CHECK(contains(problem_of(file_of("\"decoder\":" + decoder + ",")), expected));
  }
}

TEST_CASE("huggingface_text: what stands beside a single word is a character of words or not") {
  const auto tokenizer = open(file_of("", token(16, "<>", R"(,"single_word":true)" + kRaw)));
  for (const auto& [character, is_found] : std::vector<std::pair<std::string, bool>>{{"a", false},
                                                                                     {"\u00b2", true},
                                                                                     {"\u203f", false},
                                                                                     {"\u0301", false},
                                                                                     {"\u200d", false},
                                                                                     {"\u24b6", false},
                                                                                     {"_", false},
                                                                                     {"-", true},
                                                                                     {"\u0660", false},
                                                                                     {"\u00bd", true}}) {
    INFO(character);
    CHECK((tokenizer->encode(character + "<>").back() == 16) == is_found);
    CHECK((tokenizer->encode("<>" + character).front() == 16) == is_found);
  }
}

TEST_CASE("huggingface_text: a special token in a text is text as a whole") {
  const std::string file = file_of("", token(16, "<s>", R"(,"special":true)") + "," + token(3, "s", kRaw));
  CHECK(open(file)->encode("<s>s") == Ids{4, 3, 5, 3});
  CHECK(open(file, true)->encode("<s>s") == Ids{16, 3});
  const std::string both =
      file_of(metaspace("always"), token(16, "<s>", R"(,"special":true)") + "," + token(3, "s", kRaw));
  CHECK(open(both)->encode("<s>s") == Ids{6, 4, 3, 5, 3});
  // What hides another may do so where a blank is U+2581.
  const std::string blank = file_of("\"normalizer\":" + replace(" ", "▁") + ",",
                                    token(16, "s a", R"(,"special":true,"normalized":true)") + "," + token(1, "a"));
  CHECK(open(blank)->encode("s ab") == Ids{3, 6, 8});
  CHECK(open(blank)->encode("sab") == Ids{3, 1, 2});
  CHECK(open(blank, true)->encode("s ab") == Ids{16, 2});
}

TEST_CASE("huggingface_text: added tokens with blanks are looked for where the normaliser leaves them") {
  const auto spaced = open(file_of(metaspace("always"), token(16, "a▁b") + "," + token(17, "a s")));
  CHECK(spaced->encode("a▁b") == Ids{16});
  CHECK(spaced->encode("a b") == Ids{7, 6, 2});
  CHECK(spaced->encode("a s") == Ids{17});
  CHECK(spaced->encode("a▁s") == Ids{7, 6, 3});
  const auto llama = open(file_of(kLlama, token(16, "▁<") + "," + token(3, "s")));
  CHECK(llama->encode("<") == Ids{6, 4});
  CHECK(llama->encode(" <") == Ids{16});
  CHECK(llama->encode("b <") == Ids{6, 2, 6, 4});
  CHECK(llama->encode("s") == Ids{3});
  CHECK(llama->encode("as") == Ids{7, 3});
  const auto stripped = open(file_of(kLlama, token(16, "<>", R"(,"lstrip":true)")));
  CHECK(stripped->encode("<>") == Ids{16});
  CHECK(stripped->encode("a  <>") == Ids{7, 6, 16});
  CHECK(stripped->encode("a\n<>") == Ids{7, 0, 4, 5});
}

TEST_CASE("huggingface_text: added tokens that the library takes otherwise than the file says are refused") {
  const std::string nfkc = R"("normalizer":{"type":"NFKC"},)", blank = R"(,"lstrip":true)", other = R"(,"rstrip":true)";
  for (const auto& [file, expected] : std::vector<std::pair<std::string, std::string>>{
           {file_of("", token(20, "x")), "\"x\" with the id 20 where its library gives 16"},
           {file_of("", token(16, "x") + "," + token(16, "x")), "\"x\" is there twice"},
           {file_of("", token(16, "")), "an added token without text"},
           {file_of("", token(5, "a")), "\"a\" has two ids"},
           {file_of(nfkc, token(16, "xé") + "," + token(17, "xe\u0301")), "which the normalizer makes the same"},
           {file_of("\"normalizer\":" + replace("x", "") + ",", token(16, "xx")),
            "of which the normalizer leaves noth"},
           {file_of("", token(16, "<u>", other) + "," + token(17, "\n", blank)), "of blanks with lstrip beside one"}}) {
    CHECK(contains(problem_of(file), expected));
  }
}

TEST_CASE("huggingface_text: the prefix of the first word alone") {
  const auto normaliser = [](const std::string& step) { return "\"normalizer\":" + step + "," + metaspace("first"); };
  CHECK(open(file_of(normaliser(replace("a", "b"))))->encode("ab") == Ids{6, 2, 2});
  for (const std::string& step : {replace("a", ""), replace("ab", "x")}) {
    CHECK(contains(problem_of(file_of(normaliser(step))), "\"first\" behind a normalizer that replaces \"a"));
  }
  CHECK(contains(problem_of(file_of(normaliser(R"({"type":"NFD"})"), token(16, "x"))),
                 "\"first\" behind a normalizer that changes lengths"));
}

TEST_CASE("huggingface_text: runs of the unknown are fused before they merge") {
  const auto tokenizer = open(file_of("", "", R"("fuse_unk":true,)"));
  CHECK(tokenizer->encode("xyazz") == Ids{0, 1, 0});
  CHECK(tokenizer->encode("x<unk>y") == Ids{0, 4, 0, 5, 0});
  // A blank is not U+2581 here: it has no token, and goes on with the run.
  const std::string vocabulary = R"("vocab":{"<unk>":0,"▁":1},"merges":[]}})";
  CHECK(open(R"({"model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,)" + vocabulary)->encode("x y▁") ==
        Ids{0, 1});
  CHECK(contains(problem_of(file_of("", "", "", R"(["<unk>","a"])")), "which the vocabulary does not have all of"));
  CHECK(
      contains(problem_of(R"({"model":{"type":"BPE","unk_token":"u","vocab":{"u":0,"a":1,"ua":2},"merges":["u a"]}})"),
               "a merge of byte_fallback's tokens or the unk_token"));
  CHECK(contains(problem_of(file_of("", "", "", R"(["a","b"],["a","b"])")), "of the same tokens twice"));
}

TEST_CASE("huggingface_text: pre-tokenizers that see other characters than here are refused") {
  const std::string first =
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Metaspace","replacement":"▁","split":false},)";
  CHECK(contains(problem_of(file_of(first + R"({"type":"ByteLevel"}]},)")), "ByteLevel behind Metaspace"));
  CHECK(contains(problem_of(file_of(first + R"({"type":"Metaspace","replacement":"▁"}]},)")),
                 "Metaspace behind another pre-tokenizer"));
}

TEST_CASE("huggingface_text: punctuation is that of the library's table") {
  const auto tokenizer = open(
      R"({"pre_tokenizer":{"type":"Punctuation"},"model":{"type":"BPE","unk_token":"u","fuse_unk":true,"vocab":{"u":0},"merges":[]}})");
  for (const auto& [character, words] : std::vector<std::pair<std::string, std::size_t>>{{"!", 3},
                                                                                         {"\u2014", 3},
                                                                                         {"\u2e42", 3},
                                                                                         {"\u2e43", 1},
                                                                                         {"\u061d", 1},
                                                                                         {"\u166d", 3},
                                                                                         {"+", 3},
                                                                                         {"\u00d7", 1}}) {
    INFO(character);
    CHECK(tokenizer->encode("x" + character + "x").size() == words);
  }
}

TEST_CASE("huggingface_text: normal forms are those of the library's table") {
  const auto form_of = [](const std::string& form, const std::string& text) {
    const std::string byte_level =
        R"("decoder":{"type":"ByteLevel"},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})";
    const auto tokenizer = open(tiny_tokenizer_json(R"("normalizer":{"type":")" + form + "\"}," + byte_level));
    return tokenizer->decode(tokenizer->encode(text));
  };
  CHECK(form_of("NFC", "e\u0301\u0327") == "\u0229\u0301");
  CHECK(form_of("NFKC", "\u32fe\u32ff") == "\u30f2\u32ff");
  CHECK(form_of("NFD", "\u0301\u1df6\u0316\u00e9") == "\u0301\u1df6\u0316e\u0301");
  CHECK(form_of("NFD", "\u0301\u0316") == "\u0316\u0301");
}

// A stretch begins behind an added token, with a prefix of its own, and so no part does.
TEST_CASE("huggingface_text: texts with added tokens may be cut") {
  const std::string byte_level = R"("normalizer":{"type":"NFD"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
       "behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  tokenizers.push_back(open(file_of(metaspace("always"), token(16, "<>", kRaw))));
  tokenizers.push_back(open(file_of(kLlama, token(16, "<>", kRaw))));
  tokenizers.push_back(open(tiny_tokenizer_json(byte_level)));
  CHECK(tokenizers[0]->encode("<>a<>b<> a") == Ids{16, 7, 16, 6, 2, 16, 7});
  const std::vector<std::string> signs = {"a", "b", " ", "<>", "\n", "\u00e9", "x", "\u2474"};
  bam::Rng rng(11);
  std::size_t cuts = 0;
  for (int round = 0; round < 3000; ++round) {
    const Tokenizer& tokenizer = *tokenizers[static_cast<std::size_t>(round) % tokenizers.size()];
    std::string text;
    for (std::uint64_t i = rng.below(12); i > 0; --i) text += signs[rng.below(signs.size())];
    INFO(text);
    const auto cut = static_cast<std::size_t>(tokenizer.last_cut(text));
    if (cut == 0) continue;
    ++cuts;
    Ids parts;
    tokenizer.encode_part(std::string_view(text).substr(0, cut), true, parts);
    tokenizer.encode_part(std::string_view(text).substr(cut), false, parts);
    CHECK(parts == tokenizer.encode(text));
  }
  CHECK(cuts > 500);
}

TEST_CASE("huggingface_text: what comes back is told") {
  const std::string usual = R"("decoder":{"type":"Sequence","decoders":[)" + replace("▁", " ") +
                            R"(,{"type":"ByteFallback"},{"type":"Fuse"}]},)";
  CHECK(open(tiny_tokenizer_json(kTinyByteLevel))->lossless());
  CHECK_FALSE(open(file_of(usual))->lossless());
  const auto with = [](const std::string& decoder) {
    return R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})" + decoder;
  };
  CHECK_FALSE(open(tiny_tokenizer_json(with("")))->lossless());
  CHECK(open(tiny_tokenizer_json(with("")))->decode(Ids{'a', 'b'}) == "a b");
  const std::string removing =
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"String":"x"},"behavior":"Removed"},
         {"type":"ByteLevel","add_prefix_space":false}]},"decoder":{"type":"ByteLevel"})";
  CHECK_FALSE(open(tiny_tokenizer_json(removing))->lossless());
}

TEST_CASE("huggingface_text: an entry that is a byte itself is not the token of that byte") {
  const auto tokenizer =
      open(R"({"added_tokens":[],"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},)"
           R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"\t":0,"a":1,"b":2," ":3},"merges":[]}})");
  Ids ids;
  CHECK(tokenizer->encode_part("a\tb a", true, ids) == static_cast<unsigned char>('\t'));
  CHECK(ids == Ids{1, 2, 1});
}
