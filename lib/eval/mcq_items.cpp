#include "eval/mcq_items.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "eval/python_text.h"
#include "io/stream.h"

namespace bam::eval {
namespace {

constexpr Index kMostBytes = Index{4} << 30;
constexpr std::string_view kLetters = "ABCD";

using simdjson::dom::element;

// What is wrong with an item, before its file and number are known.
class BadItem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

element member(const element& from, const std::string& name) {
  element value;
  if (from[name].get(value) != simdjson::SUCCESS) throw BadItem("no \"" + name + "\"");
  return value;
}

std::string text_of(const element& value, const std::string& name) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) throw BadItem("\"" + name + "\" is not a text");
  return std::string(text);
}

std::string text_in(const element& from, const std::string& name) {
  return text_of(member(from, name), name);
}

std::vector<std::string> texts_in(const element& from, const std::string& name) {
  simdjson::dom::array array;
  if (member(from, name).get(array) != simdjson::SUCCESS) throw BadItem("\"" + name + "\" is not an array");
  std::vector<std::string> texts;
  for (const element each : array) texts.push_back(text_of(each, name));
  return texts;
}

Index number_of(std::string_view text, const std::string& name) {
  Index number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadItem("\"" + name + "\" is '" + std::string(text.substr(0, 20)) +
                  "', expected the number of a choice (files of test questions have no answers)");
  }
  return number;
}

// The label of an answer: a number, or a number as a text.
Index label_in(const element& from, const std::string& name) {
  const element value = member(from, name);
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) throw BadItem("\"" + name + "\" is not a whole number");
  return number_of(text, name);
}

std::string id_in(const element& from, const char* name) {
  element value;
  if (from[name].get(value) != simdjson::SUCCESS) return {};
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return simdjson::minify(value);
}

McqItem arc_item(const element& line) {
  McqItem item{.id = id_in(line, "id"), .subject = {}, .prompt = {}, .choices = {}};
  const element question = member(line, "question");
  std::vector<std::string> labels;
  if (question.is_object()) {
    item.prompt = text_in(question, "stem");
    simdjson::dom::array choices;
    if (member(question, "choices").get(choices) != simdjson::SUCCESS) throw BadItem("\"choices\" is not an array");
    for (const element choice : choices) {
      item.choices.push_back(text_in(choice, "text"));
      labels.push_back(text_in(choice, "label"));
    }
  } else {
    item.prompt = text_of(question, "question");
    const element choices = member(line, "choices");
    item.choices = texts_in(choices, "text");
    labels = texts_in(choices, "label");
  }
  item.prompt = "Question: " + item.prompt + "\nAnswer:";
  if (labels.size() != item.choices.size()) throw BadItem("as many labels as choices are due");
  const std::string key = text_in(line, "answerKey");
  const auto at = std::find(labels.begin(), labels.end(), key);
  if (at == labels.end()) throw BadItem("\"answerKey\" '" + key.substr(0, 20) + "' is no label");
  item.gold = at - labels.begin();
  return item;
}

McqItem hellaswag_item(const element& line) {
  McqItem item{.id = id_in(line, "ind"), .subject = {}, .prompt = {}, .choices = {}};
  std::string text = text_in(line, "activity_label");
  text += ": " + text_in(line, "ctx_a") + " " + capitalize(text_in(line, "ctx_b"));
  item.prompt = clean_hellaswag(text);
  for (const std::string& ending : texts_in(line, "endings")) item.choices.push_back(clean_hellaswag(ending));
  item.gold = label_in(line, "label");
  return item;
}

McqItem piqa_item(const element& line, const std::vector<Index>* labels, Index number) {
  McqItem item{.id = id_in(line, "id"), .subject = {}, .prompt = {}, .choices = {}};
  item.prompt = "Question: " + text_in(line, "goal") + "\nAnswer:";
  item.choices = {text_in(line, "sol1"), text_in(line, "sol2")};
  if (labels == nullptr) {
    item.gold = label_in(line, "label");
  } else if (number < std::ssize(*labels)) {
    item.gold = (*labels)[static_cast<std::size_t>(number)];
  } else {
    throw BadItem("the file of labels has only " + std::to_string(labels->size()));
  }
  return item;
}

