// The wording in which the BAM authors ask the passkey task, and how to tell whether a text repeats it.
#pragma once

#include <string>
#include <string_view>

namespace bam::eval {

inline constexpr std::string_view kPasskeyName = "pass key";
inline constexpr std::string_view kPasskeyDescription =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. I will quiz you "
    "about the important information there.";
inline constexpr std::string_view kPasskeyFiller =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";
inline constexpr std::string_view kPasskeyQuestion = "What is the pass key? The pass key is";

// "The pass key is 71432. Remember it. 71432 is the pass key."
std::string passkey_line(std::string_view key);

// Whether a text holds the name ("pass key", in any spelling and case, "passkeys" too) or four words on end that stand
// so in the description, the filler, the line of the key or the question. Case, digits and punctuation do not count.
bool repeats_passkey_wording(std::string_view text);

}  // namespace bam::eval
