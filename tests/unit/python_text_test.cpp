// boxes: eval model text io kernels base
#include "eval/python_text.h"

#include "support/catch.h"

using namespace bam;
using namespace bam::eval;

TEST_CASE("python_text: characters and blanks") {
  CHECK(characters("") == 0);
  CHECK(characters("a\u00E9\u20AC\U0001F600") == 4);
  CHECK(characters("\xFF\xC3") == 2);
  CHECK(strip(" \t\u00A0 a b\u3000\x1C") == "a b");
  CHECK(strip(" \n") == "");
  using Pieces = std::vector<std::string_view>;
  CHECK(split_blanks("") == Pieces{""});
  CHECK(split_blanks("a") == Pieces{"a"});
  CHECK(split_blanks(" a \n\u2003b ") == Pieces{"", "a", "b", ""});
}

TEST_CASE("python_text: small and large letters") {
  CHECK(lower("ABC \u00C9\u0416\u0393 \u1E9E\xFF") == "abc \u00E9\u0436\u03B3 \u00DF\xFF");
  CHECK(lower("\u0130\u01C5\u2C6F") == "i\u0307\u01C6\u0250");
  CHECK(lower("\U00010400") == "\U00010428");
  CHECK(capitalize("") == "");
  CHECK(capitalize("he SAYS \u00C9") == "He says \u00E9");
  CHECK(capitalize("\u00E9T\u00C9") == "\u00C9t\u00E9");
  CHECK(capitalize("'TIS") == "'tis");
}

TEST_CASE("python_text: patterns are filled once") {
  CHECK(fill("{a} {b}{a} {c} {", {{"a", "{b}"}, {"b", "2"}}) == "{b} 2{b} {c} {");
  CHECK(fill("}{a", {{"a", "1"}}) == "}{a");
  CHECK(fill("", {}) == "");
  CHECK(replace_all("aaa", "aa", "b") == "ba");
  CHECK(replace_all("abc", "x", "") == "abc");
}