McqItem mmlu_item(std::string_view question, const std::vector<std::string>& choices, Index gold, std::string subject) {
  if (choices.size() != kLetters.size()) throw BadItem(std::to_string(choices.size()) + " choices, expected 4");
  McqItem item{.id = {}, .subject = std::move(subject), .prompt = std::string(strip(question)), .choices = {}};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    item.prompt += "\n";
    item.prompt += kLetters[i];
    item.prompt += ". " + choices[i];
    item.choices.emplace_back(1, kLetters[i]);
  }
  item.prompt += "\nAnswer:";
  item.gold = gold;
  return item;
}

void check(const McqItem& item) {
  if (item.choices.size() < 2) throw BadItem(std::to_string(item.choices.size()) + " choices, expected two or more");
  if (std::any_of(item.choices.begin(), item.choices.end(), [](const std::string& c) { return c.empty(); })) {
    throw BadItem("an empty choice");
  }
  if (item.gold < 0 || item.gold >= std::ssize(item.choices)) {
    throw BadItem("the answer is choice " + std::to_string(item.gold) + ", expected 0 to " +
                  std::to_string(item.choices.size() - 1));
  }
}

// "abstract_algebra" of "data/test/abstract_algebra_test.csv".
std::string subject_of(std::string path) {
  path.erase(0, path.rfind('/') + 1);
  path.erase(std::min(path.find('.'), path.size()));
  for (const std::string_view end : {"_test", "_dev", "_val"}) {
    if (path.ends_with(end)) return path.substr(0, path.size() - end.size());
  }
  return path;
}

// One record of comma-separated values at the front of `bytes`, which it is taken from: a field in quotes may hold
// commas, line feeds and, doubled, quotes.
std::vector<std::string> take_record(std::string_view& bytes, Index& lines) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '\n') ++lines;
    if (is_quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at + 1 < bytes.size() && bytes[at + 1] == '"') {
        fields.back() += bytes[++at];
      } else {
        is_quoted = false;
      }
    } else if (c == '"' && fields.back().empty()) {
      is_quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r' || at + 1 == bytes.size() || bytes[at + 1] != '\n') {
      fields.back() += c;
    }
  }
  if (is_quoted) throw BadItem("a quote that is never closed");
  bytes.remove_prefix(at);
  return fields;
}

class ItemReader {
 public:
  ItemReader(McqTask task, const std::vector<Index>* labels) : task_(task), labels_(labels) {}

  void read(const std::string& path, std::vector<McqItem>& items) {
    const std::unique_ptr<io::ByteSource> source = io::open_decompressed(path);
    const std::string all = io::read_all(*source, kMostBytes);
    std::string_view bytes = without_byte_order_mark(all);
    const bool is_json = strip(bytes.substr(0, 1000)).starts_with('{');
    if (!is_json && task_ != McqTask::mmlu) {
      throw Error(source->name() + ": not JSON lines, expected items of the task as they are published");
    }
    Index line = 0;
    for (Index number = 0; !bytes.empty(); ++number) {
      Index item_line = line + 1;
      try {
        std::optional<McqItem> item =
            is_json ? next_line(bytes, line, item_line) : next_record(bytes, line, item_line, subject_of(path));
        if (!item) break;
        check(*item);
        items.push_back(std::move(*item));
      } catch (const BadItem& problem) {
        throw Error(source->name() + ":" + std::to_string(item_line) + ": item " + std::to_string(number) + ": " +
                    problem.what());
      }
    }
  }

