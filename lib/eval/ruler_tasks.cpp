#include "eval/ruler_tasks.h"

namespace bam::eval {
namespace {

constexpr std::string_view kNeedles =
    "Some special magic {type_needle_v} are hidden within the following text. Make sure to memorize it. I will quiz "
    "you "
    "about the {type_needle_v} afterwards.\n{context}\nWhat are all the special magic {type_needle_v} for {query} "
    "mentioned in the provided text?";
constexpr std::string_view kNeedlesAnswer =
    " The special magic {type_needle_v} for {query} mentioned in the provided text are";
constexpr std::string_view kVariables =
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n\n{context}\nQuestion: Find "
    "all variables that are assigned the value {query} in the text above.";
constexpr std::string_view kVariablesAnswer =
    " Answer: According to the chain(s) of variable assignment in the text above, {num_v} variables are assigned the "
    "value {query}, they are: ";
constexpr std::string_view kCommonWords =
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the ones that "
    "appear most often.\n{context}\nQuestion: What are the 10 most common words in the above list?";
constexpr std::string_view kCommonWordsAnswer = " Answer: The top 10 words that appear most often in the list are:";
constexpr std::string_view kFrequentWords =
    "Read the following coded text and track the frequency of each coded word. Find the three most frequently appeared "
    "coded words. {context}\nQuestion: Do not provide any explanation. Please ignore the dots '....'. What are the "
    "three most frequently appeared words in the above coded text?";
constexpr std::string_view kFrequentWordsAnswer =
    " Answer: According to the coded text above, the three most frequently appeared words are:";
constexpr std::string_view kQuestions =
    "Answer the question based on the given documents. Only give me the answer and do not output any other words.\n\n"
    "The following are given documents.\n\n{context}\n\nAnswer the question based on the given documents. Only give me "
    "the answer and do not output any other words.\n\nQuestion: {query}";
constexpr std::string_view kQuestionsAnswer = " Answer:";

RulerTask needles(std::string_view name, Haystack haystack, NeedlePart key, NeedlePart value, Index keys, Index values,
                  Index queries) {
  return {
      name,   RulerKind::needles, 128, RulerMatch::all, kNeedles, kNeedlesAnswer, haystack, key, value, keys, values,
      queries};
}

RulerTask other(std::string_view name, RulerKind kind, Index answer_tokens, RulerMatch match, std::string_view question,
                std::string_view answer_prefix) {
  return {.name = name,
          .kind = kind,
          .answer_tokens = answer_tokens,
          .match = match,
          .question = question,
          .answer_prefix = answer_prefix};
}

}  // namespace

const NameTable<Haystack>& haystack_names() {
  static const NameTable<Haystack> names = {
      {"noise", Haystack::noise}, {"essay", Haystack::essay}, {"needle", Haystack::needle}};
  return names;
}

const std::vector<RulerTask>& ruler_tasks() {
  using enum NeedlePart;
  static const std::vector<RulerTask> tasks = {
      needles("niah_single_1", Haystack::noise, words, numbers, 1, 1, 1),
      needles("niah_single_2", Haystack::essay, words, numbers, 1, 1, 1),
      needles("niah_single_3", Haystack::essay, words, uuids, 1, 1, 1),
      needles("niah_multikey_1", Haystack::essay, words, numbers, 4, 1, 1),
      needles("niah_multikey_2", Haystack::needle, words, numbers, 1, 1, 1),
      needles("niah_multikey_3", Haystack::needle, uuids, uuids, 1, 1, 1),
      needles("niah_multivalue", Haystack::essay, words, numbers, 1, 4, 1),
      needles("niah_multiquery", Haystack::essay, words, numbers, 4, 1, 4),
      other("vt", RulerKind::variables, 30, RulerMatch::all, kVariables, kVariablesAnswer),
      other("cwe", RulerKind::common_words, 120, RulerMatch::all, kCommonWords, kCommonWordsAnswer),
      other("fwe", RulerKind::frequent_words, 50, RulerMatch::all, kFrequentWords, kFrequentWordsAnswer),
      other("qa_1", RulerKind::questions, 32, RulerMatch::part, kQuestions, kQuestionsAnswer),
      other("qa_2", RulerKind::questions, 32, RulerMatch::part, kQuestions, kQuestionsAnswer)};
  return tasks;
}

}  // namespace bam::eval
