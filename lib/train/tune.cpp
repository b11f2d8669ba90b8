#include "train/tune.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"

namespace bam::train {
namespace {

// The slopes of a start without a prior, as stored.
constexpr double kFaintScale = -10;
// Validation data that is kept from the training data, at most; more would take longer than the steps.
constexpr Index kHeldOutBatches = 4;

bool is_tuned(const ParameterInfo& info, const TuneRequest& request) {
  switch (info.role) {
    case ParameterRole::prior_shape:
      return request.shape;
    case ParameterRole::prior_scale:
      return request.scale;
    case ParameterRole::prior_loc:
      return request.loc;
    case ParameterRole::ssmax_scale:
      return request.ssmax;
    default:
      return false;
  }
}

// The weights of the checkpoint under a configuration that may have other priors.
void load_weights(const io::CheckpointReader& reader, const ModelPriors& own, Model& model) {
  const io::Hdf5Group params = reader.file().group("params");
  const ParameterSet& set = model.parameters();
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const ParameterInfo& info = set.infos()[i];
    const bool is_prior = info.role == ParameterRole::prior_shape || info.role == ParameterRole::prior_scale ||
                          info.role == ParameterRole::prior_loc;
    if (is_prior && own.config.pe != PositionalEncoding::bam) continue;
    std::vector<Index> dims;
    for (int axis = 0; axis < info.shape.rank(); ++axis) dims.push_back(info.shape[axis]);
    const std::vector<float> values = params.read<float>(info.name, dims);
    model.backend().copy_in(set[i], {values.data(), DType::f32, info.shape});
  }
  model.refresh_products();
}

// Windows of one or several shards, by number; the last `held_out` of them are for validation.
class TuneData {
 public:
  TuneData(const TuneRequest& request, const io::ShardHeader& tokenizer, const std::string& model)
      : context_(request.context), files_(open(request.files, tokenizer, model)) {
    targets_ = {tokenizer.bos_id, request.border_targets};
    const Index windows = (files_.tokens() - 1) / context_;
    const Index tenth = std::clamp<Index>(windows / 10, 1, kHeldOutBatches * request.batch_windows);
    const Index held_out = request.val ? 0 : tenth;
    training_ = windows - held_out;
    if (training_ < 1) {
      throw Error(files_.name() + ": " + std::to_string(files_.tokens()) + " tokens, expected at least " +
                  std::to_string((request.val ? 1 : 2) * context_ + 1) + " (--context " + std::to_string(context_) +
                  (request.val ? ")" : ", a window for training and one for validation)"));
    }
    if (request.val) {
      val_files_.emplace(open({*request.val}, tokenizer, model));
      validation_.emplace(*val_files_, context_, targets_);
    } else {
      held_ = batch(training_, held_out);
    }
  }

  // The next windows of an endless sequence of seeded permutations.
  Batch next(Index windows, std::uint64_t seed) {
    std::vector<Token> ids(static_cast<std::size_t>(windows * (context_ + 1)));
    for (Index w = 0; w < windows; ++w, ++handed_out_) {
      const auto epoch = static_cast<std::uint64_t>(handed_out_ / training_);
      const Permutation order(static_cast<std::uint64_t>(training_), mix64(seed) + epoch);
      const auto at = static_cast<Index>(order(static_cast<std::uint64_t>(handed_out_ % training_)));
      files_.read(at * context_, std::span(ids).subspan(static_cast<std::size_t>(w * (context_ + 1)),
                                                        static_cast<std::size_t>(context_ + 1)));
    }
    return make_batch(ids, context_, targets_);
  }

  LossSum validate(Trainer& trainer) const {
    return validation_ ? trainer.evaluate(*validation_) : trainer.evaluate(held_);
  }

 private:
  static TokenFiles open(const std::vector<std::string>& paths, const io::ShardHeader& tokenizer,
                         const std::string& model) {
    TokenFiles files(paths, TokenFiles::Pipes::keep_in_memory);
    const std::string difference = io::header_difference(files.header(), tokenizer);
    if (!difference.empty()) {
      throw Error(files.name() + ": does not fit the model " + model + ": " + difference +
                  ", expected shards made with the model's tokenizer");
    }
    return files;
  }

