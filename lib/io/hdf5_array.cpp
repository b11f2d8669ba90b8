// Datasets: flat arrays with a shape.
#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "io/hdf5.h"
#include "io/hdf5_handle.h"

namespace bam::io {
namespace {

constexpr Index kChunkBytes = 1 << 20;
constexpr int kMaxRank = 8;

struct TypeRow {
  Hdf5Type type;
  std::string_view name;
  Index bytes;
  hid_t little;
  hid_t big;
  hid_t native;
};

// Made at the first call: the library's type numbers exist only once it is open.
const std::array<TypeRow, 5>& type_rows() {
  static const std::array<TypeRow, 5> rows = {
      {{Hdf5Type::f32, "f32", 4, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT},
       {Hdf5Type::f64, "f64", 8, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE},
       {Hdf5Type::i32, "i32", 4, H5T_STD_I32LE, H5T_STD_I32BE, H5T_NATIVE_INT32},
       {Hdf5Type::i64, "i64", 8, H5T_STD_I64LE, H5T_STD_I64BE, H5T_NATIVE_INT64},
       {Hdf5Type::u8, "u8", 1, H5T_STD_U8LE, H5T_STD_U8BE, H5T_NATIVE_UINT8}}};
  return rows;
}

TypeRow row_of(Hdf5Type type) {
  for (const TypeRow& row : type_rows()) {
    if (row.type == type) return row;
  }
  return {Hdf5Type::other, "another type", 0, -1, -1, -1};
}

template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr Hdf5Type kType = Hdf5Type::f32;
};
template <>
struct TypeOf<double> {
  static constexpr Hdf5Type kType = Hdf5Type::f64;
};
template <>
struct TypeOf<std::int32_t> {
  static constexpr Hdf5Type kType = Hdf5Type::i32;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr Hdf5Type kType = Hdf5Type::i64;
};
template <>
struct TypeOf<std::uint8_t> {
  static constexpr Hdf5Type kType = Hdf5Type::u8;
};

std::string text_of(const std::vector<Index>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

// Number of elements, or -1 when a dimension is negative or the product does not fit.
Index product(const std::vector<Index>& shape) {
  Index count = 1;
  for (const Index size : shape) {
    if (size < 0 || (size > 0 && count > std::numeric_limits<Index>::max() / size / 8)) return -1;
    count *= size;
  }
  return count;
}

Hdf5ArrayInfo info_of(hid_t dataset, const std::string& where) {
  Hdf5ArrayInfo info;
  const Hid type(H5Dget_type(dataset), H5Tclose);
  const Hid space(H5Dget_space(dataset), H5Sclose);
  for (const TypeRow& row : type_rows()) {
    if (H5Tequal(type.get(), row.little) > 0 || H5Tequal(type.get(), row.big) > 0) info.type = row.type;
  }
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || rank > kMaxRank || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    throw Error(where + ": an array of " + std::to_string(rank) + " dimensions, expected at most 8");
  }
  std::array<hsize_t, kMaxRank> sizes{};
  check_hdf5(H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr), where, "cannot read the shape");
  for (int axis = 0; axis < rank; ++axis)
    info.shape.push_back(static_cast<Index>(sizes[static_cast<std::size_t>(axis)]));
  if (product(info.shape) < 0) throw Error(where + ": shape " + text_of(info.shape) + " is too large");
  return info;
}

// Whether chunks can take less room than what is in them.
bool is_packed(hid_t dataset) {
  const Hid properties(H5Dget_create_plist(dataset), H5Pclose);
  const int filters = H5Pget_nfilters(properties.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_FLETCHER32 && filter != H5Z_FILTER_SHUFFLE) return true;
  }
  return false;
}

// Memory is only taken for what the file really stores; deflate packs at most 1032 to 1.
void check_stored(hid_t dataset, const Hdf5ArrayInfo& info, const std::string& where) {
  const Index most_per_byte = is_packed(dataset) ? 1100 : 1;
  const auto stored = static_cast<Index>(std::min<hsize_t>(H5Dget_storage_size(dataset), hsize_t{1} << 50U));
  const Index bytes = info.count() * row_of(info.type).bytes;
  if (bytes / most_per_byte > stored) {
    throw Error(where + ": shape " + text_of(info.shape) + " needs " + std::to_string(bytes) +
                " bytes, the file stores " + std::to_string(stored));
  }
}

