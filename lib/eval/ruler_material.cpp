// The files that RULER's tasks draw from.
#include <simdjson.h>

#include <algorithm>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "eval/python_text.h"
#include "eval/ruler_essay.h"
#include "eval/ruler_samples.h"
#include "io/stream.h"
#include "io/text_file.h"

namespace bam::eval {
namespace {

constexpr Index kMostBytes = Index{1} << 30;

using simdjson::dom::element;
using Questions = RulerMaterial::Questions;
using Question = RulerMaterial::Question;

// A part of a JSON file, or Error "FILE: ..., expected WHAT".
template <typename T>
T get(const element& from, const char* name, const std::string& file, const char* what) {
  T value;
  if (from[name].get(value) != simdjson::SUCCESS) {
    throw Error(file + ": no \"" + name + "\" of the right type where one is due, expected " + what);
  }
  return value;
}

std::string text_of(const element& from, const char* name, const std::string& file, const char* what) {
  return std::string(get<std::string_view>(from, name, file, what));
}

element parse(simdjson::dom::parser& parser, const std::string& file, const char* what) {
  element root;
  if (parser.parse(io::read_file(file, kMostBytes)).get(root) != simdjson::SUCCESS) {
    throw Error(file + ": not valid JSON, expected " + what);
  }
  return root;
}

Index number_of(const Questions& questions, const std::string& document) {
  const auto at = std::lower_bound(questions.documents.begin(), questions.documents.end(), document);
  return at - questions.documents.begin();
}

void sort_documents(Questions& questions) {
  std::vector<std::string>& all = questions.documents;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

void require_questions(const Questions& questions) {
  if (questions.questions.empty()) throw Error(questions.file + ": no question in it");
}

Questions read_squad(const std::string& file) {
  constexpr const char* kWhat = "SQuAD's dev-v2.0.json";
  simdjson::dom::parser parser;
  const element root = parse(parser, file, kWhat);
  Questions result{.file = file, .documents = {}, .questions = {}};
  const auto articles = get<simdjson::dom::array>(root, "data", file, kWhat);
  for (const element article : articles) {
    for (const element paragraph : get<simdjson::dom::array>(article, "paragraphs", file, kWhat)) {
      result.documents.push_back(text_of(paragraph, "context", file, kWhat));
    }
  }
  sort_documents(result);
  for (const element article : articles) {
    const auto paragraphs = get<simdjson::dom::array>(article, "paragraphs", file, kWhat);
    std::vector<Index> numbers;
    for (const element paragraph : paragraphs) {
      numbers.push_back(number_of(result, text_of(paragraph, "context", file, kWhat)));
    }
    std::size_t place = 0;
    for (const element paragraph : paragraphs) {
      const Index own = numbers[place++];
      std::vector<Index> nearby;
      std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(nearby), [&](Index i) { return i != own; });
      for (const element asked : get<simdjson::dom::array>(paragraph, "qas", file, kWhat)) {
        if (get<bool>(asked, "is_impossible", file, kWhat)) continue;
        Question question{text_of(asked, "question", file, kWhat), {}, {own}, nearby};
        for (const element answer : get<simdjson::dom::array>(asked, "answers", file, kWhat)) {
          question.answers.push_back(text_of(answer, "text", file, kWhat));
        }
        result.questions.push_back(std::move(question));
      }
    }
  }
  require_questions(result);
  return result;
}

// "title\nsentences", of [title, [sentence, ...]].
std::string hotpot_document(const element& pair, const std::string& file) {
  std::string_view title;
  simdjson::dom::array sentences;
  if (pair.at(0).get(title) != simdjson::SUCCESS || pair.at(1).get(sentences) != simdjson::SUCCESS) {
    throw Error(file + ": a context that is not a title and sentences, expected hotpot_dev_distractor_v1.json");
  }
  std::string document = std::string(title) + "\n";
  for (const element sentence : sentences) {
    std::string_view text;
    if (sentence.get(text) != simdjson::SUCCESS) throw Error(file + ": a sentence that is not a string");
    document += text;
  }
  return document;
}

Questions read_hotpot(const std::string& file) {
  constexpr const char* kWhat = "hotpot_dev_distractor_v1.json";
  simdjson::dom::parser parser;
  const element root = parse(parser, file, kWhat);
  simdjson::dom::array items;
  if (root.get(items) != simdjson::SUCCESS) throw Error(file + ": not a JSON array, expected " + std::string(kWhat));
  Questions result{.file = file, .documents = {}, .questions = {}};
  for (const element item : items) {
    for (const element pair : get<simdjson::dom::array>(item, "context", file, kWhat)) {
      result.documents.push_back(hotpot_document(pair, file));
    }
  }
  sort_documents(result);
  for (const element item : items) {
    Question question{text_of(item, "question", file, kWhat), {text_of(item, "answer", file, kWhat)}, {}, {}};
    for (const element pair : get<simdjson::dom::array>(item, "context", file, kWhat)) {
      question.documents.push_back(number_of(result, hotpot_document(pair, file)));
    }
    result.questions.push_back(std::move(question));
  }
  require_questions(result);
  return result;
}

std::string read_essay(const std::string& file) {
  if (file.empty()) return std::string(kEssay);
  const std::string all = io::read_text(file, kMostBytes);
  std::string bytes(without_byte_order_mark(all));
  if (strip(bytes).empty()) throw Error(file + ": empty, expected a text");
  if (!bytes.starts_with('{')) return bytes;
  simdjson::dom::parser parser;
  return text_of(parse(parser, file, "RULER's JSON of essays"), "text", file, "RULER's JSON of essays");
}

}  // namespace

const WordLists& RulerMaterial::words() {
  if (!words_) words_ = files_.words.empty() ? built_in_words() : read_word_lists(files_.words);
  return *words_;
}

const KeyNames& RulerMaterial::key_names() {
  if (!key_names_) key_names_.emplace(words());
  return *key_names_;
}

const std::vector<std::string>& RulerMaterial::essay_words() {
  if (essay_words_.empty()) {
    const std::string essay = read_essay(files_.essay);
    for (const std::string_view word : split_blanks(essay)) essay_words_.emplace_back(word);
  }
  return essay_words_;
}

std::vector<std::string_view> RulerMaterial::essay_sentences(std::string_view text) {
  if (files_.punkt.empty()) return sentences(text);
  if (!punkt_) punkt_.emplace(files_.punkt);
  return punkt_->sentences(text);
}

const RulerMaterial::Questions& RulerMaterial::questions(const RulerTask& task) {
  const bool is_squad = task.name == "qa_1";
  const std::string& file = is_squad ? files_.squad : files_.hotpot;
  std::optional<Questions>& held = is_squad ? squad_ : hotpot_;
  if (file.empty()) {
    throw UsageError("--tasks: " + std::string(task.name) + " needs --" + (is_squad ? "squad" : "hotpot") +
                     " FILE, which is not given");
  }
  if (!held) held = is_squad ? read_squad(file) : read_hotpot(file);
  return *held;
}

}  // namespace bam::eval
