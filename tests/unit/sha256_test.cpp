// boxes: io base
#include "io/sha256.h"

#include "support/catch.h"

using bam::io::Sha256;
using bam::io::sha256_hex;

TEST_CASE("sha256: the examples of FIPS 180-4") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: pieces of any size give the digest of the whole, and asking does not end it") {
  const std::string text(1000, 'x');
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{999}}) {
    Sha256 digest;
    digest.update(text.substr(0, cut));
    CHECK(digest.hex() == sha256_hex(text.substr(0, cut)));
    digest.update(text.substr(cut));
    CHECK(digest.hex() == sha256_hex(text));
  }
}
