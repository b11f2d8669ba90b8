#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"
#include "train/read_ahead.h"
#include "train/step_log.h"

namespace bam::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::vector<std::string> inputs(const Request& request) {
  return request.files.empty() ? std::vector<std::string>{"-"} : request.files;
}

class Run {
 public:
  Run(const Request& request, const Surroundings& surroundings, const SavedTraining* resumed);
  Outcome train();

 private:
  void begin_model(const SavedTraining* resumed, const SavedTraining* initial);
  void resume(const SavedTraining& saved);
  void open_validation();
  enum class Made { step, no_data, given_up };
  Made make_step();
  Outcome stop();
  void end_of_stream();
  bool validation_due() const;
  void validate();
  void log_step();
  bool stop_requested() const;
  bool time_is_up() const;
  void save();

  const Request& request_;
  const Surroundings& surroundings_;
  Clock::time_point begin_ = Clock::now();
  std::string started_ = utc_now();
  Plan plan_;
  std::shared_ptr<WindowSource> source_;
  std::optional<ReadAhead> reading_;  // from its beginning on the source is in its hands
  std::optional<Model> model_;
  std::optional<Trainer> trainer_;
  std::optional<TokenFiles> val_tokens_;
  std::optional<ValidationWindows> val_windows_;
  std::optional<StepLog> log_;
  TrainingState state_;
  std::vector<std::string> digests_;  // of the data read for the steps made
  double step_s_ = 0;                 // of the last step
  Index run_tokens_ = 0;              // of this run
};

Run::Run(const Request& request, const Surroundings& surroundings, const SavedTraining* resumed)
    : request_(request), surroundings_(surroundings) {
  std::optional<SavedTraining> initial;
  if (request.init_from && resumed == nullptr) initial.emplace(*request.init_from);
  const SavedTraining* stored = resumed != nullptr ? resumed : initial ? &*initial : nullptr;
  const ModelConfig* config = stored != nullptr ? &stored->config() : nullptr;
  source_ = open_windows(request, planned_context(request, config), surroundings.seed);
  if (stored != nullptr) stored->require_tokenizer(source_->header(), source_->name());
  plan_ = make_plan(request, source_->header().vocab_size, source_->windows_per_epoch(), config);
  require_memory(plan_, surroundings_.backend);
  open_validation();
  begin_model(resumed, initial ? &*initial : nullptr);
  digests_ = source_->digests();
  reading_.emplace(source_, plan_.batch_windows, plan_.steps - state_.step,
                   Targets{source_->header().bos_id, request.border_targets});
  if (request.log) log_.emplace(*request.log, state_.step);
}

void Run::begin_model(const SavedTraining* resumed, const SavedTraining* initial) {
  model_.emplace(surroundings_.backend, plan_.config, plan_.products);
  if (initial != nullptr) {
    initial->load_parameters(*model_);
  } else if (resumed == nullptr) {
    initialise_model(*model_, plan_, surroundings_.seed);
  }
  trainer_.emplace(*model_, plan_.trainer);
  state_.steps = plan_.steps;
  state_.order = source_->order();
  state_.fingerprint = source_->fingerprint();
  if (resumed != nullptr) resume(*resumed);
  state_.options = surroundings_.options;
}

void Run::resume(const SavedTraining& saved) {
  const TrainingState before = saved.state();
  if (before.order != source_->order()) {
    throw Error(saved.name() + ": began with --order " + std::string(name_in(order_names(), before.order)) +
                ", expected the same");
  }
  if (plan_.steps < before.step) {
    throw Error(saved.name() + ": has made " + std::to_string(before.step) +
                " steps, expected --steps of at least that");
  }
  if (plan_.steps != before.steps) {
    log::warning(std::to_string(plan_.steps) + " steps, " + saved.name() + " was begun for " +
                 std::to_string(before.steps) + ": from here on the learning rate is that of " +
                 std::to_string(plan_.steps));
  }
  saved.load_parameters(*model_);
  saved.load_optimizer(trainer_->optimizer(), surroundings_.backend);
  trainer_->refresh();
  source_->resume(before.windows, before.fingerprint);
  state_ = before;
  state_.steps = plan_.steps;
  log::info("going on after step " + std::to_string(state_.step) + " of " + saved.name());
}

void Run::open_validation() {
  if (!request_.val) return;
  const std::vector<std::string> paths = inputs(request_);
  if (*request_.val == "-" && std::count(paths.begin(), paths.end(), "-") > 0) {
    throw UsageError("--val: standard input is read for training, expected a file");
  }
  val_tokens_.emplace(std::vector<std::string>{*request_.val}, TokenFiles::Pipes::keep_in_memory);
  require_same_header(*request_.val, val_tokens_->header(), source_->name(), source_->header());
  val_windows_.emplace(*val_tokens_, plan_.config.context, Targets{source_->header().bos_id, request_.border_targets});
}

