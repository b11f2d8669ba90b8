// boxes: train model text io kernels base
#include "train/saver.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "kernels/registry.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/bytes_tokenizer.h"

using namespace bam;
using namespace bam::train;
using namespace bam::test;

namespace {

// A checkpoint whose parameters all are `value`.
TrainingCheckpoint checkpoint_of(Index step, float value, std::vector<double> val_losses = {}) {
  TrainingCheckpoint checkpoint;
  checkpoint.config = {.dim = 8, .layers = 1, .heads = 2, .kv_heads = 2, .ffn = 8, .vocab = 257, .context = 8};
  checkpoint.infos = list_parameters(checkpoint.config);
  const auto values = [infos = checkpoint.infos, value](std::size_t i) {
    return std::vector<float>(static_cast<std::size_t>(infos[i].shape.count()), value);
  };
  checkpoint.parameters = checkpoint.m = checkpoint.v = values;
  const auto tokenizer = text::make_bytes_tokenizer();
  checkpoint.tokenizer = text::shard_header(*tokenizer);
  checkpoint.tokenizer_files = tokenizer->files();
  TrainingState& state = checkpoint.state;
  state.step = step;
  state.steps = 100;
  History& history = state.history;
  history.tokens.resize(static_cast<std::size_t>(step));
  history.loss = history.learning_rate = history.gradient_norm = std::vector<double>(history.tokens.size());
  const auto validations = std::ssize(val_losses);
  for (Index i = 0; i < validations; ++i) history.val_step.push_back(step - (validations - 1 - i));
  history.val_targets.resize(val_losses.size());
  history.val_loss = std::move(val_losses);
  return checkpoint;
}

Index step_of(const std::string& path) {
  return SavedTraining(path).state().step;
}

std::vector<std::string> names_in(const ScratchFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("saver: what is written aside is what was there when it was asked for") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  float value = 1;
  TrainingCheckpoint live = checkpoint_of(3, 0);
  live.parameters = [&value, infos = live.infos](std::size_t i) {
    return std::vector<float>(static_cast<std::size_t>(infos[i].shape.count()), value);
  };
  {
    Saver saver(path, 0);
    CHECK_FALSE(saver.is_writing());
    saver.write_aside(live);
    value = 2;
    live.state.step = 4;
  }
  CHECK(step_of(path) == 3);
  const io::CheckpointReader reader(path);
  CHECK(reader.file().group("params").read<float>("final_norm", {8}) == std::vector<float>(8, 1.0F));
  save_checkpoint(folder / "b.h5", checkpoint_of(3, 0));
  Saver(folder / "c.h5", 0).write(checkpoint_of(3, 0));
  CHECK(slurp(folder / "b.h5") == slurp(folder / "c.h5"));
}

TEST_CASE("saver: an error in the background is told, and the last checkpoint stays") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  Saver saver(path, 0);
  saver.write(checkpoint_of(1, 1));
  TrainingCheckpoint broken = checkpoint_of(2, 1);
  broken.infos.back().name = broken.infos.front().name;  // one name twice
  saver.write_aside(broken);
  const std::string error = error_of([&] {
    while (saver.is_writing()) std::this_thread::yield();
  });
  CHECK(contains(error, path + ": /params/token_embedding: "));
  CHECK(step_of(path) == 1);
  CHECK(names_in(folder) == std::vector<std::string>{"a.h5"});
  saver.write(checkpoint_of(3, 1));
  CHECK(step_of(path) == 3);
}

TEST_CASE("saver: the last ones and the best are kept") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  spit(folder / "a-notes.h5", "not ours");
  spit(folder / "a-007.h5", "not ours");
  Saver saver(path, 2);
  saver.write(checkpoint_of(5, 1, {3.0}));
  saver.write(checkpoint_of(7, 2, {3.0, 2.0}));
  saver.write_aside(checkpoint_of(10, 3, {3.0, 2.0, 2.5}));
  while (saver.is_writing()) std::this_thread::yield();
  CHECK(names_in(folder) ==
        std::vector<std::string>{"a-007.h5", "a-10.h5", "a-7.h5", "a-best.h5", "a-notes.h5", "a.h5"});
  CHECK(std::filesystem::equivalent(path, folder / "a-10.h5"));
  CHECK(std::filesystem::equivalent(folder / "a-best.h5", folder / "a-7.h5"));
  CHECK(kept_checkpoints(path) == std::vector<std::string>{folder / "a-10.h5", folder / "a-7.h5"});
  // Another training under that name, which is not as far.
  saver.write(checkpoint_of(8, 4));
  CHECK(kept_checkpoints(path) == std::vector<std::string>{folder / "a-8.h5", folder / "a-7.h5"});
  CHECK(step_of(path) == 8);
}

TEST_CASE("saver: the newest that is not damaged") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  CHECK(open_newest(path) == nullptr);
  Saver saver(path, 3);
  for (const Index step : {2, 4, 6}) saver.write(checkpoint_of(step, 1));
  CHECK(open_newest(path)->state().step == 6);
  const auto damage = [](const std::string& file) {
    std::string bytes = slurp(file);
    bytes[2000] = static_cast<char>(bytes[2000] ^ 1);
    spit(file, bytes);
  };
  damage(path);  // and a-6.h5, which is the same file
  CHECK(open_newest(path)->state().step == 4);
  std::filesystem::resize_file(folder / "a-4.h5", 1000);
  CHECK(open_newest(path)->state().step == 2);
  damage(folder / "a-2.h5");
  CHECK(contains(error_of([&] { open_newest(path); }), "a-2.h5: damaged checkpoint"));
  std::filesystem::remove(path);
  std::filesystem::remove(folder / "a-2.h5");
  std::filesystem::remove(folder / "a-4.h5");
  std::filesystem::remove(folder / "a-6.h5");
  saver.write(checkpoint_of(9, 1));
  std::filesystem::remove(path);
  CHECK(open_newest(path)->state().step == 9);
}

TEST_CASE("saver: a checkpoint that another training has put there meanwhile stays") {
  const ScratchFolder folder;
  const std::string path = folder / "a.h5";
  Saver(path, 0).write(checkpoint_of(1, 1));
  Saver first(path, 0), second(path, 0);
  first.write(checkpoint_of(2, 2));
  first.write(checkpoint_of(3, 3));
  const std::string expected =
      path + ": written by another process while this training went on, expected an output of its own";
  CHECK(error_of([&] { second.write(checkpoint_of(2, 4)); }) == expected);
  CHECK(step_of(path) == 3);
  second.write_aside(checkpoint_of(2, 4));
  CHECK(error_of([&] {
          while (second.is_writing()) std::this_thread::yield();
        }) == expected);
  CHECK(step_of(path) == 3);
  // Touched, or taken away, it is still the training's own.
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
  first.write(checkpoint_of(4, 4));
  std::filesystem::remove(path);
  first.write(checkpoint_of(5, 5));
  CHECK(step_of(path) == 5);
}
