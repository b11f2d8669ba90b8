#include "eval/reading.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace bam::eval {

const NameTable<BosUse>& bos_use_names() {
  static const NameTable<BosUse> names = {{"auto", BosUse::automatic}, {"yes", BosUse::yes}, {"no", BosUse::no}};
  return names;
}

Index tokens_of(const Length& length, const ModelConfig& config, const std::string& model, const std::string& option) {
  const Index context = config.context;
  if (length.in_contexts && context == 0) {
    throw Error(option + ": " + model + " was not trained and has no context, expected a number of tokens");
  }
  try {
    return length.tokens(context);
  } catch (const UsageError& error) {
    throw UsageError(option + ": " + error.what());
  }
}

void require_memory(const Model& model, Index texts, Index capacity, Index chunk, double memory_bytes,
                    const std::string& subject) {
  if (capacity > std::numeric_limits<std::int32_t>::max()) {
    throw Error(subject + ": " + std::to_string(capacity) + " tokens are too many, expected at most 2147483647");
  }
  const Products products = model.compute() == DType::bf16 ? Products::bf16 : Products::real;
  const double wider = model.real() == DType::f64 ? 2 : 1;
  const double bytes = wider * reader_bytes(model.config(), products, texts, capacity, std::min(chunk, capacity));
  const double allowed = std::min(memory_bytes, model.backend().available_bytes());
  if (bytes <= allowed) return;
  throw Error(subject + ": " + std::to_string(capacity) + " tokens take " + human_bytes(bytes) + " of memory, and " +
              human_bytes(allowed) + " may be used");
}

Scores read_rest(Reader& reader, std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
                 std::span<const std::int32_t> targets, const std::function<void(Index)>& progress) {
  Scores all;
  auto position = static_cast<std::size_t>(reader.length());
  while (position < ids.size()) {
    const std::size_t count = std::min(static_cast<std::size_t>(reader.chunk()), ids.size() - position);
    const Scores part =
        reader.read(ids.subspan(position, count), first_key.subspan(position, count), targets.subspan(position, count));
    all.nll_nats.insert(all.nll_nats.end(), part.nll_nats.begin(), part.nll_nats.end());
    all.hit.insert(all.hit.end(), part.hit.begin(), part.hit.end());
    position += count;
    if (progress) progress(reader.length());
  }
  return all;
}

}  // namespace bam::eval
