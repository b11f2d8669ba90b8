// RunStamp - what every row of a result says of the run that made it, in the same columns in every table.
#pragma once

#include <string>
#include <vector>

#include "eval/item_rows.h"
#include "io/table.h"

namespace bam::eval {

struct RunStamp {
  std::string seed;  // of the run, whether or not anything was drawn
  std::string dtype;
  std::string reading;  // format_reading()
  std::string device;
  std::string model;    // its digest
  std::string version;  // of the tool
};

// seed, dtype, reading, device, model, version. Behind them stands the column of seconds, where there is one.
const std::vector<std::string>& run_stamp_names();
void append_stamp_columns(std::vector<io::Column>& columns);
void append_stamp(std::vector<io::Cell>& cells, const RunStamp& stamp);
RunStamp stamp_of(const ItemRow& row);

}  // namespace bam::eval
