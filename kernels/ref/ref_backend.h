// ref - float64 plain loops, one thread: the truth the other backends are tested against.
#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bam::ref {

std::unique_ptr<Backend> make_ref_backend(int threads);

}  // namespace bam::ref
