// An error that every rank throws in the same place, with the same text: rank 0 tells it, and no other has to.
#pragma once

#include "base/error.h"

namespace bam::dist {

class SharedError : public Error {
 public:
  using Error::Error;
};

}  // namespace bam::dist