  Batch batch(Index first, Index windows) {
    std::vector<Token> ids(static_cast<std::size_t>(windows * (context_ + 1)));
    for (Index w = 0; w < windows; ++w) {
      files_.read((first + w) * context_, std::span(ids).subspan(static_cast<std::size_t>(w * (context_ + 1)),
                                                                 static_cast<std::size_t>(context_ + 1)));
    }
    return make_batch(ids, context_, targets_);
  }

  Index context_;
  TokenFiles files_;
  Targets targets_;
  Index training_ = 0;
  Index handed_out_ = 0;
  std::optional<TokenFiles> val_files_;
  std::optional<ValidationWindows> validation_;
  Batch held_;
};

ModelConfig tuned_config(const ModelPriors& own, const TuneRequest& request) {
  ModelConfig config = with_bam_prior(own.config);
  config.context = request.context;
  config.train_shape = request.shape;
  config.train_scale = request.scale;
  config.train_loc = request.loc;
  return config;
}

TrainerSettings trainer_settings(const TuneRequest& request) {
  TrainerSettings settings;
  // Gradients of a faint prior are far below the usual eps; no decay is wanted of priors.
  settings.optimizer = {.kind = OptimizerKind::adamw, .eps = 1e-14, .weight_decay = 0, .clip = 0};
  settings.schedule = {ScheduleKind::cosine, request.steps, std::max<Index>(1, request.steps / 20), 0.1};
  settings.learning_rate = settings.prior_learning_rate = request.learning_rate;
  settings.micro_windows = default_micro_windows(request.context, request.batch_windows);
  settings.trains = [request](const ParameterInfo& info) { return is_tuned(info, request); };
  return settings;
}

void check_memory(const Backend& backend, const ModelConfig& config, const TuneRequest& request, Index micro_windows) {
  const double bytes =
      (4.0 + (request.products == Products::bf16 ? 2 : 0)) * static_cast<double>(count_parameters(config)) +
      training_pass_bytes(config, request.products, micro_windows, request.context);
  const double available = backend.available_bytes();
  if (bytes <= available) return;
  throw Error("tuning needs " + human_bytes(bytes) + " of memory, and " + human_bytes(available) +
              " are available, expected a smaller --context");
}

// The loss of the model as it is, before it is taken apart.
double loss_as_given(const io::CheckpointReader& reader, const ModelPriors& own, Backend& backend,
                     const TuneRequest& request, const TuneData& data) {
  ModelConfig config = own.config;
  config.context = request.context;
  Model model(backend, config, request.products);
  load_weights(reader, own, model);
  TrainerSettings settings = trainer_settings(request);
  settings.trains = [](const ParameterInfo&) { return false; };
  Trainer trainer(model, settings);
  return data.validate(trainer).mean();
}

class Tuning {
 public:
  Tuning(Model& model, TuneData& data, const TuneRequest& request, const TuneWatch& watch)
      : model_(model), data_(data), request_(request), watch_(watch), trainer_(model, trainer_settings(request)) {}

  TuneResult run(std::uint64_t seed) {
    validate(0);
    result_.loss_start = result_.loss_last;
    result_.measure_start = result_.measure_best;
    const Index every = request_.val_every > 0 ? request_.val_every : std::max<Index>(1, request_.steps / 10);
    for (Index step = 1; step <= request_.steps && !is_enough(); ++step) {
      TuneStep report{step, trainer_.step(data_.next(request_.batch_windows, seed)).loss, {}};
      result_.steps = step;
      if (step % every == 0 || step == request_.steps) {
        validate(step);
        report.val_loss = result_.loss_last;
      }
      if (watch_.report) watch_.report(report);
    }
    for (const ParameterInfo& info : model_.parameters().infos()) {
      if (is_tuned(info, request_)) result_.parameters += info.shape.count();
    }
    return std::move(result_);
  }

 private:
  bool is_enough() const { return result_.measure_best && *result_.measure_best >= watch_.enough; }

