#include "eval/attention_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"

namespace bam::eval {
namespace {

using io::ColumnType;

// Seven figures: what is computed from float32 has no more, and tables of many keys stay small.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6e", value);
  return std::strtod(text, nullptr);
}

// The character itself for the byte of one, "<0x41>".
std::string readable(const std::string& piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return piece;
  const long byte = std::strtol(piece.substr(3, 2).c_str(), nullptr, 16);
  return byte >= ' ' && byte <= '~' ? std::string(1, static_cast<char>(byte)) : piece;
}

Index place_in(const std::vector<Index>& sorted, Index value) {
  return std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
}

// Bins of `bin` distances each; without, bins that grow: a distance wide, later an eighth of where they begin.
std::vector<Index> distance_edges(Index visible, Index bin) {
  std::vector<Index> edges = {0};
  while (edges.back() < visible) {
    const Index width = bin > 0 ? bin : std::max<Index>(1, edges.back() / 8);
    edges.push_back(std::min(visible, edges.back() + width));
  }
  return edges;
}

double sum(std::span<const double> values, Index begin, Index end) {
  return std::accumulate(values.begin() + begin, values.begin() + end, 0.0);
}

}  // namespace

const NameTable<AttentionBy>& attention_by_names() {
  static const NameTable<AttentionBy> names = {
      {"key", AttentionBy::key}, {"distance", AttentionBy::distance}, {"top", AttentionBy::top}};
  return names;
}

