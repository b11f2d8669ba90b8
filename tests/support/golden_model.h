// The golden files of tests/data/model: float64 truth of a model, its loss, logits, gradients and short trainings, made
// by an independent implementation. BAM_GOLDEN_DIR names another folder of the same form.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5.h"
#include "model/batch.h"
#include "model/checkpoint_model.h"
#include "support/catch.h"
#include "support/closeness.h"

namespace bam::test {

inline std::vector<std::string> golden_files() {
  const char* folder = std::getenv("BAM_GOLDEN_DIR");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder != nullptr ? folder : "tests/data/model")) {
    if (entry.path().extension() == ".h5") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// first_key from the document numbers of a golden file: a document begins where the number changes.
inline Batch golden_batch(const io::Hdf5Group& file) {
  const auto info = file.array_info("input/tokens");
  Batch batch;
  batch.windows = info.shape.at(0);
  batch.tokens = info.shape.at(1);
  batch.ids = file.read<std::int32_t>("input/tokens", info.shape);
  batch.targets = file.read<std::int32_t>("input/targets", info.shape);
  const auto documents = file.read<std::int32_t>("input/doc_ids", info.shape);
  batch.first_key.resize(documents.size());
  for (Index row = 0; row < batch.windows; ++row) {
    std::int32_t first = 0;
    for (Index t = 0; t < batch.tokens; ++t) {
      const auto at = static_cast<std::size_t>(row * batch.tokens + t);
      if (t > 0 && documents[at] != documents[at - 1]) first = static_cast<std::int32_t>(t);
      batch.first_key[at] = first;
    }
  }
  return batch;
}

template <typename T>
std::vector<double> as_double(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace bam::test
