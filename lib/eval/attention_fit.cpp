#include "eval/attention_fit.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "eval/attention_probe.h"
#include "io/table_reader.h"

namespace bam::eval {
namespace {

constexpr Index kMostGroups = 32;
constexpr double kMostCountBytes = 1 << 30;
constexpr Index kMostPlaces = 4096;          // layers or heads of a table of counts
constexpr Index kMostKeys = Index{1} << 24;  // likewise

// One query in each of `count` equal parts of the window; where in the part is the window's own, so that in time every
// position is asked.
std::vector<Index> query_positions(Index tokens, Index count, Index window) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  double whole = 0;
  const double offset = std::modf(kGoldenRatio * static_cast<double>(window + 1), &whole);
  const Index parts = std::min(count, tokens);
  std::vector<Index> positions;
  for (Index k = 0; k < parts; ++k) {
    const double at = (static_cast<double>(k) + offset) * static_cast<double>(tokens) / static_cast<double>(parts);
    positions.push_back(std::min(tokens - 1, static_cast<Index>(at)));
  }
  return positions;
}

double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double each : p) sum -= each > 0 ? each * std::log(each) : 0.0;
  return sum;
}

void add_means(HeadMeans& means, const AttentionRow& row) {
  means.ln_z += row.ln_z;
  means.coupling += row.ln_z + std::log(static_cast<double>(row.visible()));
  means.entropy_content += entropy(row.content);
  means.entropy_position += entropy(row.position);
  means.entropy_posterior += entropy(row.posterior);
}

std::optional<double> fitted_ssmax(const LoadedModel& loaded, FitSsmax wanted, double s) {
  if (wanted == FitSsmax::off) return std::nullopt;
  if (wanted == FitSsmax::full) return 1.0;
  if (loaded.model->config().ssmax != Ssmax::full) return std::nullopt;
  return s;
}

Index group_count(const ModelConfig& config, const MeasureOptions& options) {
  const double each =
      3.0 * sizeof(double) * static_cast<double>(options.context) * static_cast<double>(config.layers * config.heads);
  const double allowed = std::min(options.memory_bytes / 4, kMostCountBytes);
  if (each > options.memory_bytes / 2) {
    throw Error("--context: counts by distance for " + std::to_string(options.context) + " tokens take " +
                human_bytes(each) + " of memory, and " + human_bytes(options.memory_bytes) + " may be used");
  }
  return std::clamp<Index>(static_cast<Index>(allowed / each), 1, kMostGroups);
}

std::vector<double> head_scales(const Model& model, Index layer) {
  const ConstTensorView view = model.views().layers[static_cast<std::size_t>(layer)].ssmax_scale;
  std::vector<double> values(static_cast<std::size_t>(model.config().heads), 1.0);
  if (!view.empty()) model.backend().copy_out({values.data(), DType::f64, view.shape}, view);
  return values;
}

AttentionMeasure empty_measure(const LoadedModel& loaded, const MeasureOptions& options, Index groups) {
  const ModelConfig& config = loaded.model->config();
  AttentionMeasure measure;
  for (Index layer = 0; layer < config.layers; ++layer) {
    std::vector<HeadMeasure>& heads = measure.heads.emplace_back();
    for (const double s : head_scales(*loaded.model, layer)) {
      const DistanceCounts none(fitted_ssmax(loaded, options.ssmax, s));
      heads.push_back({std::vector<DistanceCounts>(static_cast<std::size_t>(groups), none), HeadMeans{}});
    }
  }
  return measure;
}

}  // namespace

const NameTable<FitSsmax>& fit_ssmax_names() {
  static const NameTable<FitSsmax> names = {
      {"auto", FitSsmax::automatic}, {"off", FitSsmax::off}, {"full", FitSsmax::full}};
  return names;
}

DistanceCounts HeadMeasure::all() const {
  DistanceCounts sum = groups.front();
  for (std::size_t i = 1; i < groups.size(); ++i) sum.add(groups[i]);
  return sum;
}

AttentionMeasure measure_attention(const LoadedModel& loaded, TokenSource& source, const MeasureOptions& options,
                                   const std::function<void(Index)>& progress) {
  require_memory(*loaded.model, 1, options.context, options.chunk, options.memory_bytes, "--context");
  const Index groups = group_count(loaded.model->config(), options);
  AttentionMeasure measure = empty_measure(loaded, options, groups);
  AttentionProbe probe(loaded, options.context, options.chunk);
  std::vector<text::Token> ids(static_cast<std::size_t>(options.context));
  for (;;) {
    const Index got = source.read(ids);
    if (got < 2) break;
    const auto group = static_cast<std::size_t>(measure.windows % groups);
    probe.read(std::span(ids).first(static_cast<std::size_t>(got)),
               query_positions(got, options.queries, measure.windows), [&](const AttentionRow& row) {
                 if (row.visible() < 2) return;
                 HeadMeasure& head =
                     measure.heads[static_cast<std::size_t>(row.layer)][static_cast<std::size_t>(row.head)];
                 head.groups[group].add(row.posterior);
                 add_means(*head.means, row);
               });
    measure.windows += 1;
    measure.tokens += got;
    if (progress) progress(measure.tokens);
  }
  if (measure.windows == 0) {
    throw Error(source.name() + ": " + std::to_string(source.tokens()) + " tokens, expected at least 2");
  }
  for (auto& layer : measure.heads) {
    for (HeadMeasure& head : layer) {
      const double queries = head.all().total();
      HeadMeans& m = *head.means;
      for (double* sum : {&m.ln_z, &m.coupling, &m.entropy_content, &m.entropy_position, &m.entropy_posterior}) {
        *sum /= queries;
      }
      if (measure.windows < groups) head.groups.resize(static_cast<std::size_t>(measure.windows));
    }
  }
  return measure;
}

AttentionMeasure read_counts(io::ByteSource& source, FitSsmax ssmax) {
  const std::optional<double> s = ssmax == FitSsmax::full ? std::optional(1.0) : std::nullopt;
  io::TableReader table(source, {"layer", "head", "keys", "distance"}, {"weight"});
  AttentionMeasure measure;
  while (table.next()) {
    const auto layer = static_cast<std::size_t>(table.index(0, 0, kMostPlaces));
    const auto head = static_cast<std::size_t>(table.index(1, 0, kMostPlaces));
    const Index keys = table.index(2, 1, kMostKeys);
    const Index distance = table.index(3, 0, keys - 1);
    if (measure.heads.size() <= layer) measure.heads.resize(layer + 1);
    auto& heads = measure.heads[layer];
    while (heads.size() <= head) heads.push_back({{DistanceCounts(s)}, {}});
    heads[head].groups[0].add_one(keys, distance, table.has(4) ? table.real(4) : 1.0);
  }
  if (measure.heads.empty()) throw Error(source.name() + ": no row, expected counts by distance");
  return measure;
}

}  // namespace bam::eval