std::vector<io::Column> attention_columns(AttentionBy by, bool with_times) {
  const std::vector<io::Column> mass = {
      {"attention", ColumnType::real}, {"content", ColumnType::real}, {"prior", ColumnType::real}};
  std::vector<io::Column> columns = {{"layer", ColumnType::integer}, {"head", ColumnType::integer}};
  const auto add = [&columns](const std::vector<io::Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  switch (by) {
    case AttentionBy::key:
      add({{"query", ColumnType::integer}, {"from", ColumnType::integer}, {"to", ColumnType::integer}});
      add(mass);
      add({{"token", ColumnType::text}, {"needle", ColumnType::integer}});
      break;
    case AttentionBy::distance:
      add({{"from", ColumnType::integer}, {"to", ColumnType::integer}});
      add(mass);
      add({{"uniform", ColumnType::real}, {"queries", ColumnType::integer}});
      break;
    case AttentionBy::top:
      add({{"query", ColumnType::integer}, {"query_token", ColumnType::text}, {"rank", ColumnType::integer}});
      add({{"key", ColumnType::integer}, {"distance", ColumnType::integer}});
      add(mass);
      add({{"token", ColumnType::text}, {"needle", ColumnType::integer}});
      break;
  }
  add({{"tokens", ColumnType::integer}, {"bos", ColumnType::text}});
  append_stamp_columns(columns);
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

AttentionTable::AttentionTable(io::TableWriter& rows, const AttentionText& text, const text::Tokenizer& tokenizer,
                               const AttentionView& view, RunStamp stamp, bool with_times)
    : rows_(rows), text_(text), tokenizer_(tokenizer), view_(view), stamp_(std::move(stamp)) {
  if (with_times) start_s_ = now_s();
  if (view.by != AttentionBy::distance) return;
  edges_ = distance_edges(view.queries.back() + 1, view.bin);
  masses_.assign(view.layers.size(), {view.heads.size(), std::vector<Mass>(edges_.size() - 1)});
}

void AttentionTable::add(const AttentionRow& row) {
  if (std::isnan(row.ln_z)) throw Error("the model's attention is not made of numbers: are its weights damaged?");
  switch (view_.by) {
    case AttentionBy::key:
      return add_keys(row);
    case AttentionBy::distance:
      return add_distances(row);
    case AttentionBy::top:
      return add_top(row);
  }
}

void AttentionTable::add_keys(const AttentionRow& row) {
  const Index bin = view_.bin > 0 ? view_.bin : (std::ssize(text_.ids) + kMostStrips - 1) / kMostStrips;
  const Index first = row.query + 1 - row.visible();
  for (Index from = first; from <= row.query;) {
    const Index to = std::min(row.query, from / bin * bin + bin - 1);
    // Distances of these keys, the nearest first.
    const Index begin = row.query - to;
    const Index end = row.query - from + 1;
    write({row.layer, row.head, row.query, from, to, rounded(sum(row.posterior, begin, end)),
           rounded(sum(row.content, begin, end)), rounded(sum(row.position, begin, end)),
           bin == 1 ? io::Cell(piece(from)) : io::Cell(), needle_keys(from, to)});
    from = to + 1;
  }
}

void AttentionTable::add_distances(const AttentionRow& row) {
  const auto layer = static_cast<std::size_t>(place_in(view_.layers, row.layer));
  const auto head = static_cast<std::size_t>(place_in(view_.heads, row.head));
  std::vector<Mass>& bins = masses_[layer][head];
  for (std::size_t i = 0; i < bins.size() && edges_[i] < row.visible(); ++i) {
    const Index begin = edges_[i];
    const Index end = std::min(edges_[i + 1], row.visible());
    bins[i].attention += sum(row.posterior, begin, end);
    bins[i].content += sum(row.content, begin, end);
    bins[i].prior += sum(row.position, begin, end);
    bins[i].uniform += static_cast<double>(end - begin) / static_cast<double>(row.visible());
  }
}

void AttentionTable::add_top(const AttentionRow& row) {
  order_.resize(static_cast<std::size_t>(row.visible()));
  std::iota(order_.begin(), order_.end(), Index{0});
  const Index count = std::min(view_.top, row.visible());
  const auto mass = [&row](Index distance) { return row.posterior[static_cast<std::size_t>(distance)]; };
  std::partial_sort(order_.begin(), order_.begin() + count, order_.end(),
                    [&](Index a, Index b) { return mass(a) > mass(b) || (mass(a) == mass(b) && a < b); });
  for (Index rank = 1; rank <= count; ++rank) {
    const Index distance = order_[static_cast<std::size_t>(rank - 1)];
    const auto t = static_cast<std::size_t>(distance);
    const Index key = row.query - distance;
    write({row.layer, row.head, row.query, piece(row.query), rank, key, distance, rounded(row.posterior[t]),
           rounded(row.content[t]), rounded(row.position[t]), piece(key), needle_keys(key, key)});
  }
}

void AttentionTable::end() {
  const auto queries = std::ssize(view_.queries);
  const auto mean = [queries](double total) { return rounded(total / static_cast<double>(queries)); };
  for (std::size_t layer = 0; layer < masses_.size(); ++layer) {
    for (std::size_t head = 0; head < masses_[layer].size(); ++head) {
      for (std::size_t i = 0; i + 1 < edges_.size(); ++i) {
        const Mass& m = masses_[layer][head][i];
        write({view_.layers[layer], view_.heads[head], edges_[i], edges_[i + 1] - 1, mean(m.attention), mean(m.content),
               mean(m.prior), mean(m.uniform), Index{queries}});
      }
    }
  }
}

void AttentionTable::write(std::vector<io::Cell> cells) {
  cells.emplace_back(std::ssize(text_.ids));
  cells.emplace_back(text_.bos);
  append_stamp(cells, stamp_);
  if (start_s_) cells.emplace_back(now_s() - *start_s_);
  rows_.row(cells);
}

io::Cell AttentionTable::needle_keys(Index from, Index to) const {
  if (!text_.needle) return {};
  const Index begin = std::max(from, *text_.needle);
  const Index end = std::min(to + 1, *text_.needle + text_.needle_tokens);
  return std::max<Index>(0, end - begin);
}

std::string AttentionTable::piece(Index position) const {
  return readable(tokenizer_.piece(text_.ids[static_cast<std::size_t>(position)]));
}

}  // namespace bam::eval
