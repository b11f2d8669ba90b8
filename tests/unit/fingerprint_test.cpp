// boxes: base
#include "base/fingerprint.h"

#include <set>
#include <string>

#include "support/catch.h"

using bam::fingerprint;
using bam::Index;

TEST_CASE("fingerprint: the polynomial, by Python's whole numbers") {
  CHECK(fingerprint("", 0) == 0);
  CHECK(fingerprint("a", 0) == 1649593163066741090);
  CHECK(fingerprint("The house number 7 stands by the sea, and nobody has lived there.", 0) == 245928797318259776);
  CHECK(fingerprint(std::string(1000, '\xff'), 12345) == 731924454175275341);
}

TEST_CASE("fingerprint: each bit, the length, the order and the parts count") {
  const std::string text = "The house number 7 stands by the sea, and nobody has lived there.";
  std::set<Index> seen = {fingerprint(text, 0), fingerprint(text.substr(30), fingerprint(text.substr(0, 30), 0)),
                          fingerprint(text.substr(0, 30), fingerprint(text.substr(30), 0))};
  std::size_t inputs = seen.size();
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit, ++inputs) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    seen.insert(fingerprint(other, 0));
  }
  for (std::size_t size = 1; size <= 100; ++size, ++inputs) seen.insert(fingerprint(std::string(size, '\0'), 0));
  CHECK(inputs == 3 + 8 * text.size() + 100);
  CHECK(seen.size() == inputs);
}