Run::Made Run::make_step() {
  const auto begin = Clock::now();
  const Index context = plan_.config.context;
  std::optional<ReadBatch> read = reading_->next([&] { return stop_requested(); });
  if (!read) return Made::given_up;
  const Batch& batch = read->batch;
  const Index windows = batch.windows;
  if (windows == 0) return Made::no_data;
  const std::optional<StepResult> made = trainer_->step(batch, [&] { return stop_requested(); });
  if (!made) return Made::given_up;
  const StepResult& result = *made;
  state_.step += 1;
  state_.tokens_seen += windows * context;
  state_.windows = read->consumed;
  state_.fingerprint = std::move(read->fingerprint);
  digests_ = std::move(read->digests);
  run_tokens_ += windows * context;
  History& history = state_.history;
  history.tokens.push_back(state_.tokens_seen);
  history.loss.push_back(result.loss);
  history.learning_rate.push_back(result.learning_rate);
  history.gradient_norm.push_back(result.gradient_norm);
  step_s_ = seconds_since(begin);
  if (windows < plan_.batch_windows && !state_.finished()) end_of_stream();
  return Made::step;
}

void Run::end_of_stream() {
  log::warning(source_->name() + ": the stream ended after " + std::to_string(state_.step) + " of " +
               std::to_string(state_.steps) + " steps, and so does the training");
  state_.steps = state_.step;
}

bool Run::validation_due() const {
  if (!val_windows_ || state_.step == 0) return false;
  const History& history = state_.history;
  if (!history.val_step.empty() && history.val_step.back() == state_.step) return false;
  return state_.finished() || (request_.val_every > 0 && state_.step % request_.val_every == 0);
}

void Run::validate() {
  const LossSum sum = trainer_->evaluate(*val_windows_);
  History& history = state_.history;
  history.val_step.push_back(state_.step);
  history.val_targets.push_back(sum.targets);
  history.val_loss.push_back(sum.targets > 0 ? sum.nll_nats / static_cast<double>(sum.targets) : 0.0);
  log::detail("step " + std::to_string(state_.step) + ": val_loss " + format_real(history.val_loss.back()));
}

void Run::log_step() {
  const History& history = state_.history;
  StepLine line{.step = state_.step,
                .loss = history.loss.back(),
                .learning_rate = history.learning_rate.back(),
                .gradient_norm = history.gradient_norm.back(),
                .tokens = state_.tokens_seen,
                .tokens_per_s = {},
                .val_loss = {},
                .seconds = {},
                .seed = surroundings_.seed,
                .device = std::string(surroundings_.backend.name()),
                .version = surroundings_.version};
  const Index before = history.tokens.size() > 1 ? history.tokens[history.tokens.size() - 2] : 0;
  if (!request_.no_times) {
    line.tokens_per_s = static_cast<double>(state_.tokens_seen - before) / step_s_;
    line.seconds = seconds_since(begin_);
  }
  if (!history.val_step.empty() && history.val_step.back() == state_.step) line.val_loss = history.val_loss.back();
  if (log_) log_->write(line);
  StepReport report{.step = state_.step,
                    .steps = state_.steps,
                    .tokens = run_tokens_,
                    .loss = line.loss,
                    .val_loss = {},
                    .flops_per_token = training_flops_per_token(plan_.config, plan_.config.context)};
  if (!history.val_loss.empty()) report.val_loss = history.val_loss.back();
  if (surroundings_.report) surroundings_.report(report);
}

bool Run::stop_requested() const {
  return surroundings_.stop_requested && surroundings_.stop_requested();
}

bool Run::time_is_up() const {
  return stop_requested() || (request_.max_minutes > 0 && seconds_since(begin_) >= request_.max_minutes * 60);
}

void Run::save() {
  std::optional<Provenance> provenance;
  if (!request_.no_times) {
    provenance = {.command_line = surroundings_.command_line,
                  .version = surroundings_.version,
                  .device = surroundings_.backend.describe(),
                  .shards = inputs(request_),
                  .digests = digests_,
                  .started = started_,
                  .written = utc_now(),
                  .wall_s = seconds_since(begin_)};
  }
  save_checkpoint(request_.output, {*model_, trainer_->optimizer(), source_->header(), source_->tokenizer_files(),
                                    state_, std::move(provenance)});
}

Outcome Run::stop() {
  save();
  log::info("stopped after step " + std::to_string(state_.step) + " of " + std::to_string(state_.steps) +
            ": run the same command again to go on");
  return Outcome::stopped;
}

Outcome Run::train() {
  while (!state_.finished()) {
    const Made made = make_step();
    if (made == Made::given_up) return stop();
    if (made == Made::no_data) {
      end_of_stream();
      break;
    }
    if (validation_due()) validate();
    log_step();
    if (state_.finished()) break;
    if (time_is_up()) return stop();
    if (request_.save_every > 0 && state_.step % request_.save_every == 0) save();
  }
  if (validation_due()) validate();
  log::detail("waited for data: " + format_real(reading_->waited_s()) + " of " + format_real(seconds_since(begin_)) +
              " s");
  save();
  return Outcome::finished;
}

}  // namespace

std::unique_ptr<WindowSource> open_windows(const Request& request, Index context, std::uint64_t seed) {
  const std::vector<std::string> paths = inputs(request);
  bool streams = request.order == Order::stream;
  for (const std::string& path : paths) {
    if (!is_pipe(path)) continue;
    if (request.order == Order::global) {
      throw UsageError("--order: " + io::input_name(path) + " is read once, expected stream");
    }
    streams = true;
  }
  return streams ? open_stream_windows(paths, context, seed) : open_file_windows(paths, context, seed);
}

Outcome run_training(const Request& request, const Surroundings& surroundings, const SavedTraining* resumed) {
  return Run(request, surroundings, resumed).train();
}

}  // namespace bam::train
