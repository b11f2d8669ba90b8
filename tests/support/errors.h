// What an action complains of.
#pragma once

#include <string>

#include "base/error.h"

namespace bam::test {

// The text of the bam::Error that `action` throws; "no error" when it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace bam::test
