#include "io/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <vector>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/descriptor.h"
#include "io/sha256.h"
#include "io/stream.h"

namespace bam::io {
namespace {

constexpr std::string_view kMagic = "bam-checkpoint ";
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr Index kMostChunkBytes = 1 << 20;

// A buffer to go through so many bytes with.
std::string chunk_for(Index bytes) {
  return std::string(static_cast<std::size_t>(std::clamp<Index>(bytes, 1, kMostChunkBytes)), '\0');
}

// The user block: three lines of text, then zeros.
struct Block {
  Index bytes = 0;  // of the HDF5 part
  std::string sha256;
};

std::string encode(const Block& block) {
  std::string text(kMagic);
  text.append(std::to_string(kCheckpointVersion)).append("\nbytes ").append(std::to_string(block.bytes));
  text.append("\nsha256 ").append(block.sha256).append("\n");
  text.resize(static_cast<std::size_t>(kCheckpointBlockBytes), '\0');
  return text;
}

// Takes `label`, a decimal number and a newline from the front; nothing when they are not there.
std::optional<Index> take_number(std::string_view& text, std::string_view label) {
  if (!text.starts_with(label)) return std::nullopt;
  Index number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + label.size(), last, number);
  if (error != std::errc() || end == last || *end != '\n') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

Block decode(const std::string& text, const std::string& name) {
  if (text.empty()) throw Error(name + ": empty, expected a checkpoint");
  const std::size_t known = std::min(text.size(), kMagic.size());
  if (text.compare(0, known, kMagic, 0, known) != 0) {
    const bool is_hdf5 = text.starts_with(kHdf5Signature);
    throw Error(name + (is_hdf5 ? ": an HDF5 file, but not a checkpoint" : ": not a checkpoint") +
                " (bam-checkpoint(5))");
  }
  if (std::ssize(text) < kCheckpointBlockBytes) throw Error(name + ": truncated checkpoint, expected more bytes");
  std::string_view rest = text;
  const std::optional<Index> version = take_number(rest, kMagic);
  if (version && *version != kCheckpointVersion) {
    throw Error(name + ": checkpoint of version " + std::to_string(*version) + ", expected version " +
                std::to_string(kCheckpointVersion));
  }
  const std::optional<Index> bytes = take_number(rest, "bytes ");
  constexpr std::string_view kDigestLabel = "sha256 ";
  constexpr std::size_t kDigestDigits = 64;
  Block block;
  block.bytes = bytes.value_or(-1);
  if (rest.starts_with(kDigestLabel)) block.sha256 = rest.substr(kDigestLabel.size(), kDigestDigits);
  if (block.bytes < 0 || encode(block) != text) {
    throw Error(name + ": damaged checkpoint: its first 512 bytes have another form than expected");
  }
  return block;
}

std::string read_block(ByteSource& source) {
  std::string text(static_cast<std::size_t>(kCheckpointBlockBytes), '\0');
  text.resize(static_cast<std::size_t>(source.read_full(text)));
  return text;
}

// Reads the HDF5 part to its end and requires its length and digest. What is read also goes to `spool`, if there is
// one.
void verify(ByteSource& source, const Block& block, SpoolFile* spool) {
  Sha256 digest;
  Index missing = block.bytes;
  std::string chunk = chunk_for(block.bytes);
  while (const Index got = source.read(chunk)) {
    if (got > missing) throw Error(source.name() + ": damaged checkpoint: other bytes behind its end");
    const std::string_view piece(chunk.data(), static_cast<std::size_t>(got));
    digest.update(piece);
    if (spool != nullptr) spool->write(piece);
    missing -= got;
  }
  if (missing > 0) {
    throw Error(source.name() + ": truncated checkpoint, expected " + std::to_string(missing) + " more bytes");
  }
  if (digest.hex() != block.sha256) {
    throw Error(source.name() + ": damaged checkpoint: its bytes do not have its digest");
  }
}

// A regular file, read from its beginning by this process alone.
class FileSource : public ByteSource {
 public:
  FileSource(int fd, std::string name) : ByteSource(std::move(name)), fd_(fd) {}
  Index read(std::span<char> buffer) override { return read_some(fd_, buffer, name()); }

