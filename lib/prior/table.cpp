#include "prior/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace bam {
namespace {

constexpr Index kMostTableBytes = Index{1} << 28;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

double parse_cell(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Error(where + "'" + std::string(text) + "' is not a number, expected one");
  }
  return value;
}

Index parse_place(std::string_view text, const std::string& where) {
  const double value = parse_cell(text, where);
  if (value < 0 || value > 1e6 || value != std::floor(value)) {
    throw Error(where + "'" + std::string(text) + "' is not a layer or head, expected 0, 1, ...");
  }
  return static_cast<Index>(value);
}

struct Columns {
  std::array<std::size_t, 5> at{};
  std::optional<std::size_t> best;
  std::size_t width = 0;
};

Columns read_header(std::string_view line, const std::string& name) {
  constexpr std::array<std::string_view, 5> kNames = {"layer", "head", "shape", "scale", "loc"};
  const auto names = split(line, '\t');
  const auto find = [&](std::string_view wanted) -> std::optional<std::size_t> {
    const auto at = std::find(names.begin(), names.end(), wanted);
    if (at == names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - names.begin());
  };
  Columns columns{.best = find("best"), .width = names.size()};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto at = find(kNames[i]);
    if (!at) {
      throw Error(name + ":1: no column '" + std::string(kNames[i]) +
                  "', expected a tab-separated table with layer, head, shape, scale, loc");
    }
    columns.at[i] = *at;
  }
  return columns;
}

}  // namespace

std::vector<PriorRow> read_prior_rows(io::ByteSource& source) {
  const std::string text = io::read_all(source, kMostTableBytes);
  const std::string& name = source.name();
  if (text.empty()) throw Error(name + ": empty, expected a table of priors");
  auto lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  const Columns columns = read_header(lines.front(), name);
  std::vector<PriorRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string where = name + ":" + std::to_string(i + 1) + ": ";
    const auto cells = split(lines[i], '\t');
    if (cells.size() != columns.width) {
      throw Error(where + std::to_string(cells.size()) + " cells, expected " + std::to_string(columns.width));
    }
    if (columns.best && cells[*columns.best] != "yes") continue;
    rows.push_back({.layer = parse_place(cells[columns.at[0]], where),
                    .head = parse_place(cells[columns.at[1]], where),
                    .prior = {.shape = parse_cell(cells[columns.at[2]], where),
                              .scale = parse_cell(cells[columns.at[3]], where),
                              .loc = parse_cell(cells[columns.at[4]], where)},
                    .line = static_cast<Index>(i + 1)});
  }
  return rows;
}

std::vector<std::vector<HeadPrior>> arrange_priors(const std::vector<PriorRow>& rows, Index layers, Index heads,
                                                   bool global, const std::string& name) {
  const Index sets = global ? 1 : layers;
  std::vector<std::vector<HeadPrior>> priors(static_cast<std::size_t>(sets),
                                             std::vector<HeadPrior>(static_cast<std::size_t>(heads)));
  std::vector<Index> line_of(static_cast<std::size_t>(sets * heads), 0);
  std::vector<bool> seen(static_cast<std::size_t>(layers * heads), false);
  for (const PriorRow& row : rows) {
    const std::string where = name + ":" + std::to_string(row.line) + ": ";
    if (row.layer >= layers || row.head >= heads) {
      throw Error(where + "no such layer and head, the model has " + std::to_string(layers) + " layers of " +
                  std::to_string(heads) + " heads");
    }
    const auto place = static_cast<std::size_t>(row.layer * heads + row.head);
    if (seen[place]) throw Error(where + "layer and head appear twice, expected a row for each");
    seen[place] = true;
    const auto set = static_cast<std::size_t>(global ? 0 : row.layer);
    const auto head = static_cast<std::size_t>(row.head);
    Index& line = line_of[set * static_cast<std::size_t>(heads) + head];
    if (line > 0 && priors[set][head] != row.prior) {
      throw Error(where + "another prior than in line " + std::to_string(line) +
                  ", expected the same in all layers: the model's prior is global");
    }
    line = row.line;
    priors[set][head] = row.prior;
  }
  const auto missing = std::find(line_of.begin(), line_of.end(), 0);
  if (missing != line_of.end()) {
    const Index place = missing - line_of.begin();
    throw Error(name + ": no prior for layer " + std::to_string(place / heads) + " head " +
                std::to_string(place % heads) + ", expected a row for each");
  }
  return priors;
}

}  // namespace bam