  void validate(Index step) {
    const LossSum sum = data_.validate(trainer_);
    result_.targets = sum.targets;
    result_.loss_last = sum.mean();
    if (!std::isfinite(result_.loss_last)) throw Error("tuning: the validation loss is not finite, expected numbers");
    std::optional<double> measure;
    if (watch_.measure) measure = watch_.measure(model_);
    const bool first = step == 0;
    const bool better = measure == result_.measure_best ? result_.loss_last < result_.loss_best
                                                        : measure.value_or(0) > result_.measure_best.value_or(0);
    if (!first && !better) return;
    result_.priors = get_priors(model_);
    result_.loss_best = result_.loss_last;
    result_.measure_best = measure;
    result_.best_step = step;
  }

  Model& model_;
  TuneData& data_;
  const TuneRequest& request_;
  const TuneWatch& watch_;
  Trainer trainer_;
  TuneResult result_;
};

}  // namespace

std::vector<std::vector<HeadPrior>> tuning_start(const ModelPriors& own) {
  const auto heads = static_cast<std::size_t>(own.config.heads);
  const auto layers = static_cast<std::size_t>(own.config.layers);
  if (own.config.pe == PositionalEncoding::bam) {
    const bool global = own.config.prior_scope == PriorScope::global;
    return {own.heads.begin(), own.heads.begin() + (global ? 1 : own.config.layers)};
  }
  std::vector<HeadPrior> first = authors_prior(own.config.heads);
  if (own.config.pe == PositionalEncoding::nope) first.assign(heads, {.shape = 1, .scale = kFaintScale, .loc = 0});
  return {layers, first};
}

TuneResult tune_priors(const io::CheckpointReader& reader, Backend& backend, const TuneRequest& request,
                       std::uint64_t seed, const TuneWatch& watch) {
  const ModelPriors own = read_priors(reader);
  const StoredTokenizer tokenizer = read_tokenizer(reader.file());
  TuneData data(request, tokenizer.header, reader.name());
  const ModelConfig config = tuned_config(own, request);
  check_memory(backend, config, request, default_micro_windows(request.context, request.batch_windows));
  const double loss_model = loss_as_given(reader, own, backend, request, data);
  if (!std::isfinite(loss_model)) {
    throw Error(reader.name() + ": the validation loss is not finite, expected a model that gives numbers");
  }
  Model model(backend, config, request.products);
  load_weights(reader, own, model);
  set_priors(model, request.start.value_or(tuning_start(own)));
  model.refresh_products();
  TuneResult result = Tuning(model, data, request, watch).run(seed);
  result.loss_model = loss_model;
  result.config = with_bam_prior(own.config);
  return result;
}

std::vector<io::Column> tune_columns(bool with_times) {
  using io::ColumnType;
  std::vector<io::Column> columns = {{"loss_model", ColumnType::real, 6},   {"loss_start", ColumnType::real, 6},
                                     {"loss_best", ColumnType::real, 6},    {"loss_last", ColumnType::real, 6},
                                     {"targets", ColumnType::integer},      {"passkey_start", ColumnType::real, 6},
                                     {"passkey_best", ColumnType::real, 6}, {"best_step", ColumnType::integer},
                                     {"steps", ColumnType::integer},        {"parameters", ColumnType::integer}};
  eval::append_stamp_columns(columns);
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

void write_tuning(io::TableWriter& table, const TuneResult& result, const eval::RunStamp& stamp,
                  std::optional<double> seconds) {
  const auto maybe = [](const std::optional<double>& value) { return value ? io::Cell(*value) : io::Cell(); };
  std::vector<io::Cell> row = {result.loss_model, result.loss_start, result.loss_best, result.loss_last,
                               result.targets};
  row.insert(row.end(), {maybe(result.measure_start), maybe(result.measure_best)});
  row.insert(row.end(), {result.best_step, result.steps, result.parameters});
  eval::append_stamp(row, stamp);
  if (seconds) row.emplace_back(*seconds);
  table.row(row);
}

}  // namespace bam::train
