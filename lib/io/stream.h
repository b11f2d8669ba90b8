// Bytes in and bytes out: files, standard streams and FIFOs, read once from front to back, written with every write
// checked. SIGPIPE is expected to be ignored, so that a vanished reader shows as bam::BrokenPipe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.h"

namespace bam::io {

// What messages call a path: the path itself, or "standard input" for "-".
std::string input_name(const std::string& path);

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Puts between 1 and buffer.size() bytes at the front of `buffer` and returns their number; 0 means the end.
  // Throws Error "NAME: ..." when the bytes cannot be had or are damaged.
  virtual Index read(std::span<char> buffer) = 0;

  // As read, but fills the whole buffer unless the end comes first. Returns the number of bytes.
  Index read_full(std::span<char> buffer);

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

class ByteSink {
 public:
  explicit ByteSink(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  // Writes all of `bytes` or throws: BrokenPipe when the reader went away, else Error "NAME: cannot write: reason".
  virtual void write(std::string_view bytes) = 0;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// The bytes of a file, a FIFO, or standard input ("-"), as they are.
// Throws Error for a missing or unreadable file and for a directory. An empty file is a source without bytes.
std::unique_ptr<ByteSource> open_source(const std::string& path);

// The same through decompress(), for text inputs. Throws Error for a token shard, and where there is no byte at all if
// that is refused.
enum class EmptyFile { refused, taken };
std::unique_ptr<ByteSource> open_decompressed(const std::string& path, EmptyFile empty = EmptyFile::refused);

// Undoes zstd (any number of frames) or gzip (any number of members) when the first bytes say so, whatever the file is
// called; other bytes pass unchanged. A compressed stream whose end is missing, or with other bytes behind its end,
// is an Error, never a short read.
std::unique_ptr<ByteSource> decompress(std::unique_ptr<ByteSource> source);

// Bytes that are already in memory; messages call them `name`.
std::unique_ptr<ByteSource> source_from_memory(std::string name, std::string bytes);

// Everything up to the end. Throws Error when there is more than `limit` bytes. Memory follows what really arrives.
std::string read_all(ByteSource& source, Index limit);
std::string read_file(const std::string& path, Index limit);

// A sink that collects into a string.
class MemorySink : public ByteSink {
 public:
  explicit MemorySink(std::string name = "memory") : ByteSink(std::move(name)) {}
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace bam::io
