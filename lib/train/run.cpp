#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "io/pipe.h"
#include "train/joined_devices.h"
#include "train/read_ahead.h"
#include "train/saver.h"
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
  Outcome make_steps();
  void open_data(const SavedTraining* stored);
  std::string what_ranks_share(const SavedTraining* stored) const;
  void plan(const SavedTraining* stored);
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
  struct Orders {
    bool stop = false;
    bool save = false;
  };
  Orders agree();
  bool save_due();
  TrainingCheckpoint checkpoint() const;
  void save();
  void save_aside();

  const Request& request_;
  const Surroundings& surroundings_;
  dist::Communicator& ranks_;
  Clock::time_point begin_ = Clock::now();
  std::string started_ = utc_now();
  Plan plan_;
  std::shared_ptr<WindowSource> source_;  // of rank 0; the others have null
  std::optional<ReadAhead> reading_;      // from its beginning on the source is in its hands
  Index vocab_ = 0, windows_per_epoch_ = 0;
  std::optional<Model> model_;
  std::optional<Trainer> trainer_;
  std::optional<TokenFiles> val_tokens_;
  std::optional<ValidationWindows> val_windows_;
  std::optional<StepLog> log_;
  std::string log_problem_;  // what ended the log: the training saves before it ends with that
  Saver saver_;
  Clock::time_point saved_ = begin_;
  bool save_is_due_ = false;
  bool is_saved_ = false;  // the output is this training as it stands
  TrainingState state_;
  std::vector<std::string> digests_;  // of the data read for the steps made
  double step_s_ = 0;                 // of the last step
  Index run_tokens_ = 0;              // of this run
  JoinedDevices devices_;             // goes before the memory that they work on
};

Run::Run(const Request& request, const Surroundings& surroundings, const SavedTraining* resumed)
    : request_(request),
      surroundings_(surroundings),
      ranks_(surroundings.ranks),
      saver_(request.output, request.keep),
      devices_(ranks_) {
  std::optional<SavedTraining> initial;
  const SavedTraining* stored = resumed;
  together(ranks_, [&] {
    if (request.init_from && resumed == nullptr) stored = &initial.emplace(*request.init_from);
    open_data(stored);
  });
  require_same(ranks_, what_ranks_share(stored), "the options and the checkpoint to begin with");
  const double facts[] = {static_cast<double>(vocab_), static_cast<double>(windows_per_epoch_)};
  const std::vector<double> all = ranks_.gather_all(facts);
  vocab_ = static_cast<Index>(all[0]);
  windows_per_epoch_ = static_cast<Index>(all[1]);
  devices_.join(surroundings_.backend);
  // Apart, because what one rank takes is missing where another looks how much memory is left.
  together(ranks_, [&] { plan(stored); });
  together(ranks_, [&] { begin_model(resumed, initial ? &*initial : nullptr); });
}

// What decides which messages the ranks exchange, and what they mean.
std::string Run::what_ranks_share(const SavedTraining* stored) const {
  std::string text = stored != nullptr ? stored->digest() : "";
  for (const auto& [name, value] : surroundings_.options) text.append(" --").append(name).append(" ").append(value);
  text.append(request_.val ? " validates every " : " never validates ").append(std::to_string(request_.val_every));
  return text.append(request_.shard_optimizer ? " in shards" : " as a whole");
}

void Run::open_data(const SavedTraining* stored) {
  if (!ranks_.is_root()) return;
  const ModelConfig* config = stored != nullptr ? &stored->config() : nullptr;
  source_ = open_windows(request_, planned_context(request_, config), surroundings_.seed);
  if (stored != nullptr) stored->require_tokenizer(source_->header(), source_->name());
  vocab_ = source_->header().vocab_size;
  windows_per_epoch_ = source_->windows_per_epoch();
}

void Run::plan(const SavedTraining* stored) {
  plan_ = make_plan(request_, vocab_, windows_per_epoch_, stored != nullptr ? &stored->config() : nullptr);
  const Index most_windows = (plan_.batch_windows + ranks_.size() - 1) / ranks_.size();
  plan_.trainer.micro_windows = std::min(plan_.trainer.micro_windows, most_windows);
  const int sharing = devices_.are_joined() ? 1 : ranks_.on_this_machine();
  require_memory(plan_, surroundings_.backend, sharing, ranks_.size());
  if (ranks_.is_root()) open_validation();
}

void Run::begin_model(const SavedTraining* resumed, const SavedTraining* initial) {
  model_.emplace(surroundings_.backend, plan_.config, plan_.products);
  if (initial != nullptr) {
    initial->load_parameters(*model_);
  } else if (resumed == nullptr) {
    initialise_model(*model_, plan_, surroundings_.seed);
  }
  trainer_.emplace(*model_, plan_.trainer, ranks_);
  state_.steps = plan_.steps;
  if (source_) {
    state_.order = source_->order();
    state_.fingerprint = source_->fingerprint();
  }
  if (resumed != nullptr) resume(*resumed);
  state_.options = surroundings_.options;
  if (!ranks_.is_root()) return;
  saver_.claim(state_.options);
  digests_ = source_->digests();
  reading_.emplace(source_, plan_.batch_windows, plan_.steps - state_.step,
                   Targets{source_->header().bos_id, request_.border_targets});
  if (request_.log) log_.emplace(*request_.log, state_.step);
}

