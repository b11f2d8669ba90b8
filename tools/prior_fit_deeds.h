// What the deeds of bam-prior-fit share, and the two that compute.
#pragma once

#include <algorithm>
#include <numeric>

#include "base/log.h"
#include "cli/progress.h"
#include "eval/passkey.h"
#include "kernels/registry.h"
#include "prior/table.h"
#include "prior_fit_options.h"

namespace bam {

inline io::TableWriter open_table(const PriorFitOptions& o, io::ByteSink& sink, std::vector<io::Column> columns) {
  return io::TableWriter(sink, o.table.format, std::move(columns), !o.table.no_header);
}

// A table of priors for as many sets as a model of this configuration stores.
inline std::vector<std::vector<HeadPrior>> priors_from(const std::string& path, const ModelConfig& config) {
  return read_prior_table(path, config.layers, config.heads, config.prior_scope == PriorScope::global);
}

// Counts of what the heads of a model do on the data, and what a row says of it.
inline eval::AttentionMeasure measure(const PriorFitOptions& o, const cli::Context& context, eval::FitRun& run) {
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model(), *backend);
  const std::vector<std::string> data = o.data().empty() ? std::vector<std::string>{"-"} : o.data();
  eval::TokenSource source(loaded, {data, {}, o.bos, o.max_tokens});
  const eval::MeasureOptions options{
      .context = eval::tokens_of(o.context, loaded.model->config(), loaded.name, "--context"),
      .chunk = o.computation.chunk,
      .queries = o.queries,
      .ssmax = o.ssmax,
      .memory_bytes = o.computation.memory_bytes()};
  log::info(loaded.name + " on " + backend->describe());
  run.stamp = o.computation.stamp(context, loaded, *backend);
  run.context = options.context;
  cli::Progress progress({.unit = "tokens"});
  eval::AttentionMeasure measure =
      eval::measure_attention(loaded, source, options, [&](Index done) { progress.update(done); });
  run.seconds = progress.elapsed_s();
  return measure;
}

inline int fit(const PriorFitOptions& o, const cli::Context& context) {
  io::OutputFile output(o.output.path);
  eval::FitRun run{.fit = {.families = o.families,
                           .free_mu = !o.mu,
                           .mu = o.mu.value_or(0),
                           .errors = o.errors,
                           .all_families = o.all_families,
                           .seed = context.seed},
                   .stamp = {.seed = std::to_string(context.seed),
                             .dtype = {},
                             .reading = {},
                             .device = {},
                             .model = {},
                             .version = context.version},
                   .context = {},
                   .with_times = !o.table.no_times,
                   .seconds = {}};
  eval::AttentionMeasure counts;
  if (o.from) {
    const auto source = io::open_source(*o.from);
    counts = eval::read_counts(*source, o.ssmax);
  } else {
    counts = measure(o, context, run);
  }
  io::TableWriter table = open_table(o, output, eval::fit_columns(!o.table.no_times));
  cli::Progress progress({.unit = "heads"});
  const std::string verdicts = eval::write_fits(table, counts, run, [&](Index done) { progress.update(done); });
  progress.clear();
  log::info(verdicts);
  output.commit();
  return 0;
}

inline int tune(const PriorFitOptions& o, const cli::Context& context) {
  const io::CheckpointReader reader(o.model());
  const ModelPriors own = read_priors(reader);
  train::TuneRequest request = o.tune;
  request.shape = o.learns.shape;
  request.scale = o.learns.scale;
  request.loc = o.learns.loc;
  request.ssmax = o.learns.ssmax;
  request.files = o.data();
  request.products = o.computation.dtype;
  request.context = eval::tokens_of(o.context, own.config, reader.name(), "--context");
  request.batch_windows = std::max<Index>(1, o.batch_tokens / request.context);
  const ModelConfig config = with_bam_prior(own.config);
  const std::size_t sets = config.prior_scope == PriorScope::global ? 1 : static_cast<std::size_t>(config.layers);
  if (o.from) request.start = priors_from(*o.from, config);
  if (o.from_alibi) request.start.emplace(sets, authors_prior(config.heads));
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  log::info(reader.name() + " on " + backend->describe());

  cli::Progress progress({.total = request.steps, .unit = "steps"});
  train::TuneWatch watch;
  watch.report = [&](const train::TuneStep& step) {
    progress.update(step.step, "loss " + human_count(step.loss));
    if (step.val_loss) {
      log::detail("step " + std::to_string(step.step) + ": validation loss " + format_real(*step.val_loss));
    }
  };
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::optional<eval::PasskeyPrompts> prompts;
  if (o.passkey) {
    const StoredTokenizer stored = read_tokenizer(reader.file());
    tokenizer = text::make_tokenizer(stored.header, stored.files, reader.name());
    prompts.emplace(*tokenizer, eval::PasskeyTask{
                                    .samples = o.passkey_samples, .seed = context.seed, .length_option = "--passkey"});
    const Index length = eval::tokens_of(*o.passkey, own.config, reader.name(), "--passkey");
    std::vector<Index> samples(static_cast<std::size_t>(o.passkey_samples));
    std::iota(samples.begin(), samples.end(), Index{0});
    watch.enough = 1;
    watch.measure = [&prompts, length, samples](const Model& model) {
      eval::PasskeyOptions options;
      options.memory_bytes = available_memory_bytes();
      eval::check_lengths(model, *prompts, {length}, options);
      const auto items = eval::run_passkey(model, *prompts, length, samples, options);
      const auto found = std::count_if(items.begin(), items.end(), [](const auto& item) { return item.found; });
      return static_cast<double>(found) / static_cast<double>(items.size());
    };
  }
  const train::TuneResult result = train::tune_priors(reader, *backend, request, context.seed, watch);
  progress.clear();
  io::CheckpointWriter writer(o.output.path);
  write_with_priors(writer.file(), reader, result.config, result.priors);
  writer.commit();
  log::info("validation loss " + format_real(result.loss_start) + " at the start, " + format_real(result.loss_best) +
            " with the priors of step " + std::to_string(result.best_step) +
            "; the model as it was: " + format_real(result.loss_model));
  if (o.output.path != "-") {
    io::OutputFile rows("-");
    io::TableWriter table = open_table(o, rows, train::tune_columns(!o.table.no_times));
    const eval::RunStamp stamp{.seed = std::to_string(context.seed),
                               .dtype = o.computation.dtype_name(),
                               .reading = {},
                               .device = std::string(backend->name()),
                               .model = reader.digest(),
                               .version = context.version};
    train::write_tuning(table, result, stamp, o.table.no_times ? std::nullopt : std::optional(progress.elapsed_s()));
    rows.commit();
  }
  return 0;
}

}  // namespace bam
