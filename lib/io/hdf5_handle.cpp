#include "io/hdf5_handle.h"

#include <cstring>

#include "base/error.h"

namespace bam::io {
namespace {

// The innermost description is the cause; the others say who passed it on.
herr_t take_innermost(unsigned /*depth*/, const H5E_error2_t* error, void* data) {
  auto& reason = *static_cast<std::string*>(data);
  if (reason.empty() && error->desc != nullptr) reason = error->desc;
  return 0;
}

}  // namespace

// Every file is closed by its owner. What the library would do at the end of the process besides is to walk through
// tables that it leaves unfinished when memory runs out, for ever or into a crash, behind the line that says so.
void silence_hdf5() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void throw_hdf5(const std::string& where, const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &reason);
  std::string text = where + ": " + what;
  if (!reason.empty()) text.append(": ").append(reason);
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  throw Error(text);
}

hid_t check_hdf5(hid_t id, const std::string& where, const std::string& what) {
  if (id < 0) throw_hdf5(where, what);
  return id;
}

Hid untimed_properties(hid_t property_class) {
  Hid properties(H5Pcreate(property_class), H5Pclose);
  check_hdf5(H5Pset_obj_track_times(properties.get(), false), "HDF5", "cannot set properties");
  return properties;
}

std::string Hdf5Group::Handle::where(const std::string& name) const {
  std::string text = file + ": " + path;
  if (!name.empty()) text += (path == "/" ? "" : "/") + name;
  return text;
}

void Hdf5Group::Handle::check_written() const {
  if (storage->write_error != 0) throw Error(file + ": cannot write: " + std::strerror(storage->write_error));
}

}  // namespace bam::io
