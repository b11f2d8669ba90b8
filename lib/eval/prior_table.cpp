#include "eval/prior_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bam::eval {
namespace {

constexpr std::array kClasses = {HeadClass::local, HeadClass::retrieval, HeadClass::aggressive, HeadClass::uniform};

template <typename Visit>
void for_each_head(const ModelPriors& priors, const Visit& visit) {
  for (Index layer = 0; layer < priors.config.layers; ++layer) {
    for (Index head = 0; head < priors.config.heads; ++head) visit(layer, head);
  }
}

const HeadPrior& at(const ModelPriors& priors, Index layer, Index head) {
  return priors.heads[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
}

void add_summary(std::vector<io::Cell>& row, const MassSummary& mass) {
  const std::initializer_list<io::Cell> cells = {mass.half,   mass.low,  mass.high,   mass.beyond,
                                                 mass.window, mass.ln_z, mass.entropy};
  row.insert(row.end(), cells);
}

// Betas of the heads of one class, or of all, in order.
std::vector<double> betas(const ModelPriors& priors, const HeadClass* which) {
  std::vector<double> values;
  for_each_head(priors, [&](Index layer, Index head) {
    if (which == nullptr || class_of(priors, layer, head) == *which) values.push_back(at(priors, layer, head).shape);
  });
  std::sort(values.begin(), values.end());
  return values;
}

// Computed from the file alone, on no device and with nothing drawn.
void append_origin_columns(std::vector<io::Column>& columns) {
  for (const char* name : {"model", "version"}) columns.push_back({name, io::ColumnType::text});
}

std::vector<Index> curve_distances(Index visible, Index points) {
  std::vector<Index> distances;
  const double ratio = std::log(static_cast<double>(visible)) / static_cast<double>(points);
  double next = 0;
  for (Index t = 0; t < visible; ++t) {
    if (static_cast<double>(t) < next && t + 1 < visible) continue;
    distances.push_back(t);
    next = std::max(static_cast<double>(t + 1), static_cast<double>(t) * std::exp(ratio));
  }
  return distances;
}

}  // namespace

HeadClass class_of(const ModelPriors& priors, Index layer, Index head) {
  if (priors.config.pe == PositionalEncoding::nope) return HeadClass::uniform;
  return bam::class_of(at(priors, layer, head).shape);
}

std::vector<io::Column> prior_columns() {
  using io::ColumnType;
  std::vector<io::Column> columns = {
      {"layer", ColumnType::integer}, {"head", ColumnType::integer},    {"keys", ColumnType::integer},
      {"class", ColumnType::text},    {"beta", ColumnType::real},       {"alpha", ColumnType::real},
      {"mu", ColumnType::real},       {"shape", ColumnType::real},      {"scale", ColumnType::real},
      {"loc", ColumnType::real},      {"ssmax_scale", ColumnType::real}};
  for (const std::string suffix : {"", "_ssmax"}) {
    for (const char* name : {"half", "p05", "p95"}) columns.push_back({name + suffix, ColumnType::integer});
    columns.push_back({"beyond" + suffix, ColumnType::real});
    columns.push_back({"window" + suffix, ColumnType::integer});
    columns.push_back({"ln_z" + suffix, ColumnType::real});
    columns.push_back({"entropy" + suffix, ColumnType::real});
  }
  columns.push_back({"window_eps", ColumnType::real});
  columns.push_back({"context", ColumnType::integer});
  append_origin_columns(columns);
  return columns;
}

void write_priors(io::TableWriter& table, const ModelPriors& priors, const PriorView& view) {
  for (const Index keys : view.lengths) {
    for_each_head(priors, [&](Index layer, Index head) {
      const HeadPrior& prior = at(priors, layer, head);
      const std::optional<double> alpha = alpha_of(prior);
      std::vector<io::Cell> row = {layer, head, keys, std::string(name_of(class_of(priors, layer, head))), prior.shape};
      row.push_back(alpha ? io::Cell(*alpha) : io::Cell());
      row.insert(row.end(), {mu_of(prior), prior.shape, prior.scale, prior.loc});
      row.push_back(
          priors.ssmax_scale.empty()
              ? io::Cell()
              : io::Cell(priors.ssmax_scale[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)]));
      // An untrained model has no context: nothing is beyond it.
      const Index context = priors.config.context > 0 ? priors.config.context : keys;
      add_summary(row, summarize_prior(prior, keys, 1, context, view.window_eps));
      if (priors.config.ssmax == Ssmax::full) {
        add_summary(row, summarize_prior(prior, keys, priors.factor(layer, head, keys), context, view.window_eps));
      } else {
        row.resize(row.size() + 7);
      }
      row.insert(row.end(), {view.window_eps, priors.config.context, view.model, view.version});
      table.row(row);
    });
  }
}

std::vector<io::Column> prior_class_columns() {
  using io::ColumnType;
  std::vector<io::Column> columns = {{"class", ColumnType::text},       {"heads", ColumnType::integer},
                                     {"share", ColumnType::real, 6},    {"beta_min", ColumnType::real},
                                     {"beta_median", ColumnType::real}, {"beta_max", ColumnType::real}};
  append_origin_columns(columns);
  return columns;
}

void write_prior_classes(io::TableWriter& table, const ModelPriors& priors, const PriorView& view) {
  const auto total = static_cast<double>(priors.config.layers * priors.config.heads);
  const auto write = [&](const std::string& name, const std::vector<double>& values) {
    std::vector<io::Cell> row = {name, static_cast<Index>(std::ssize(values)),
                                 static_cast<double>(values.size()) / total};
    if (values.empty()) {
      row.resize(row.size() + 3);
    } else {
      row.insert(row.end(), {values.front(), values[values.size() / 2], values.back()});
    }
    row.insert(row.end(), {view.model, view.version});
    table.row(row);
  };
  for (const HeadClass which : kClasses) write(std::string(name_of(which)), betas(priors, &which));
  write("all", betas(priors, nullptr));
}

std::vector<io::Column> prior_curve_columns() {
  using io::ColumnType;
  std::vector<io::Column> columns = {{"layer", ColumnType::integer},    {"head", ColumnType::integer},
                                     {"keys", ColumnType::integer},     {"class", ColumnType::text},
                                     {"distance", ColumnType::integer}, {"b", ColumnType::real},
                                     {"probability", ColumnType::real}};
  append_origin_columns(columns);
  return columns;
}

void write_prior_curves(io::TableWriter& table, const ModelPriors& priors, const PriorView& view, Index points) {
  for (const Index keys : view.lengths) {
    const std::vector<Index> distances = curve_distances(keys, points);
    for_each_head(priors, [&](Index layer, Index head) {
      const HeadPrior& prior = at(priors, layer, head);
      const double factor = priors.factor(layer, head, keys);
      const std::vector<double> p = prior_probabilities(prior, keys, factor);
      for (const Index t : distances) {
        table.row({layer, head, keys, std::string(name_of(class_of(priors, layer, head))), t,
                   factor * prior_logit(prior, static_cast<double>(t)), p[static_cast<std::size_t>(t)], view.model,
                   view.version});
      }
    });
  }
}

std::string count_classes(const ModelPriors& priors) {
  std::string text;
  for (const HeadClass which : kClasses) {
    const std::size_t heads = betas(priors, &which).size();
    if (heads == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(heads) + " " + std::string(name_of(which));
  }
  return text + " of " + std::to_string(priors.config.layers * priors.config.heads) + " heads";
}

}  // namespace bam::eval
