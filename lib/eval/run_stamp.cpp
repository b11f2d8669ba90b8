#include "eval/run_stamp.h"

#include <array>
#include <utility>

namespace bam::eval {
namespace {

constexpr std::array kParts = {std::pair{"seed", &RunStamp::seed},       std::pair{"dtype", &RunStamp::dtype},
                               std::pair{"reading", &RunStamp::reading}, std::pair{"device", &RunStamp::device},
                               std::pair{"model", &RunStamp::model},     std::pair{"version", &RunStamp::version}};

}  // namespace

const std::vector<std::string>& run_stamp_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, part] : kParts) all.emplace_back(name);
    return all;
  }();
  return names;
}

void append_stamp_columns(std::vector<io::Column>& columns) {
  for (const auto& [name, part] : kParts) columns.push_back({name, io::ColumnType::text});
}

void append_stamp(std::vector<io::Cell>& cells, const RunStamp& stamp) {
  for (const auto& [name, part] : kParts) cells.emplace_back(stamp.*part);
}

RunStamp stamp_of(const ItemRow& row) {
  RunStamp stamp;
  for (const auto& [name, part] : kParts) stamp.*part = row.text(name);
  return stamp;
}

}  // namespace bam::eval
