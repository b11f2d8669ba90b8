#include "model/parameter_values.h"

namespace bam {

ParameterValues values_of(const ParameterSet& set, Backend& backend) {
  return [&set, &backend](std::size_t i) {
    const Shape& shape = set.infos()[i].shape;
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    backend.copy_out({values.data(), DType::f32, shape}, set[i]);
    return values;
  };
}

}  // namespace bam
