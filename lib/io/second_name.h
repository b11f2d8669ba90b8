// A file under two names.
#pragma once

#include <string>

namespace bam::io {

// `to` becomes another name of the finished file `from`, in one step: a hard link, or a copy on file systems that have
// none. Throws Error.
void give_second_name(const std::string& from, const std::string& to);

}  // namespace bam::io