struct Array {
  Hid dataset;
  Hdf5ArrayInfo info;
};

// One of the sizes that the file says, which it really has.
Array open_array(hid_t group, const std::string& name, const std::string& where) {
  if (!link_exists(group, name)) throw Error(where + ": missing, expected an array");
  const hid_t id = H5Dopen2(group, name.c_str(), H5P_DEFAULT);
  Array array{{check_hdf5(id, where, "cannot be opened, expected an array"), H5Dclose}, {}};
  array.info = info_of(id, where);
  check_stored(id, array.info, where);
  return array;
}

void check_type(const Hdf5ArrayInfo& info, Hdf5Type expected, const std::string& where) {
  if (info.type == expected) return;
  throw Error(where + ": type " + std::string(name_of(info.type)) + ", expected " + std::string(name_of(expected)));
}

void check_shape(const Hdf5ArrayInfo& info, const std::vector<Index>& expected, const std::string& where) {
  if (info.shape == expected) return;
  throw Error(where + ": shape " + text_of(info.shape) + ", expected " + text_of(expected));
}

template <typename T>
void read_values(const Array& array, std::span<T> values, const std::string& where) {
  if (values.empty()) return;
  const hid_t type = row_of(TypeOf<T>::kType).native;
  check_hdf5(H5Dread(array.dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), where,
             "cannot read (damaged data?)");
}

template <typename T>
std::vector<T> read_array(const Array& array, const std::string& where) {
  check_type(array.info, TypeOf<T>::kType, where);
  std::vector<T> values(static_cast<std::size_t>(array.info.count()));
  read_values<T>(array, values, where);
  return values;
}

// Chunks of about 1 MiB, whole rows where they fit.
std::vector<hsize_t> chunk_of(const std::vector<Index>& shape, Index element_bytes) {
  std::vector<hsize_t> chunk(shape.size(), 1);
  Index room = kChunkBytes / element_bytes;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const Index size = std::clamp<Index>(room, 1, shape[axis]);
    chunk[axis] = static_cast<hsize_t>(size);
    room /= size;
  }
  return chunk;
}

// A scalar or an array without elements cannot be chunked; everything else carries checksums.
Hid array_properties(const std::vector<Index>& shape, Index element_bytes, Hdf5Compression compression,
                     const std::string& where) {
  Hid properties = untimed_properties(H5P_DATASET_CREATE);
  bool set = H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER) >= 0;
  if (!shape.empty() && product(shape) > 0) {
    const std::vector<hsize_t> chunk = chunk_of(shape, element_bytes);
    set = set && H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0;
    if (compression == Hdf5Compression::deflate) {
      constexpr unsigned kLevel = 4;
      set = set && H5Pset_shuffle(properties.get()) >= 0 && H5Pset_deflate(properties.get(), kLevel) >= 0;
    }
    set = set && H5Pset_fletcher32(properties.get()) >= 0;
  }
  if (!set) throw_hdf5(where, "cannot set array properties");
  return properties;
}

Hid space_of(const std::vector<Index>& shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
}

}  // namespace

std::string_view name_of(Hdf5Type type) {
  return row_of(type).name;
}

Index Hdf5ArrayInfo::count() const {
  return product(shape);
}

Hdf5ArrayInfo Hdf5Group::array_info(const std::string& name) const {
  return open_array(handle_->id.get(), name, handle_->where(name)).info;
}

