// The container of a checkpoint, bam-checkpoint(5): an HDF5 file behind a 512-byte user block that holds the length and
// the SHA-256 of everything after it. The digest is verified before the HDF5 library sees a byte. What is inside the
// HDF5 part is the concern of the model and train boxes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/hdf5.h"

namespace bam::io {

inline constexpr Index kCheckpointBlockBytes = 512;
inline constexpr int kCheckpointVersion = 1;

// Usage: fill file(), then commit(). Without commit() nothing appears, and a file of that name stays as it was, even if
// the process is killed. For a stream ("-", FIFO) the image is built in an unnamed file in $TMPDIR and copied at
// commit().
class CheckpointWriter {
 public:
  // Throws Error as OutputFile does.
  explicit CheckpointWriter(const std::string& path);
  ~CheckpointWriter();

  Hdf5File& file();
  bool is_terminal() const;

  // Closes the HDF5 part, digests, writes the block, syncs and renames (or streams). Returns the model digest.
  // Groups of file() must be gone. Throws Error on one line (no space, ...) or BrokenPipe.
  std::string commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether a file that begins with these bytes is a checkpoint, and whether the one of this name begins so.
bool looks_like_checkpoint(std::string_view beginning);
bool begins_like_checkpoint(const std::string& path);

// Errors, all "NAME: ...": missing, directory, empty, not a checkpoint, made by a newer version, truncated checkpoint,
// damaged checkpoint.
class CheckpointReader {
 public:
  // "-" or a FIFO is spooled to an unnamed file in $TMPDIR first.
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();

  const Hdf5File& file() const;
  const std::string& digest() const;  // SHA-256 of the HDF5 part, hexadecimal: the model's identity in tables
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bam::io
