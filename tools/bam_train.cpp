// Token shards to a trained model.
#include <cmath>

#include "base/log.h"
#include "cli/progress.h"
#include "io/pipe.h"
#include "kernels/registry.h"
#include "train/estimate.h"
#include "train_options.h"
#include "train_resume.h"

namespace {

using namespace bam;

// What would go wrong at the end goes wrong now. A FIFO is opened only once.
void check_output(const std::string& path, const train::Request& request) {
  const bool is_stream = io::is_pipe(path);
  if (path == "-" || !is_stream) cli::require_not_terminal(io::OutputFile(path));
  if (is_stream && !request.save_every.at_end_only()) throw UsageError("--save-every: needs a file, expected -o FILE");
  if (is_stream && request.keep > 0) throw UsageError("--keep: needs a file, expected -o FILE");
  if (request.keep > 0 && request.log && train::is_kept_name(path, *request.log)) {
    throw UsageError("--log: " + *request.log + " is a name that --keep gives to checkpoints, expected another");
  }
}

void refuse_idle_options(const TrainToolOptions& o, const train::Request& request, const cli::Context& context) {
  const bool has_own_model = request.init_from.has_value();
  const std::string pe(name_in(positional_encoding_names(), request.pe));
  cli::refuse_idle(
      *context.options,
      {{.applies = has_own_model,
        .why = "with --init-from, whose model has its own",
        .options = {"layers", "dim", "heads", "kv-heads", "ffn", "pe", "ssmax", "prior-scope", "prior-init",
                    "shape-init", "scale-init", "loc-init"}},
       {.applies = !has_own_model && request.pe != PositionalEncoding::bam,
        .why = "with --pe " + pe + ", expected --pe bam",
        .options = {"prior-scope", "prior-init", "shape-init", "scale-init", "loc-init", "train-prior", "prior-lr"}},
       {.applies = request.train_prior == train::PriorTraining{false, false, false},
        .why = "with --train-prior none",
        .options = {"prior-lr"}},
       {.applies = request.schedule == train::ScheduleKind::constant,
        .why = "with --schedule constant",
        .options = {"min-lr-fraction"}},
       {.applies = !request.val, .why = "without --val", .options = {"val-every"}},
       {.applies = !o.dry_run, .why = "without --dry-run", .options = {"format", "no-header"}}});
}

int dry_run(const TrainToolOptions& o, const train::Request& request, Backend& backend, const cli::Context& context,
            const train::SavedTraining* saved) {
  Saved initial;
  if (saved == nullptr && request.init_from) initial = std::make_unique<train::SavedTraining>(*request.init_from);
  const train::SavedTraining* stored = saved != nullptr ? saved : initial.get();
  const ModelConfig* config = stored != nullptr ? &stored->config() : nullptr;
  Index vocab = train::kAssumedVocab;
  Index windows = 0;
  if (!request.files.empty()) {
    const auto source = train::open_windows(request, train::planned_context(request, config), context.seed);
    vocab = source->header().vocab_size;
    windows = source->windows_per_epoch();
  }
  const train::Plan plan = train::make_plan(request, vocab, windows, config);
  io::OutputFile output("-");  // --output names the checkpoint
  train::write_estimate(train::estimate(plan, windows * plan.config.context, backend), output, o.table.format,
                        !o.table.no_header, !o.table.no_times);
  output.commit();
  return 0;
}

int run(const TrainToolOptions& o, cli::Context& context) {
  const Saved saved = find_saved(o, context);
  train::Request request = o.request;
  request.output = o.output.path;
  request.no_times = o.table.no_times;
  refuse_idle_options(o, request, context);
  const auto backend = make_backend(context.device, context.threads, context.ranks->place_on_machine());
  if (o.dry_run) return !context.ranks->is_root() ? 0 : dry_run(o, request, *backend, context, saved.get());
  if (context.ranks->is_root()) check_output(request.output, request);
  log::info(backend->describe());
  const bool shows_utilisation = log::level() > log::Level::quiet;
  const double ceiling = shows_utilisation ? train::measure_matrix_ceiling(*backend, request.products) : 0;

  std::optional<cli::Progress> progress;
  train::StepReport first, last;
  const auto note = [&] {
    const double rate = static_cast<double>(last.tokens - first.tokens) / progress->elapsed_s();
    std::string text = "loss " + human_count(last.loss);
    if (last.val_loss) text += "  val " + human_count(*last.val_loss);
    if (ceiling > 0 && rate > 0)
      text += "  MFU " + human_count(std::round(100 * rate * last.flops_per_token / ceiling)) + "%";
    return text;
  };
  const auto report = [&](const train::StepReport& now) {
    last = now;
    if (!progress) {
      first = now;
      progress.emplace(
          cli::ProgressInfo{.total = now.steps, .start = now.step, .unit = "steps", .rate_unit = "tokens"});
    }
    progress->update(now.step, now.tokens - first.tokens, note());
  };
  const train::Outcome outcome =
      train::run_training(request,
                          {*backend, *context.ranks, context.seed, context.version, context.command_line,
                           lasting_options(context), [&] { return context.stop_requested(); }, report},
                          saved.get());
  if (progress) {
    progress->clear();
    log::info(std::to_string(last.step) + " steps, " + human_count(static_cast<double>(last.tokens)) + " tokens in " +
              human_seconds(progress->elapsed_s()) + ", " + note());
  }
  return static_cast<int>(outcome == train::Outcome::stopped ? ExitStatus::interrupted : ExitStatus::ok);
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<TrainToolOptions>(
      {.name = "bam-train",
       .purpose = "token shards to a trained model",
       .examples = {{"bam-train text.tok.zst --val held.tok.zst -o model.h5",
                     "The preset tiny, which shows the paper's result."},
                    {"bam-tokenize text.txt | bam-train - -o - | bam-ppl - held.tok.zst", "All of it in one pipe."},
                    {"bam-train --preset l12 --dtype bf16 --dry-run shards/*.tok.zst",
                     "What a larger model would take."}},
       .on_signal = bam::cli::OnSignal::save,
       .on_ranks = bam::cli::OnRanks::together},
      run, argc, argv);
}
