// HDF5's bytes on a descriptor that is already open. The library's own drivers want a name and look it up again, so
// that they cannot use a file without one, may meet another file than the one that was verified, and take file locks,
// which fail on many cluster file systems. And when a write fails, they leave the library unable to close the file.
#pragma once

#include <hdf5.h>

#include "io/descriptor.h"

namespace bam::io {

struct Hdf5Storage {
  Descriptor fd;

  // errno of the first write that failed. Later ones are swallowed, so that the library can be closed in good order;
  // whoever writes looks here before believing in success.
  int write_error = 0;
};

// Lets files opened with these access properties live in `storage`, which outlives them.
void use_storage(hid_t access_properties, Hdf5Storage* storage);

}  // namespace bam::io