void Run::resume(const SavedTraining& saved) {
  const TrainingState before = saved.state();
  if (source_ && before.order != source_->order()) {
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
  if (source_) source_->resume(before.windows, before.fingerprint);
  state_ = before;
  state_.steps = plan_.steps;
  is_saved_ = saved.name() == request_.output && state_.steps == before.steps;
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
  std::optional<ReadBatch> read;
  Batch given_up;
  given_up.windows = -1;
  if (reading_) read = reading_->next([&] { return stop_requested(); });
  const Share share = share_out(ranks_, read ? read->batch : given_up);
  const Index windows = share.windows;
  if (windows < 0) return Made::given_up;
  if (windows == 0) return Made::no_data;
  const std::optional<StepResult> made = trainer_->step(share.own, [&] { return stop_requested(); });
  if (!made) return Made::given_up;
  const StepResult& result = *made;
  is_saved_ = false;
  state_.step += 1;
  state_.tokens_seen += windows * context;
  if (read) {
    state_.windows = read->consumed;
    state_.fingerprint = std::move(read->fingerprint);
    digests_ = std::move(read->digests);
  }
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
  if (source_)
    log::warning(source_->name() + ": the stream ended after " + std::to_string(state_.step) + " of " +
                 std::to_string(state_.steps) + " steps, and so does the training");
  state_.steps = state_.step;
}

bool Run::validation_due() const {
  if (!request_.val || state_.step == 0) return false;
  const History& history = state_.history;
  if (!history.val_step.empty() && history.val_step.back() == state_.step) return false;
  return state_.finished() || (request_.val_every > 0 && state_.step % request_.val_every == 0);
}

void Run::validate() {
  const LossSum sum = trainer_->evaluate_shared(val_windows_ ? &*val_windows_ : nullptr);
  is_saved_ = false;
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
  try {
    if (log_) log_->write(line);
  } catch (const Error& error) {
    log_problem_ = error.what();
  }
  StepReport report{.step = state_.step,
                    .steps = state_.steps,
                    .tokens = run_tokens_,
                    .loss = line.loss,
                    .val_loss = {},
                    .flops_per_token = training_flops_per_token(plan_.config, plan_.config.context)};
  if (request_.val && !history.val_loss.empty()) report.val_loss = history.val_loss.back();
  if (surroundings_.report) surroundings_.report(report);
}

bool Run::stop_requested() const {
  return surroundings_.stop_requested && surroundings_.stop_requested();
}

bool Run::time_is_up() const {
  return stop_requested() || !log_problem_.empty() ||
         (request_.max_minutes > 0 && seconds_since(begin_) >= request_.max_minutes * 60);
}

// After a step: any rank may have been signalled, rank 0 knows when to save.
Run::Orders Run::agree() {
  const double own[] = {time_is_up() ? 1.0 : 0.0, ranks_.is_root() && save_due() ? 1.0 : 0.0};
  const std::vector<double> all = ranks_.gather_all(own);
  Orders orders;
  for (std::size_t i = 0; i < all.size(); i += 2) orders.stop |= all[i] != 0;
  orders.save = all[1] != 0;
  return orders;
}

// While the last checkpoint is still being written the next one waits, and the training does not.
bool Run::save_due() {
  const SaveEvery& every = request_.save_every;
  if (every.steps > 0 && state_.step % every.steps == 0) save_is_due_ = true;
  if (every.seconds > 0 && seconds_since(saved_) >= every.seconds) save_is_due_ = true;
  const bool writing = saver_.is_writing();
  return save_is_due_ && !writing;
}

TrainingCheckpoint Run::checkpoint() const {
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
  Backend& backend = surroundings_.backend;
  const Optimizer& optimizer = trainer_->optimizer();
  return {.config = plan_.config,
          .infos = model_->parameters().infos(),
          .parameters = values_of(model_->parameters(), backend),
          .m = optimizer.all_m(),
          .v = optimizer.all_v(),
          .tokenizer = source_->header(),
          .tokenizer_files = source_->tokenizer_files(),
          .state = state_,
          .provenance = std::move(provenance)};
}

// Rank 0 writes; the others give it the moments that they keep.
void Run::save() {
  if (!ranks_.is_root()) return trainer_->optimizer().hand_over();
  saver_.write(checkpoint());
}

void Run::save_aside() {
  if (!ranks_.is_root()) return trainer_->optimizer().hand_over();
  const double copy_bytes = 3.0 * sizeof(float) * static_cast<double>(count_parameters(plan_.config));
  if (copy_bytes < available_memory_bytes()) {
    saver_.write_aside(checkpoint());
  } else {
    log::detail("no memory for a copy: the training waits for the checkpoint");
    save();
  }
  saved_ = Clock::now();
  save_is_due_ = false;
}

Outcome Run::stop() {
  save();
  log::info("stopped after step " + std::to_string(state_.step) + " of " + std::to_string(state_.steps) +
            ": run the same command again to go on");
  return Outcome::stopped;
}

Outcome Run::train() {
  const Outcome outcome = make_steps();
  together(ranks_, [&] {
    if (!log_problem_.empty()) throw Error(log_problem_);
  });
  return outcome;
}

Outcome Run::make_steps() {
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
    const Orders orders = agree();
    if (orders.stop) return stop();
    if (orders.save) save_aside();
  }
  if (validation_due()) validate();
  if (reading_)
    log::detail("waited for data: " + format_real(reading_->waited_s()) + " of " + format_real(seconds_since(begin_)) +
                " s");
  if (is_saved_) {
    log::info(request_.output + ": finished before, nothing is left to do");
  } else {
    save();
  }
  return Outcome::finished;
}

}  // namespace

std::unique_ptr<WindowSource> open_windows(const Request& request, Index context, std::uint64_t seed) {
  const std::vector<std::string> paths = inputs(request);
  bool streams = request.order == Order::stream;
  for (const std::string& path : paths) {
    if (!io::is_pipe(path)) continue;
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
