// Parameters on their way to a file: from the device, from a copy, or from another process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/hdf5.h"
#include "model/parameters.h"

namespace bam {

// Values of the parameter with this number; asked once for each, in order.
using ParameterValues = std::function<std::vector<float>(std::size_t)>;

// Both outlive the function.
ParameterValues values_of(const ParameterSet& set, Backend& backend);

// One dataset per parameter under `group` (f32), named as in list_parameters.
void write_parameters(io::Hdf5Group& group, const std::vector<ParameterInfo>& infos, const ParameterValues& values);

}  // namespace bam