template <typename T>
void Hdf5Group::write(const std::string& name, const std::vector<Index>& shape, std::span<const T> values,
                      Hdf5Compression compression) {
  const std::string place = handle_->where(name);
  if (product(shape) != std::ssize(values) || shape.size() > kMaxRank) {
    throw Error(place + ": " + std::to_string(values.size()) + " values for shape " + text_of(shape));
  }
  if (has(name)) throw Error(place + ": there already, expected a new name");
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos && !has(name.substr(0, slash))) {
    create_group(name.substr(0, slash));
  }
  const TypeRow type = row_of(TypeOf<T>::kType);
  const Hid space = space_of(shape);
  const Hid properties = array_properties(shape, type.bytes, compression, place);
  const Hid dataset(
      H5Dcreate2(handle_->id.get(), name.c_str(), type.little, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  check_hdf5(dataset.get(), place, "cannot write");
  if (values.empty()) return;
  check_hdf5(H5Dwrite(dataset.get(), type.native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), place, "cannot write");
  handle_->check_written();
}

template <typename T>
void Hdf5Group::read_into(const std::string& name, const std::vector<Index>& shape, std::span<T> values) const {
  const std::string place = handle_->where(name);
  const Array array = open_array(handle_->id.get(), name, place);
  check_type(array.info, TypeOf<T>::kType, place);
  check_shape(array.info, shape, place);
  if (array.info.count() != std::ssize(values)) {
    throw Error(place + ": shape " + text_of(shape) + " for " + std::to_string(values.size()) + " values");
  }
  read_values(array, values, place);
}

template <typename T>
std::vector<T> Hdf5Group::read(const std::string& name, const std::vector<Index>& shape) const {
  const std::string place = handle_->where(name);
  const Array array = open_array(handle_->id.get(), name, place);
  check_type(array.info, TypeOf<T>::kType, place);
  check_shape(array.info, shape, place);
  return read_array<T>(array, place);
}

template <typename T>
std::vector<T> Hdf5Group::read_vector(const std::string& name) const {
  const std::string place = handle_->where(name);
  const Array array = open_array(handle_->id.get(), name, place);
  if (array.info.shape.size() != 1) {
    throw Error(place + ": shape " + text_of(array.info.shape) + ", expected one dimension");
  }
  return read_array<T>(array, place);
}

void Hdf5Group::write_bytes(const std::string& name, std::string_view bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  write<std::uint8_t>(name, {std::ssize(bytes)}, {data, bytes.size()});
}

std::string Hdf5Group::read_bytes(const std::string& name) const {
  const std::vector<std::uint8_t> bytes = read_vector<std::uint8_t>(name);
  return {bytes.begin(), bytes.end()};
}

template void Hdf5Group::write<float>(const std::string&, const std::vector<Index>&, std::span<const float>,
                                      Hdf5Compression);
template void Hdf5Group::write<double>(const std::string&, const std::vector<Index>&, std::span<const double>,
                                       Hdf5Compression);
template void Hdf5Group::write<std::int32_t>(const std::string&, const std::vector<Index>&,
                                             std::span<const std::int32_t>, Hdf5Compression);
template void Hdf5Group::write<std::int64_t>(const std::string&, const std::vector<Index>&,
                                             std::span<const std::int64_t>, Hdf5Compression);
template void Hdf5Group::write<std::uint8_t>(const std::string&, const std::vector<Index>&,
                                             std::span<const std::uint8_t>, Hdf5Compression);
template void Hdf5Group::read_into<float>(const std::string&, const std::vector<Index>&, std::span<float>) const;
template void Hdf5Group::read_into<double>(const std::string&, const std::vector<Index>&, std::span<double>) const;
template void Hdf5Group::read_into<std::int32_t>(const std::string&, const std::vector<Index>&,
                                                 std::span<std::int32_t>) const;
template void Hdf5Group::read_into<std::int64_t>(const std::string&, const std::vector<Index>&,
                                                 std::span<std::int64_t>) const;
template void Hdf5Group::read_into<std::uint8_t>(const std::string&, const std::vector<Index>&,
                                                 std::span<std::uint8_t>) const;
template std::vector<float> Hdf5Group::read<float>(const std::string&, const std::vector<Index>&) const;
template std::vector<double> Hdf5Group::read<double>(const std::string&, const std::vector<Index>&) const;
template std::vector<std::int32_t> Hdf5Group::read<std::int32_t>(const std::string&, const std::vector<Index>&) const;
template std::vector<std::int64_t> Hdf5Group::read<std::int64_t>(const std::string&, const std::vector<Index>&) const;
template std::vector<std::uint8_t> Hdf5Group::read<std::uint8_t>(const std::string&, const std::vector<Index>&) const;
template std::vector<float> Hdf5Group::read_vector<float>(const std::string&) const;
template std::vector<double> Hdf5Group::read_vector<double>(const std::string&) const;
template std::vector<std::int32_t> Hdf5Group::read_vector<std::int32_t>(const std::string&) const;
template std::vector<std::int64_t> Hdf5Group::read_vector<std::int64_t>(const std::string&) const;
template std::vector<std::uint8_t> Hdf5Group::read_vector<std::uint8_t>(const std::string&) const;

}  // namespace bam::io
