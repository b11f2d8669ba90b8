// Files, groups and what is in them.
#include "io/hdf5.h"

#include <fcntl.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "io/descriptor.h"
#include "io/hdf5_handle.h"

namespace bam::io {
namespace {

Hid access_properties(const std::string& name, Hdf5Storage* storage) {
  Hid properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const hid_t id = check_hdf5(properties.get(), name, "cannot make HDF5 file properties");
  use_storage(id, storage);
  const bool set =
      H5Pset_libver_bounds(id, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 && H5Pset_fclose_degree(id, H5F_CLOSE_WEAK) >= 0;
  if (!set) throw_hdf5(name, "cannot set HDF5 file properties");
  return properties;
}

std::shared_ptr<Hdf5Storage> storage_in(Descriptor descriptor) {
  auto storage = std::make_shared<Hdf5Storage>();
  storage->fd = std::move(descriptor);
  return storage;
}

// A descriptor of our own: groups may keep the file open longer than the caller keeps his.
std::shared_ptr<Hdf5Storage> storage_on(int descriptor, const std::string& name) {
  Descriptor own(fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (own.get() < 0) throw_errno(name, "cannot open");
  return storage_in(std::move(own));
}

// "a", "a/b", "a/b/c" for "a/b/c".
std::vector<std::string> prefixes(const std::string& path) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i <= path.size(); ++i) {
    if (i == path.size() || path[i] == '/') out.push_back(path.substr(0, i));
  }
  return out;
}

H5I_type_t object_type(hid_t location, const std::string& path) {
  if (!link_exists(location, path)) return H5I_BADID;
  const Hid object(H5Oopen(location, path.c_str(), H5P_DEFAULT), H5Oclose);
  return object.get() < 0 ? H5I_BADID : H5Iget_type(object.get());
}

extern "C" herr_t bam_collect_link(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

// All names of links, in the order of their bytes.
std::vector<std::string> link_names(hid_t group, const std::string& where) {
  std::vector<std::string> names;
  check_hdf5(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, bam_collect_link, &names), where,
             "cannot be listed");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool link_exists(hid_t location, const std::string& path) {
  for (const std::string& prefix : prefixes(path)) {
    if (H5Lexists(location, prefix.c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return !path.empty();
}

Hdf5Group::Hdf5Group(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Hdf5Group::Hdf5Group(Hdf5Group&&) noexcept = default;
Hdf5Group& Hdf5Group::operator=(Hdf5Group&&) noexcept = default;
Hdf5Group::~Hdf5Group() = default;

std::string Hdf5Group::where() const {
  return handle_->where();
}

bool Hdf5Group::has(const std::string& name) const {
  return link_exists(handle_->id.get(), name);
}

bool Hdf5Group::has_group(const std::string& name) const {
  return object_type(handle_->id.get(), name) == H5I_GROUP;
}

std::vector<std::string> Hdf5Group::names() const {
  return link_names(handle_->id.get(), where());
}

std::vector<std::string> Hdf5Group::dataset_paths() const {
  // Depth is bounded because a damaged file may hold a group inside itself.
  constexpr std::ptrdiff_t kMaxDepth = 16;
  std::vector<std::string> found;
  std::vector<std::string> groups = {""};
  while (!groups.empty()) {
    const std::string prefix = std::move(groups.back());
    groups.pop_back();
    if (std::count(prefix.begin(), prefix.end(), '/') > kMaxDepth) throw Error(where() + ": groups nested too deeply");
    const std::vector<std::string> children = prefix.empty() ? names() : group(prefix).names();
    for (const std::string& child : children) {
      std::string path = prefix;
      if (!path.empty()) path += '/';
      path += child;
      const H5I_type_t type = object_type(handle_->id.get(), path);
      if (type == H5I_DATASET) found.push_back(path);
      if (type == H5I_GROUP) groups.push_back(path);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Hdf5Group Hdf5Group::group(const std::string& name) const {
  if (!has(name)) throw Error(handle_->where(name) + ": missing, expected a group");
  const hid_t id = check_hdf5(H5Gopen2(handle_->id.get(), name.c_str(), H5P_DEFAULT), handle_->where(name),
                              "cannot be opened, expected a group");
  return Hdf5Group(std::make_unique<Handle>(id, H5Gclose, handle_->storage, handle_->file,
                                            (handle_->path == "/" ? "" : handle_->path) + "/" + name));
}

Hdf5Group Hdf5Group::create_group(const std::string& name) {
  if (has(name)) throw Error(handle_->where(name) + ": there already, expected a new name");
  // One level after the other: HDF5's own way of making the groups between would give them times.
  const Hid properties = untimed_properties(H5P_GROUP_CREATE);
  for (const std::string& prefix : prefixes(name)) {
    if (has(prefix)) continue;
    const hid_t id = H5Gcreate2(handle_->id.get(), prefix.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT);
    H5Gclose(check_hdf5(id, handle_->where(prefix), "cannot create group"));
  }
  handle_->check_written();
  return group(name);
}

Hdf5File Hdf5File::open_on(std::shared_ptr<Hdf5Storage> storage, const std::string& name) {
  silence_hdf5();
  const Hid access = access_properties(name, storage.get());
  const hid_t id = H5Fopen("descriptor", H5F_ACC_RDONLY, access.get());
  check_hdf5(id, name, "not an HDF5 file, or damaged");
  return Hdf5File(std::make_unique<Handle>(id, H5Fclose, std::move(storage), name, "/"));
}

Hdf5File Hdf5File::create_on(std::shared_ptr<Hdf5Storage> storage, const std::string& name, Index user_block) {
  silence_hdf5();
  const Hid creation = untimed_properties(H5P_FILE_CREATE);
  check_hdf5(H5Pset_userblock(creation.get(), static_cast<hsize_t>(user_block)), name, "cannot set the user block");
  const Hid access = access_properties(name, storage.get());
  const hid_t id = H5Fcreate("descriptor", H5F_ACC_TRUNC, creation.get(), access.get());
  check_hdf5(id, name, "cannot write");
  return Hdf5File(std::make_unique<Handle>(id, H5Fclose, std::move(storage), name, "/"));
}

Hdf5File Hdf5File::open(const std::string& path) {
  Descriptor file = open_for_reading(path);
  if (!is_regular_file(file.get())) throw Error(path + ": not a regular file, expected an HDF5 file");
  if (file_size(file.get(), path) == 0) throw Error(path + ": empty, expected an HDF5 file");
  return open_on(storage_in(std::move(file)), path);
}

Hdf5File Hdf5File::open(int descriptor, const std::string& name) {
  return open_on(storage_on(descriptor, name), name);
}

Hdf5File Hdf5File::create(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) throw_errno(path, "cannot write");
  return create_on(storage_in(std::move(file)), path, 0);
}

Hdf5File Hdf5File::create(int descriptor, const std::string& name, Index user_block) {
  return create_on(storage_on(descriptor, name), name, user_block);
}

void Hdf5File::close() {
  const bool others_open = H5Fget_obj_count(handle_->id.get(), H5F_OBJ_ALL) > 1;
  const bool closed = H5Fclose(handle_->id.release()) >= 0;
  handle_->check_written();
  if (!closed) throw_hdf5(handle_->file, "cannot write");
  if (others_open) throw std::logic_error("an HDF5 file was closed while one of its groups was open");
}

}  // namespace bam::io
