#include <cmath>
#include <map>

#include "eval/attention_fit.h"
#include "prior/distribution.h"

namespace bam::eval {
namespace {

io::Cell maybe(const std::optional<double>& value) {
  return value ? io::Cell(*value) : io::Cell();
}

void add_means(std::vector<io::Cell>& row, const std::optional<HeadMeans>& m) {
  if (!m) {
    row.resize(row.size() + 5);
    return;
  }
  row.insert(row.end(), {m->ln_z, m->coupling, m->entropy_content, m->entropy_position, m->entropy_posterior});
}

void add_spread(std::vector<io::Cell>& row, const std::optional<FamilyFit::Spread>& spread) {
  const FamilyFit::Spread s = spread.value_or(FamilyFit::Spread{std::nan(""), std::nan(""), std::nan("")});
  for (const double each : {s.se, s.low, s.high}) row.push_back(std::isfinite(each) ? io::Cell(each) : io::Cell());
}

// The family's part of a row; empty cells where there is no fit.
void add_fit(std::vector<io::Cell>& row, const FamilyFit* fit, bool best) {
  if (fit == nullptr) {
    row.insert(row.end(), {std::string(), std::string("yes")});
    row.resize(row.size() + 21);
    return;
  }
  const HeadPrior prior = fit->prior();
  const bool has_alpha = fit->parameters > 0 || fit->family == "point";
  row.insert(row.end(), {fit->family, std::string(best ? "yes" : "no"), prior.shape});
  add_spread(row, fit->beta_spread);
  row.push_back(has_alpha ? maybe(alpha_of(prior)) : io::Cell());
  add_spread(row, fit->alpha_spread);
  row.push_back(has_alpha ? io::Cell(fit->point.mu) : io::Cell());
  add_spread(row, fit->mu_spread);
  row.push_back(maybe(fit->correlation));
  row.push_back(fit->alpha_spread ? io::Cell(std::string(name_in(error_kind_names(), fit->errors))) : io::Cell());
  row.insert(row.end(), {prior.shape, prior.scale, prior.loc, fit->log_likelihood, fit->aic, fit->bic, fit->ks});
}

}  // namespace

const NameTable<ErrorKind>& error_kind_names() {
  static const NameTable<ErrorKind> table = {
      {"windows", ErrorKind::groups}, {"fisher", ErrorKind::fisher}, {"bootstrap", ErrorKind::bootstrap}};
  return table;
}

std::vector<io::Column> fit_columns(bool with_times) {
  using io::ColumnType;
  std::vector<io::Column> columns = {{"layer", ColumnType::integer},
                                     {"head", ColumnType::integer},
                                     {"verdict", ColumnType::text},
                                     {"queries", ColumnType::real},
                                     {"mean_distance", ColumnType::real},
                                     {"family", ColumnType::text},
                                     {"best", ColumnType::text},
                                     {"beta", ColumnType::real},
                                     {"beta_se", ColumnType::real},
                                     {"beta_low", ColumnType::real},
                                     {"beta_high", ColumnType::real},
                                     {"alpha", ColumnType::real},
                                     {"alpha_se", ColumnType::real},
                                     {"alpha_low", ColumnType::real},
                                     {"alpha_high", ColumnType::real},
                                     {"mu", ColumnType::real},
                                     {"mu_se", ColumnType::real},
                                     {"mu_low", ColumnType::real},
                                     {"mu_high", ColumnType::real},
                                     {"correlation", ColumnType::real},
                                     {"errors", ColumnType::text},
                                     {"shape", ColumnType::real},
                                     {"scale", ColumnType::real},
                                     {"loc", ColumnType::real},
                                     {"log_likelihood", ColumnType::real},
                                     {"aic", ColumnType::real},
                                     {"bic", ColumnType::real},
                                     {"ks", ColumnType::real},
                                     {"runner_up", ColumnType::text},
                                     {"runner_up_bic", ColumnType::real},
                                     {"ln_z", ColumnType::real},
                                     {"coupling", ColumnType::real},
                                     {"entropy_content", ColumnType::real},
                                     {"entropy_prior", ColumnType::real},
                                     {"entropy_posterior", ColumnType::real},
                                     {"windows", ColumnType::integer},
                                     {"tokens", ColumnType::integer},
                                     {"context", ColumnType::integer}};
  append_stamp_columns(columns);
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

std::string write_fits(io::TableWriter& table, const AttentionMeasure& measure, const FitRun& run,
                       const std::function<void(Index)>& progress) {
  std::map<std::string, Index> verdicts;
  Index done = 0;
  for (std::size_t layer = 0; layer < measure.heads.size(); ++layer) {
    for (std::size_t h = 0; h < measure.heads[layer].size(); ++h) {
      const HeadMeasure& head = measure.heads[layer][h];
      const bool grouped = std::ssize(head.groups) >= kFewestGroups;
      const HeadFit fit = fit_head(head.all(), grouped ? head.groups : std::vector<DistanceCounts>{}, run.fit);
      ++verdicts[fit.verdict];
      const auto write = [&](const FamilyFit* family, bool best) {
        std::vector<io::Cell> row = {static_cast<Index>(layer), static_cast<Index>(h), fit.verdict, fit.queries,
                                     fit.mean_distance};
        add_fit(row, family, best);
        if (fit.runner_up) {
          row.insert(row.end(), {fit.families[*fit.runner_up].family, fit.families[*fit.runner_up].bic});
        } else {
          row.resize(row.size() + 2);
        }
        add_means(row, head.means);
        row.insert(row.end(), {measure.windows, measure.tokens});
        row.push_back(run.context ? io::Cell(*run.context) : io::Cell());
        append_stamp(row, run.stamp);
        if (run.with_times) row.push_back(maybe(run.seconds));
        table.row(row);
      };
      if (fit.families.empty()) write(nullptr, true);
      for (std::size_t i = 0; i < fit.families.size(); ++i) {
        if (i == fit.best || run.fit.all_families) write(&fit.families[i], i == fit.best);
      }
      if (progress) progress(++done);
    }
  }
  std::string text;
  for (const auto& [verdict, count] : verdicts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + verdict;
  }
  return text;
}

}  // namespace bam::eval
