#include "io/hdf5_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include "base/error.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace bam::io {
namespace {

// The library's part comes first; it casts between the two.
struct OpenFile {
  H5FD_t base{};
  Hdf5Storage* storage = nullptr;
  haddr_t end_of_allocation = 0;
  haddr_t end_of_file = 0;
};

OpenFile& own(H5FD_t* file) {
  return *reinterpret_cast<OpenFile*>(file);
}

const OpenFile& own(const H5FD_t* file) {
  return *reinterpret_cast<const OpenFile*>(file);
}

constexpr haddr_t kLargestAddress = (haddr_t{1} << 62U) - 1;

herr_t fail(hid_t kind, const char* why) {
  H5Epush2(H5E_DEFAULT, "hdf5_driver.cpp", __func__, __LINE__, H5E_ERR_CLS, H5E_IO, kind, "%s", why);
  return -1;
}

H5FD_t* open_file(const char* /*name*/, unsigned flags, hid_t access_properties, haddr_t /*largest*/) {
  const void* info = H5Pget_driver_info(access_properties);
  Hdf5Storage* storage = info != nullptr ? *static_cast<Hdf5Storage* const*>(info) : nullptr;
  if (storage == nullptr) return nullptr;
  if ((flags & H5F_ACC_TRUNC) != 0 && ftruncate(storage->fd.get(), 0) != 0) {
    fail(H5E_CANTOPENFILE, std::strerror(errno));
    return nullptr;
  }
  const off_t size = lseek(storage->fd.get(), 0, SEEK_END);
  if (size < 0) {
    fail(H5E_CANTOPENFILE, std::strerror(errno));
    return nullptr;
  }
  auto* file = new (std::nothrow) OpenFile;
  if (file == nullptr) return nullptr;
  file->storage = storage;
  file->end_of_file = static_cast<haddr_t>(size);
  return &file->base;
}

herr_t close_file(H5FD_t* file) {
  delete &own(file);
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return own(file).end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  own(file).end_of_allocation = address;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return own(file).end_of_file;
}

// Bytes behind the end of the file read as zeros, as with the library's own driver.
herr_t read_file(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, size_t size, void* buffer) {
  const OpenFile& file = own(base);
  auto* to = static_cast<char*>(buffer);
  const haddr_t there = address < file.end_of_file ? file.end_of_file - address : 0;
  const size_t count = std::min<haddr_t>(size, there);
  std::memset(to + count, 0, size - count);
  try {
    read_fully_at(file.storage->fd.get(), static_cast<Index>(address), {to, count}, "");
  } catch (const Error&) {
    return fail(H5E_READERROR, std::strerror(errno));
  }
  return 0;
}

herr_t write_file(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, size_t size,
                  const void* buffer) {
  OpenFile& file = own(base);
  if (file.storage->write_error == 0) {
    try {
      write_fully_at(file.storage->fd.get(), static_cast<Index>(address), {static_cast<const char*>(buffer), size}, "");
    } catch (const Error&) {
      file.storage->write_error = errno;
    }
  }
  file.end_of_file = std::max(file.end_of_file, address + size);
  return 0;
}

herr_t truncate_file(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
  OpenFile& file = own(base);
  if (file.end_of_allocation == file.end_of_file) return 0;
  if (file.storage->write_error == 0 &&
      ftruncate(file.storage->fd.get(), static_cast<off_t>(file.end_of_allocation)) != 0) {
    file.storage->write_error = errno;
  }
  file.end_of_file = file.end_of_allocation;
  return 0;
}

hid_t register_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(500);  // of the range that the library leaves to others
#endif
  driver.name = "bam-descriptor";
  driver.maxaddr = kLargestAddress;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(void*);  // the storage, by its address
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = end_of_file;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  constexpr H5FD_mem_t kTwoPools[] = H5FD_FLMAP_DICHOTOMY;
  static_assert(sizeof(kTwoPools) == sizeof(driver.fl_map));
  std::copy(std::begin(kTwoPools), std::end(kTwoPools), std::begin(driver.fl_map));
  return H5FDregister(&driver);
}

}  // namespace

void use_storage(hid_t access_properties, Hdf5Storage* storage) {
  static const hid_t driver = register_driver();
  if (driver < 0 || H5Pset_driver(access_properties, driver, &storage) < 0) {
    throw Error("the HDF5 library does not take a file driver");
  }
}

}  // namespace bam::io
