#include "train/checkpoint.h"

#include "base/error.h"

namespace bam::train {
namespace {

template <typename T>
void write_column(io::Hdf5Group& group, const std::string& name, const std::vector<T>& values) {
  group.write<T>(name, {std::ssize(values)}, std::span<const T>(values));
}

void write_history(io::Hdf5Group& root, const History& history) {
  io::Hdf5Group group = root.create_group("history");
  write_column(group, "tokens", history.tokens);
  write_column(group, "loss", history.loss);
  write_column(group, "lr", history.learning_rate);
  write_column(group, "grad_norm", history.gradient_norm);
  write_column(group, "val_step", history.val_step);
  write_column(group, "val_loss", history.val_loss);
  write_column(group, "val_targets", history.val_targets);
}

History read_history(const io::Hdf5Group& group) {
  History history;
  history.tokens = group.read_vector<std::int64_t>("tokens");
  history.loss = group.read_vector<double>("loss");
  history.learning_rate = group.read_vector<double>("lr");
  history.gradient_norm = group.read_vector<double>("grad_norm");
  history.val_step = group.read_vector<std::int64_t>("val_step");
  history.val_loss = group.read_vector<double>("val_loss");
  history.val_targets = group.read_vector<std::int64_t>("val_targets");
  return history;
}

void write_state(io::Hdf5Group& root, const TrainingState& state) {
  io::Hdf5Group group = root.create_group("state");
  group.set_int("step", state.step);
  group.set_int("steps", state.steps);
  group.set_int("tokens_seen", state.tokens_seen);
  group.set_int("windows", state.windows);
  group.set_string("order", std::string(name_in(order_names(), state.order)));
  group.set_string("data_sha256", state.fingerprint);
  io::Hdf5Group options = group.create_group("options");
  for (const auto& [name, value] : state.options) options.set_string(name, value);
}

void write_provenance(io::Hdf5Group& root, const Provenance& provenance) {
  io::Hdf5Group group = root.create_group("provenance");
  group.write_bytes("command_line", provenance.command_line);
  group.set_string("version", provenance.version);
  group.set_string("device", provenance.device);
  const auto lines = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) text += line + "\n";
    return text;
  };
  group.write_bytes("shards", lines(provenance.shards));
  group.write_bytes("shard_digests", lines(provenance.digests));
  group.set_string("started", provenance.started);
  group.set_string("written", provenance.written);
  group.set_real("wall_s", provenance.wall_s);
}

}  // namespace

void save_checkpoint(const std::string& path, const TrainingCheckpoint& checkpoint) {
  io::CheckpointWriter writer(path);
  io::Hdf5File& file = writer.file();
  write_config(file, checkpoint.config);
  {
    io::Hdf5Group params = file.create_group("params");
    write_parameters(params, checkpoint.infos, checkpoint.parameters);
    write_tokenizer(file, checkpoint.tokenizer, checkpoint.tokenizer_files);
    io::Hdf5Group optimizer = file.create_group("optimizer");
    io::Hdf5Group m = optimizer.create_group("m");
    io::Hdf5Group v = optimizer.create_group("v");
    write_parameters(m, checkpoint.infos, checkpoint.m);
    write_parameters(v, checkpoint.infos, checkpoint.v);
  }
  write_state(file, checkpoint.state);
  write_history(file, checkpoint.state.history);
  if (checkpoint.provenance) write_provenance(file, *checkpoint.provenance);
  writer.commit();
}

SavedTraining::SavedTraining(const std::string& path) : reader_(path) {
  const io::Hdf5File& file = reader_.file();
  if (!file.has_attribute("format") || !file.has_group("params")) {
    throw Error(reader_.name() + ": not a model, expected a checkpoint of bam-train");
  }
  config_ = read_config(file);
  tokenizer_ = read_tokenizer(file);
}

void SavedTraining::require_tokenizer(const io::ShardHeader& shards, const std::string& shards_name) const {
  const std::string difference = io::header_difference(shards, tokenizer_.header);
  if (!difference.empty()) throw Error(shards_name + ": does not go with the model " + name() + ": " + difference);
}

TrainingState SavedTraining::state() const {
  const io::Hdf5File& file = reader_.file();
  if (!file.has_group("state") || !file.has_group("optimizer")) {
    throw Error(name() + ": holds a model alone, expected a training to go on with (or --init-from)");
  }
  const io::Hdf5Group group = file.group("state");
  TrainingState state;
  state.step = group.attribute_int("step");
  state.steps = group.attribute_int("steps");
  state.tokens_seen = group.attribute_int("tokens_seen");
  state.windows = group.attribute_int("windows");
  const std::string order = group.attribute_string("order");
  state.order = order == name_in(order_names(), Order::stream) ? Order::stream : Order::global;
  state.fingerprint = group.attribute_string("data_sha256");
  const io::Hdf5Group options = group.group("options");
  for (const std::string& option : options.attribute_names()) {
    state.options.emplace_back(option, options.attribute_string(option));
  }
  state.history = read_history(file.group("history"));
  if (state.step < 0 || state.windows < 0 || std::ssize(state.history.loss) != state.step) {
    throw Error(name() + ": /state and /history do not go together");
  }
  return state;
}

void SavedTraining::load_parameters(Model& model) const {
  read_parameters(reader_.file().group("params"), model.parameters(), model.backend());
  model.refresh_products();
}

void SavedTraining::load_optimizer(Optimizer& optimizer, Backend& backend) const {
  const io::Hdf5Group group = reader_.file().group("optimizer");
  read_parameters(group.group("m"), optimizer.m(), backend);
  read_parameters(group.group("v"), optimizer.v(), backend);
  optimizer.set_step(state().step);
}

}  // namespace bam::train
