// Attributes: one number, truth value or string each.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "io/hdf5.h"
#include "io/hdf5_handle.h"

namespace bam::io {
namespace {

// What h5py makes of a Python bool.
Hid bool_type() {
  Hid type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  std::int8_t value = 0;
  const bool made =
      H5Tenum_insert(type.get(), "FALSE", &value) >= 0 && H5Tenum_insert(type.get(), "TRUE", &++value) >= 0;
  if (!made) throw_hdf5("HDF5", "cannot make the type of truth values");
  return type;
}

Hid string_type() {
  Hid type(H5Tcopy(H5T_C_S1), H5Tclose);
  const bool made = H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0;
  if (!made) throw_hdf5("HDF5", "cannot make the type of strings");
  return type;
}

struct Attribute {
  Attribute(hid_t object, const std::string& name, std::string at)
      : where(std::move(at)), id(open(object, name, where), H5Aclose), type(H5Aget_type(id.get()), H5Tclose) {
    const Hid space(H5Aget_space(id.get()), H5Sclose);
    if (H5Sget_simple_extent_npoints(space.get()) != 1) throw Error(where + ": expected an attribute of one value");
  }

  static hid_t open(hid_t object, const std::string& name, const std::string& where) {
    if (H5Aexists(object, name.c_str()) <= 0) throw Error(where + ": missing attribute");
    return check_hdf5(H5Aopen(object, name.c_str(), H5P_DEFAULT), where, "cannot read attribute");
  }

  H5T_class_t type_class() const { return H5Tget_class(type.get()); }

  template <typename T>
  T read(hid_t memory_type) const {
    T value{};
    check_hdf5(H5Aread(id.get(), memory_type, &value), where, "cannot read attribute");
    return value;
  }

  std::string where;
  Hid id;
  Hid type;
};

void write_attribute(hid_t object, const std::string& name, hid_t file_type, hid_t memory_type, const void* value,
                     const std::string& where) {
  if (H5Aexists(object, name.c_str()) > 0) {
    check_hdf5(H5Adelete(object, name.c_str()), where, "cannot replace attribute");
  }
  const Hid space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hid attribute(H5Acreate2(object, name.c_str(), file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check_hdf5(attribute.get(), where, "cannot write attribute");
  check_hdf5(H5Awrite(attribute.get(), memory_type, value), where, "cannot write attribute");
}

std::int64_t read_integer(const Attribute& attribute) {
  if (attribute.type_class() != H5T_INTEGER || H5Tget_size(attribute.type.get()) > sizeof(std::int64_t)) {
    throw Error(attribute.where + ": expected an integer");
  }
  if (H5Tget_sign(attribute.type.get()) == H5T_SGN_NONE) {
    const auto value = attribute.read<std::uint64_t>(H5T_NATIVE_UINT64);
    if (value > std::numeric_limits<std::int64_t>::max()) throw Error(attribute.where + ": integer above 2^63 - 1");
    return static_cast<std::int64_t>(value);
  }
  return attribute.read<std::int64_t>(H5T_NATIVE_INT64);
}

std::string read_fixed_string(const Attribute& attribute) {
  // The string's size is also how much the file has to hold for it.
  const std::size_t size = H5Tget_size(attribute.type.get());
  if (size == 0 || size > H5Aget_storage_size(attribute.id.get()) || size > (1U << 20U)) {
    throw Error(attribute.where + ": expected a string of at most 1 MiB");
  }
  std::string text(size, '\0');
  check_hdf5(H5Aread(attribute.id.get(), attribute.type.get(), text.data()), attribute.where, "cannot read attribute");
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

extern "C" herr_t bam_collect_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

bool Hdf5Group::has_attribute(const std::string& name) const {
  return H5Aexists(handle_->id.get(), name.c_str()) > 0;
}

std::vector<std::string> Hdf5Group::attribute_names() const {
  std::vector<std::string> names;
  check_hdf5(H5Aiterate2(handle_->id.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, bam_collect_name, &names), where(),
             "cannot list attributes");
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t Hdf5Group::attribute_int(const std::string& name) const {
  return read_integer(Attribute(handle_->id.get(), name, where() + " attribute " + name));
}

double Hdf5Group::attribute_real(const std::string& name) const {
  const Attribute attribute(handle_->id.get(), name, where() + " attribute " + name);
  if (attribute.type_class() == H5T_INTEGER) return static_cast<double>(read_integer(attribute));
  if (attribute.type_class() != H5T_FLOAT) throw Error(attribute.where + ": expected a number");
  return attribute.read<double>(H5T_NATIVE_DOUBLE);
}

bool Hdf5Group::attribute_bool(const std::string& name) const {
  const Attribute attribute(handle_->id.get(), name, where() + " attribute " + name);
  std::int64_t value = -1;
  if (attribute.type_class() == H5T_ENUM) {
    const auto byte = attribute.read<std::uint8_t>(bool_type().get());  // converted by name; other names become 255
    value = byte;
  } else if (attribute.type_class() == H5T_INTEGER) {
    value = read_integer(attribute);
  }
  if (value != 0 && value != 1) throw Error(attribute.where + ": expected a truth value");
  return value == 1;
}

std::string Hdf5Group::attribute_string(const std::string& name) const {
  const Attribute attribute(handle_->id.get(), name, where() + " attribute " + name);
  if (attribute.type_class() != H5T_STRING) throw Error(attribute.where + ": expected a string");
  if (H5Tis_variable_str(attribute.type.get()) <= 0) return read_fixed_string(attribute);
  // The memory type must have the file's character set, or the library refuses.
  const Hid type(H5Tcopy(attribute.type.get()), H5Tclose);
  char* text = attribute.read<char*>(type.get());
  std::string copy = text != nullptr ? text : "";
  H5free_memory(text);
  return copy;
}

void Hdf5Group::set_int(const std::string& name, std::int64_t value) {
  write_attribute(handle_->id.get(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, where() + " attribute " + name);
}

void Hdf5Group::set_real(const std::string& name, double value) {
  write_attribute(handle_->id.get(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, where() + " attribute " + name);
}

void Hdf5Group::set_bool(const std::string& name, bool value) {
  const Hid type = bool_type();
  const std::int8_t byte = value ? 1 : 0;
  write_attribute(handle_->id.get(), name, type.get(), type.get(), &byte, where() + " attribute " + name);
}

void Hdf5Group::set_string(const std::string& name, const std::string& value) {
  constexpr std::size_t kMaxBytes = 32768;
  const std::string place = where() + " attribute " + name;
  if (value.size() > kMaxBytes || value.find('\0') != std::string::npos) {
    throw Error(place + ": a string of " + std::to_string(value.size()) +
                " bytes, expected at most 32768 and no NUL among them");
  }
  const Hid type = string_type();
  const char* text = value.c_str();
  write_attribute(handle_->id.get(), name, type.get(), type.get(), &text, place);
}

}  // namespace bam::io
