// Handles and error texts of the HDF5 C library, shared by the files of this box that call it.
#pragma once

#include <hdf5.h>

#include <memory>
#include <string>
#include <utility>

#include "io/hdf5.h"
#include "io/hdf5_driver.h"

namespace bam::io {

// Closes any HDF5 identifier.
class Hid {
 public:
  using Closer = herr_t (*)(hid_t);
  Hid(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  ~Hid() {
    if (id_ >= 0) closer_(id_);
  }
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Hid& operator=(Hid&&) = delete;

  hid_t get() const { return id_; }
  hid_t release() { return std::exchange(id_, -1); }

 private:
  hid_t id_;
  Closer closer_;
};

// Before anything else of the library: it prints no errors of its own, and does nothing at the end of the process.
void silence_hdf5();

// Throws Error "WHERE: WHAT: reason of the library's error stack". Call it before any other HDF5 function.
[[noreturn]] void throw_hdf5(const std::string& where, const std::string& what);

// `id`, or throw_hdf5 when it is negative.
hid_t check_hdf5(hid_t id, const std::string& where, const std::string& what);

// Creation properties of an object without times, so that equal content gives equal bytes.
Hid untimed_properties(hid_t property_class);

// Whether every link of "a/b/c" is there.
bool link_exists(hid_t location, const std::string& path);

struct Hdf5Group::Handle {
  Handle(hid_t number, Hid::Closer closer, std::shared_ptr<Hdf5Storage> bytes, std::string file_name,
         std::string object_path)
      : storage(std::move(bytes)), id(number, closer), file(std::move(file_name)), path(std::move(object_path)) {}

  // "FILE: /path/name", for messages.
  std::string where(const std::string& name = "") const;

  // Throws Error "FILE: cannot write: ..." if any write to the file has failed.
  void check_written() const;

  std::shared_ptr<Hdf5Storage> storage;  // outlives id: a group keeps its file open
  Hid id;
  std::string file;  // as messages call it
  std::string path;  // "/" or "/params/layers"
};

}  // namespace bam::io
