// SHA-256 (FIPS 180-4) by OpenSSL, which uses the processor's SHA instructions where it has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bam::io {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);

  // The digest of all bytes so far as 64 lower-case hexadecimal digits. More bytes may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace bam::io
