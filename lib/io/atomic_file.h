// Output that appears under its final name whole or not at all.
#pragma once

#include <string>

#include "io/stream.h"

namespace bam::io {

// A name for what is not finished yet, with 80 random bits: nobody has it already, nor can guess it.
std::string temporary_name();

// Where a tool's -o goes.
//   "" or "-", /dev/stdout, /dev/fd/N    that open descriptor, directly
//   a FIFO, a device, a socket           opened and written directly
//   anything else                        a temporary file in the same folder; commit() syncs it, gives it the final
//   name
//                                        and syncs the folder. Until then a file of that name stays as it was.
// The temporary has no name at all where the file system allows it (O_TMPFILE), so that even a killed process leaves
// nothing behind; elsewhere its name is ".bam-RANDOM.tmp", and the destructor removes it. Symbolic links are followed:
// the file they point to is replaced. A replaced file keeps its permission bits.
class OutputFile : public ByteSink {
 public:
  // `named` forces the second kind of temporary (used by the tests).
  enum class Temporary { automatic, named };

  // Throws Error: directory, missing folder, no permission.
  explicit OutputFile(const std::string& path, Temporary temporary = Temporary::automatic);
  ~OutputFile() override;

  void write(std::string_view bytes) override;

  // Once, after the last write. Throws Error (no space, ...) or BrokenPipe; then nothing has the final name.
  void commit();

  bool is_terminal() const;

  // False when bytes go straight to a stream.
  bool is_atomic() const { return !final_path_.empty(); }

  // Of the file or stream that is being written.
  int descriptor() const { return fd_; }

 private:
  void open_stream(const std::string& path);
  void open_temporary(bool named);
  void publish();
  void discard();

  std::string final_path_;      // empty for a stream
  std::string temporary_path_;  // empty for a file without a name
  int fd_ = -1;
  unsigned mode_ = 0;
  bool keeps_mode_ = false;
};

// A file of this process alone, without a name, in $TMPDIR (or /tmp): it vanishes with the process. For spooling what
// cannot be sought.
class SpoolFile {
 public:
  SpoolFile();
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  int descriptor() const { return fd_; }
  std::string name() const { return "temporary file in " + folder_; }  // for messages
  void write(std::string_view bytes);

 private:
  std::string folder_;
  int fd_ = -1;
};

}  // namespace bam::io
