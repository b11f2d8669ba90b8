// How an evaluation reads with a model: how much at a time, and whether it fits.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "model/checkpoint_model.h"
#include "model/kv_cache.h"

namespace bam::eval {

// Tokens read at a time unless the user says otherwise: enough rows for the matrix products to run at speed, few
// enough for activations to stay small beside the cache.
inline constexpr Index kDefaultChunk = 1024;

// --bos: whether a document begins with BOS, as in training.
enum class BosUse : std::uint8_t { automatic, yes, no };

const NameTable<BosUse>& bos_use_names();
inline bool uses_bos(BosUse use) {
  return use != BosUse::no;
}

// A length in tokens; Error where it is in multiples of a training context that the model (of this name, for messages)
// does not have.
Index tokens_of(const Length& length, const ModelConfig& config, const std::string& model, const std::string& option);
inline Index tokens_of(const Length& length, const LoadedModel& loaded, const std::string& option) {
  return tokens_of(length, loaded.model->config(), loaded.name, option);
}

// Throws Error "SUBJECT: N tokens take X of memory, and Y may be used" for a Reader that would not fit in
// `memory_bytes`, or in what is available where that is less.
void require_memory(const Model& model, Index texts, Index capacity, Index chunk, double memory_bytes,
                    const std::string& subject);

// Reads one text of Reader(model, 1, ...) from position reader.length() on, in the reader's chunks.
// ids, first_key and targets are of the whole text, as Reader::read takes them; what is already read is passed over.
// `progress` gets reader.length() after each chunk. Results for the positions read here, in order.
Scores read_rest(Reader& reader, std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
                 std::span<const std::int32_t> targets, const std::function<void(Index)>& progress = {});

}  // namespace bam::eval