 private:
  // Lines of blanks are passed over.
  std::optional<McqItem> next_line(std::string_view& bytes, Index& line, Index& item_line) {
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const std::string text(bytes.substr(0, end));
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
      item_line = ++line;
      if (strip(text).empty()) continue;
      element root;
      if (parser_.parse(text).get(root) != simdjson::SUCCESS) throw BadItem("not valid JSON");
      if (!root.is_object()) throw BadItem("not a JSON object");
      return item_of(root);
    }
    return {};
  }

  McqItem item_of(const element& root) {
    switch (task_) {
      case McqTask::arc_easy:
      case McqTask::arc_challenge:
        return arc_item(root);
      case McqTask::hellaswag:
        return hellaswag_item(root);
      case McqTask::piqa:
        return piqa_item(root, labels_, made_++);
      case McqTask::mmlu:
        return mmlu_item(text_in(root, "question"), texts_in(root, "choices"), label_in(root, "answer"),
                         text_in(root, "subject"));
    }
    return {};
  }

  static std::optional<McqItem> next_record(std::string_view& bytes, Index& line, Index& item_line,
                                            const std::string& subject) {
    std::vector<std::string> fields;
    do {
      if (bytes.empty()) return {};
      item_line = line + 1;
      fields = take_record(bytes, line);
    } while (fields.size() == 1 && strip(fields[0]).empty());
    if (fields.size() != 6) throw BadItem(std::to_string(fields.size()) + " fields, expected question,A,B,C,D,letter");
    const std::size_t gold = fields[5].size() == 1 ? kLetters.find(fields[5]) : std::string_view::npos;
    if (gold == std::string_view::npos) throw BadItem("the answer '" + fields[5].substr(0, 20) + "' is none of A to D");
    return mmlu_item(fields[0], {fields.begin() + 1, fields.begin() + 5}, static_cast<Index>(gold), subject);
  }

  McqTask task_;
  const std::vector<Index>* labels_;
  simdjson::dom::parser parser_;
  Index made_ = 0;
};

std::vector<Index> read_labels(const std::string& path) {
  const std::unique_ptr<io::ByteSource> source = io::open_decompressed(path);
  const std::string bytes = io::read_all(*source, kMostBytes);
  std::vector<Index> labels;
  for (const std::string_view word : split_blanks(strip(without_byte_order_mark(bytes)))) {
    if (word != "0" && word != "1") {
      throw Error(source->name() + ": label " + std::to_string(labels.size()) + " is '" +
                  std::string(word.substr(0, 20)) + "', expected 0 or 1");
    }
    labels.push_back(word == "1" ? 1 : 0);
  }
  return labels;
}

}  // namespace

const NameTable<McqTask>& mcq_task_names() {
  static const NameTable<McqTask> names = {{"arc_easy", McqTask::arc_easy},
                                           {"arc_challenge", McqTask::arc_challenge},
                                           {"hellaswag", McqTask::hellaswag},
                                           {"piqa", McqTask::piqa},
                                           {"mmlu", McqTask::mmlu}};
  return names;
}

std::vector<McqItem> read_mcq_items(McqTask task, const std::vector<std::string>& files,
                                    const std::optional<std::string>& labels_file) {
  std::vector<Index> labels;
  if (labels_file) labels = read_labels(*labels_file);
  std::vector<McqItem> items;
  ItemReader reader(task, labels_file ? &labels : nullptr);
  for (const std::string& file : files) reader.read(file, items);
  if (items.empty()) throw Error(io::input_name(files.front()) + ": no item");
  if (labels_file && labels.size() != items.size()) {
    throw Error(*labels_file + ": " + std::to_string(labels.size()) + " labels, expected one for each of the " +
                std::to_string(items.size()) + " items");
  }
  return items;
}

std::string mcq_description(McqTask task, const std::string& subject) {
  if (task != McqTask::mmlu) return {};
  return "The following are multiple choice questions (with answers) about " + replace_all(subject, "_", " ") + ".\n\n";
}

std::string clean_hellaswag(std::string_view text) {
  const std::string titled = replace_all(strip(text), " [title]", ". ");
  std::string out;
  for (std::string_view rest = titled; !rest.empty();) {
    const std::size_t open = rest.find('[');
    const std::size_t close = open == std::string_view::npos ? open : rest.find(']', open);
    // A bracket is taken out up to its end on the same line.
    const bool is_removed =
        close != std::string_view::npos && rest.substr(open, close - open).find('\n') == std::string_view::npos;
    if (is_removed) {
      out += rest.substr(0, open);
      rest.remove_prefix(close + 1);
    } else {
      const std::size_t kept = open == std::string_view::npos ? rest.size() : open + 1;
      out += rest.substr(0, kept);
      rest.remove_prefix(kept);
    }
  }
  return replace_all(out, "  ", " ");
}

}  // namespace bam::eval
