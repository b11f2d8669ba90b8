// A thin layer over the HDF5 C library: files, groups, attributes and flat arrays, closed by their destructors, with
// HDF5's error stack turned into one bam::Error "FILE: OBJECT: what is wrong". Files are written in the 1.10 format,
// with a checksum on every chunk and without object times, so that the same content gives the same bytes.
// File locks are not used: readers see only finished files, and locks fail on many cluster file systems.
// The library is not made for threads: use it from one at a time. Nor is it made for damaged files: some flipped bytes
// make it write outside its buffers (strings in 1.10.8), so what comes from outside is a checkpoint, whose digest is
// verified first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace bam::io {

enum class Hdf5Type { f32, f64, i32, i64, u8, other };

std::string_view name_of(Hdf5Type type);

struct Hdf5ArrayInfo {
  Hdf5Type type = Hdf5Type::other;
  std::vector<Index> shape;  // empty for a scalar
  Index count() const;       // elements; the library has checked that it fits
};

enum class Hdf5Compression { none, deflate };

// A group, and the root group of a file. T is float, double, std::int32_t, std::int64_t or std::uint8_t throughout.
// Names may be paths ("layers/0/wq"); groups on the way are made when writing.
class Hdf5Group {
 public:
  Hdf5Group(Hdf5Group&&) noexcept;
  Hdf5Group& operator=(Hdf5Group&&) noexcept;
  ~Hdf5Group();

  // Attributes. Setting replaces. Reading throws Error when it is missing or of another kind; attribute_real also takes
  // integers. Booleans are h5py's enumeration FALSE, TRUE (reading takes integers 0 and 1 too), strings UTF-8.
  bool has_attribute(const std::string& name) const;
  std::vector<std::string> attribute_names() const;  // sorted
  std::int64_t attribute_int(const std::string& name) const;
  double attribute_real(const std::string& name) const;
  bool attribute_bool(const std::string& name) const;
  std::string attribute_string(const std::string& name) const;
  void set_int(const std::string& name, std::int64_t value);
  void set_real(const std::string& name, double value);
  void set_bool(const std::string& name, bool value);
  void set_string(const std::string& name, const std::string& value);  // at most 32 KiB; longer: write_text

  // Children.
  bool has(const std::string& name) const;
  bool has_group(const std::string& name) const;
  std::vector<std::string> names() const;                   // groups and datasets, sorted
  std::vector<std::string> dataset_paths() const;           // of all datasets below, "layers/0/wq", sorted
  Hdf5Group group(const std::string& name) const;           // Error if missing
  Hdf5Group create_group(const std::string& name);          // Error if present
  Hdf5ArrayInfo array_info(const std::string& name) const;  // Error if missing or not an array

  // A new dataset; Error if the name is taken. values.size() must be the product of the shape.
  template <typename T>
  void write(const std::string& name, const std::vector<Index>& shape, std::span<const T> values,
             Hdf5Compression compression = Hdf5Compression::none);

  // Into memory of the caller. Type and shape must be those of the file, byte order may differ.
  template <typename T>
  void read_into(const std::string& name, const std::vector<Index>& shape, std::span<T> values) const;

  // Shape known: checked before anything is allocated. Shape not known: array_info first, or read_vector for one
  // dimension of any length. An array that claims more bytes than the file can hold is an Error.
  template <typename T>
  std::vector<T> read(const std::string& name, const std::vector<Index>& shape) const;
  template <typename T>
  std::vector<T> read_vector(const std::string& name) const;

  // Text or other bytes of any length, as a u8 dataset of one dimension.
  void write_bytes(const std::string& name, std::string_view bytes);
  std::string read_bytes(const std::string& name) const;

  // "FILE: /path/of/group", for messages.
  std::string where() const;

 protected:
  struct Handle;
  explicit Hdf5Group(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

struct Hdf5Storage;

// A file; the object itself is its root group.
class Hdf5File : public Hdf5Group {
 public:
  // For reading. Throws Error: missing, a folder, empty, not HDF5.
  static Hdf5File open(const std::string& path);

  // A new one, or an existing one emptied, for scratch and tests: it is not atomic. Results go through OutputFile.
  static Hdf5File create(const std::string& path);

  // On the file of an open descriptor; messages call it `name`. HDF5 leaves the first `user_block` bytes (0, 512,
  // 1024, ...) alone.
  static Hdf5File open(int descriptor, const std::string& name);
  static Hdf5File create(int descriptor, const std::string& name, Index user_block);

  // Writes what is buffered and closes; Error when that or an earlier write failed (full disk), std::logic_error when
  // a group is still open. The destructor closes too, silently.
  void close();

 private:
  using Hdf5Group::Hdf5Group;
  static Hdf5File open_on(std::shared_ptr<Hdf5Storage> storage, const std::string& name);
  static Hdf5File create_on(std::shared_ptr<Hdf5Storage> storage, const std::string& name, Index user_block);
};

}  // namespace bam::io
