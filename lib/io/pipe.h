// What can be opened only once.
#pragma once

#include <string>

namespace bam::io {

// Is it something that is read once, from front to back: "-", a FIFO, <(...)? A file that is missing is not.
bool is_pipe(const std::string& path);

}  // namespace bam::io
