// What training documents of the passkey kind are made of. None of it is the evaluation's own wording
// (eval/passkey_wording.h); {n} stands for a name, {k} for a key.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "base/types.h"

namespace bam::eval::words {

std::span<const std::string_view> headings();
std::span<const std::string_view> needles();    // sentences that tell the key
std::span<const std::string_view> questions();  // what asks for it, up to the blank before the key
std::span<const std::string_view> openings();   // before a list is asked back
std::span<const std::string_view> repeats();    // between a span and its copy

std::string_view pick(Rng& rng, std::span<const std::string_view> from);

std::string name(Rng& rng);      // "harbour code", "seventh label": a few hundred
std::string noun(Rng& rng);      // one word
std::string sentence(Rng& rng);  // plain: "The river runs past the mill."

std::string digits(Rng& rng, Index count);  // each as likely
// 3 to 8 digits, the first not 0. Six in ten keys have only two or three different digits, since it is in runs such
// as 21880 that a copying model loses its place.
std::string key(Rng& rng);

// The text with every {n} and {k} replaced.
std::string fill(std::string_view form, const std::string& name, const std::string& key);

}  // namespace bam::eval::words