 private:
  int fd_;
};

std::string digest_of_part(int fd, Index bytes, const std::string& name) {
  Sha256 digest;
  std::string chunk = chunk_for(bytes);
  for (Index offset = 0; offset < bytes;) {
    const std::span<char> piece(chunk.data(), static_cast<std::size_t>(std::min(std::ssize(chunk), bytes - offset)));
    read_fully_at(fd, kCheckpointBlockBytes + offset, piece, name);
    digest.update({piece.data(), piece.size()});
    offset += std::ssize(piece);
  }
  return digest.hex();
}

void copy(int fd, const std::string& name, OutputFile& output) {
  const Index bytes = file_size(fd, name);
  std::string chunk = chunk_for(bytes);
  for (Index offset = 0; offset < bytes;) {
    const std::span<char> piece(chunk.data(), static_cast<std::size_t>(std::min(std::ssize(chunk), bytes - offset)));
    read_fully_at(fd, offset, piece, name);
    output.write({piece.data(), piece.size()});
    offset += std::ssize(piece);
  }
}

}  // namespace

bool looks_like_checkpoint(std::string_view beginning) {
  return beginning.starts_with(kMagic);
}

bool begins_like_checkpoint(const std::string& path) {
  std::string beginning(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), std::ssize(beginning));
  return looks_like_checkpoint(beginning);
}

struct CheckpointWriter::State {
  explicit State(const std::string& path) : output(path) {
    if (!output.is_atomic()) spool.emplace();
    file.emplace(Hdf5File::create(descriptor(), name(), kCheckpointBlockBytes));
  }

  // Of the file that is filled: a full disk in $TMPDIR is not one of the output.
  std::string name() const { return spool ? spool->name() : output.name(); }

  int descriptor() const { return spool ? spool->descriptor() : output.descriptor(); }

  OutputFile output;
  std::optional<SpoolFile> spool;
  std::optional<Hdf5File> file;
};

CheckpointWriter::CheckpointWriter(const std::string& path) : state_(std::make_unique<State>(path)) {}

CheckpointWriter::~CheckpointWriter() = default;

Hdf5File& CheckpointWriter::file() {
  return *state_->file;
}

bool CheckpointWriter::is_terminal() const {
  return state_->output.is_terminal();
}

std::string CheckpointWriter::commit() {
  State& state = *state_;
  state.file->close();
  const int fd = state.descriptor();
  Block block;
  block.bytes = file_size(fd, state.name()) - kCheckpointBlockBytes;
  block.sha256 = digest_of_part(fd, block.bytes, state.name());
  write_fully_at(fd, 0, encode(block), state.name());
  if (state.spool) copy(fd, state.name(), state.output);
  state.output.commit();
  return block.sha256;
}

struct CheckpointReader::State {
  std::string name;
  Descriptor descriptor;
  std::optional<SpoolFile> spool;
  std::string digest;
  std::optional<Hdf5File> file;
};

CheckpointReader::CheckpointReader(const std::string& path) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.name = input_name(path);
  std::unique_ptr<ByteSource> source;
  if (path == "-") {
    source = open_source(path);
  } else {
    state.descriptor = open_for_reading(path);
    source = std::make_unique<FileSource>(state.descriptor.get(), path);
  }
  const std::string text = read_block(*source);
  const Block block = decode(text, state.name);
  if (path == "-" || !is_regular_file(state.descriptor.get())) {
    state.spool.emplace();
    state.spool->write(text);
  }
  verify(*source, block, state.spool ? &*state.spool : nullptr);
  state.digest = block.sha256;
  // The very bytes that were verified, even if the name has come to mean another file since.
  const int verified = state.spool ? state.spool->descriptor() : state.descriptor.get();
  state.file.emplace(Hdf5File::open(verified, state.name));
}

CheckpointReader::~CheckpointReader() = default;

const Hdf5File& CheckpointReader::file() const {
  return *state_->file;
}

const std::string& CheckpointReader::digest() const {
  return state_->digest;
}

const std::string& CheckpointReader::name() const {
  return state_->name;
}

}  // namespace bam::io
