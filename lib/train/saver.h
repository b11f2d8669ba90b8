// Saver - the checkpoints of one training: written aside while the training goes on, and some of them kept.
#pragma once

#include <future>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "train/checkpoint.h"

namespace bam::train {

// The newest checkpoint has the name of the output. Of FOLDER/NAME.h5, FOLDER/NAME-STEP.h5 are those kept, and
// FOLDER/NAME-best.h5 is the one with the lowest validation loss: further names of the same files, which take space
// only once the newest has become another.
std::string kept_name(const std::string& output, Index step);
std::string best_name(const std::string& output);

// Whether `path` is one that kept_name() or best_name() gives, in whatever way its folder is written.
bool is_kept_name(const std::string& output, const std::string& path);

// Those that are there, the last step first.
std::vector<std::string> kept_checkpoints(const std::string& output);

class Saver {
 public:
  // `keep` checkpoints stay under names of their own; with any, the best does too.
  Saver(std::string output, Index keep);

  // Before the first is written: the kept ones that are there are taken over from a training of the same options that
  // was stopped, or that this one replaces. Throws Error for any other file under a name that would be given, or
  // taken away: it is somebody's. One that is damaged is told of, and left.
  void claim(const OptionValues& options);

  ~Saver();  // waits for what is being written
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Is one being written? Throws the Error that ended the last one.
  bool is_writing();

  // Copies everything, and writes it from another thread. Not while one is being written.
  void write_aside(const TrainingCheckpoint& checkpoint);

  // In place when it returns. Throws Error or BrokenPipe; then the last checkpoint is as it was. So is one that is
  // neither of this saver nor what was there when it began: two trainings have the same output, and one has to end.
  void write(const TrainingCheckpoint& checkpoint);

 private:
  void write_and_keep(const TrainingCheckpoint& checkpoint);
  void give_names(const TrainingState& state);

  std::string output_;
  Index keep_;
  std::set<Index> kept_;  // steps whose checkpoints have names of their own, of this training
  // How the file begins that this saver may replace, with its digest; empty for none, nothing where it is not known.
  std::optional<std::string> in_place_;
  std::future<void> writing_;
};

// The newest checkpoint of `output` that can be read: itself, or one of those kept, with a warning for each that is
// damaged. Null when there is none at all; Error when all are damaged.
std::unique_ptr<SavedTraining> open_newest(const std::string& output);

}  // namespace bam::train
