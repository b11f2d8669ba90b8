// How a model's heads attend by distance, counted over a text for the fits of prior/fit.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/run_stamp.h"
#include "eval/token_source.h"
#include "io/table.h"
#include "prior/fit.h"

namespace bam::eval {

// What z of the fitted prior is: as the model has it, 1, or ln n (SSMax on the prior with s = 1).
enum class FitSsmax : std::uint8_t { automatic, off, full };
const NameTable<FitSsmax>& fit_ssmax_names();

struct MeasureOptions {
  Index context = 0;
  Index chunk = kDefaultChunk;
  Index queries = 64;  // of a window, at most: one in each of so many equal parts, at places that change by window
  FitSsmax ssmax = FitSsmax::automatic;
  double memory_bytes = 0;
};

// Means over the counted queries.
struct HeadMeans {
  double ln_z = 0;      // ln sum content x position
  double coupling = 0;  // ln(n Z): above 0 where content agrees with position, 0 where either is uniform
  double entropy_content = 0, entropy_position = 0, entropy_posterior = 0;  // nats
};

// Counts of one head, in groups of windows.
struct HeadMeasure {
  std::vector<DistanceCounts> groups;
  std::optional<HeadMeans> means;  // none for counts from a table

  DistanceCounts all() const;
};

struct AttentionMeasure {
  std::vector<std::vector<HeadMeasure>> heads;  // [L][H]
  Index windows = 0;
  Index tokens = 0;
};

// Windows of the context, the last one shorter. Memory is bounded: two numbers for each distance, head and group; fewer
// groups where that would take more than a quarter of memory_bytes or 1 GiB. Throws Error: no data, no memory.
// `progress` gets the number of tokens read.
AttentionMeasure measure_attention(const LoadedModel& loaded, TokenSource& source, const MeasureOptions& options,
                                   const std::function<void(Index)>& progress = {});

// Counts made elsewhere: a tab-separated table with columns layer, head, keys, distance and, optionally, weight
// (1 where missing); keys visible to the query, of which it looks at the one `distance` back. ssmax as above, s = 1.
// Throws Error "NAME:LINE: ...". Weights that are not finite are taken up, and told by the fit.
AttentionMeasure read_counts(io::ByteSource& source, FitSsmax ssmax);

const NameTable<ErrorKind>& error_kind_names();

// The same for every row of a run.
struct FitRun {
  FitOptions fit;  // all_families: a row for each, not for the best alone
  RunStamp stamp;
  std::optional<Index> context;
  bool with_times = true;         // the column of seconds
  std::optional<double> seconds;  // none for counts from a table
};

// Groups of windows below which errors are Fisher's.
inline constexpr Index kFewestGroups = 8;

std::vector<io::Column> fit_columns(bool with_times);
// Fits every head and writes its rows; `progress` gets the number of heads done. Returns verdicts by name, for the log:
// "12 identified, 3 tied".
std::string write_fits(io::TableWriter& table, const AttentionMeasure& measure, const FitRun& run,
                       const std::function<void(Index)>& progress = {});

}  // namespace bam::eval
