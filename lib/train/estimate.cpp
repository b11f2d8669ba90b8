#include "train/estimate.h"

namespace bam::train {

Estimate estimate(const Plan& plan, Index data_tokens, Backend& backend) {
  Estimate result;
  result.parameters = count_parameters(plan.config);
  result.context = plan.config.context;
  result.batch_tokens = plan.batch_tokens();
  result.micro_windows = plan.trainer.micro_windows;
  result.steps = plan.steps;
  result.tokens = plan.steps * plan.batch_tokens();
  result.data_tokens = data_tokens;
  result.memory_bytes = training_bytes(plan.config, plan.products, plan.trainer.micro_windows, plan.config.context);
  result.flops_per_token = training_flops_per_token(plan.config, plan.config.context);
  result.matrix_flops_per_s = measure_matrix_ceiling(backend, plan.products);
  result.tokens_per_s = kUsualUtilisation * result.matrix_flops_per_s / result.flops_per_token;
  result.wall_s = static_cast<double>(result.tokens) / result.tokens_per_s;
  return result;
}

void write_estimate(const Estimate& e, io::ByteSink& sink, io::TableFormat format, bool header, bool times) {
  using enum io::ColumnType;
  std::vector<io::Column> columns = {{"parameters", integer},      {"context", integer}, {"batch_tokens", integer},
                                     {"micro_batch", integer},     {"steps", integer},   {"tokens", integer},
                                     {"data_tokens", integer},     {"epochs", real, 3},  {"memory_bytes", integer},
                                     {"flops_per_token", real, 0}, {"flops", real}};
  const auto tokens = static_cast<double>(e.tokens);
  std::vector<io::Cell> cells;
  for (const Index count : {e.parameters, e.context, e.batch_tokens, e.micro_windows, e.steps, e.tokens}) {
    cells.emplace_back(count);
  }
  cells.resize(cells.size() + 2);
  if (e.data_tokens > 0) {
    cells[6].emplace<Index>(e.data_tokens);
    cells[7].emplace<double>(tokens / static_cast<double>(e.data_tokens));
  }
  cells.emplace_back(static_cast<Index>(e.memory_bytes));
  cells.emplace_back(e.flops_per_token);
  cells.emplace_back(tokens * e.flops_per_token);
  if (times) {
    for (const auto& [name, value] : {std::pair{"matrix_flops_per_s", e.matrix_flops_per_s},
                                      std::pair{"tokens_per_s", e.tokens_per_s}, std::pair{"wall_s", e.wall_s}}) {
      columns.push_back({name, real, 0});
      cells.emplace_back(value);
    }
  }
  io::TableWriter(sink, format, columns, header).row(cells);
}

}  // namespace bam::train
