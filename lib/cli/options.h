// The option table of a tool, declared once. From it come the parser, --help, the OPTIONS section of the man page and
// the shell completions. An option is bound to a field, whose value at the declaration is the default.
//
//   struct PplOptions {
//     std::string model;
//     std::vector<std::string> files;
//     Index context = 512;
//     DType dtype = DType::f32;
//     cli::TableOptions table;
//
//     void declare(cli::OptionTable& options) {
//       options.operand(model, path(), "MODEL", "A checkpoint.");
//       options.operands(files, path(), "FILE", 1, "Token shards.");
//       options.group("Windows")
//           .add("context", context, count(2), "TOKENS", "Tokens in a window.")
//           .add("dtype", dtype, choice<DType>({{"f32", DType::f32}, {"bf16", DType::bf16}}), "Type of the products.")
//           .flag("rolling", rolling, "Score every token once.");
//       table.declare(options);
//     }
//   };
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/value_type.h"
#include "io/table.h"

namespace bam::cli {

// Where an option's value came from; later ones win over earlier ones.
enum class Source { defaults, environment, config, command_line };

// One option or operand, its type forgotten.
struct Option {
  std::string name;     // without dashes; of an operand, its metavar
  char letter = 0;      // of the short form, or 0
  std::string metavar;  // empty for a flag
  std::string help;
  std::string default_text;
  std::vector<std::string> words;
  bool is_flag = false;
  PathUse path_use = PathUse::none;
  std::vector<std::string> texts;  // as given; empty for a default
  bool repeats = false;
  bool is_action = false;  // --help and the like: only on the command line
  bool is_hidden = false;
  std::function<void(const std::vector<std::string>&)> assign;  // one text, or several where it repeats
  std::function<std::string()> current;
  Source source = Source::defaults;
};

struct Operand {
  Option option;
  std::size_t at_least = 1;
  std::size_t at_most = 1;
};

struct EffectiveValue {
  std::string name;
  std::string value;
  Source source;
};

namespace detail {

template <typename T>
void assign(T& field, const ValueType<T>& type, const std::vector<std::string>& texts) {
  field = type.parse(texts.front());
}
template <typename T>
void assign(std::vector<T>& field, const ValueType<std::vector<T>>& type, const std::vector<std::string>& texts) {
  std::vector<T> all;
  for (const std::string& text : texts) {
    for (T& value : type.parse(text)) all.push_back(std::move(value));
  }
  field = std::move(all);
}

template <typename T>
Option bind(std::string name, T& field, const ValueType<T>& type, std::string metavar, std::string help) {
  Option option;
  option.name = std::move(name);
  option.metavar = std::move(metavar);
  option.help = std::move(help);
  option.default_text = type.format(field);
  option.words = type.words;
  option.path_use = type.path_use;
  option.repeats = type.repeats;
  option.assign = [&field, type](const std::vector<std::string>& texts) { detail::assign(field, type, texts); };
  option.current = [&field, format = type.format] { return format(field); };
  return option;
}

}  // namespace detail

// Options under one heading. Help texts are whole sentences; the default is added to them.
class OptionGroup {
 public:
  explicit OptionGroup(std::string group_title) : title(std::move(group_title)) {}

  // `name` is "context", or "output,o" for an option with a letter.
  template <typename T>
  OptionGroup& add(std::string name, T& field, const std::type_identity_t<ValueType<T>>& type, std::string metavar,
                   std::string help) {
    return insert(detail::bind(std::move(name), field, type, std::move(metavar), std::move(help)));
  }
  template <typename T>
  OptionGroup& add(std::string name, T& field, const std::type_identity_t<ValueType<T>>& type, std::string help) {
    return add(std::move(name), field, type, type.metavar, std::move(help));
  }

  // --name, --name yes, --name no. Off unless the field says otherwise.
  OptionGroup& flag(std::string name, bool& field, std::string help);

  // A flag that only the command line can give, as --help.
  OptionGroup& action(std::string name, bool& field, std::string help);

  OptionGroup& insert(Option option);  // takes "name,letter" apart

  std::string title;
  std::deque<Option> options;
};

class OptionTable {
 public:
  // The group of this title, new or already begun.
  OptionGroup& group(std::string_view title);

  // What stands on the command line without dashes, in this order.
  template <typename T>
  void operand(T& field, const std::type_identity_t<ValueType<T>>& type, std::string metavar, std::string help) {
    operands_.push_back({detail::bind(metavar, field, type, metavar, std::move(help)), 1, 1});
  }
  // At least `at_least` and at most `at_most` of them, into a vector; declared last.
  template <typename T>
  void operands(std::vector<T>& field, const ValueType<T>& type, std::string metavar, std::size_t at_least,
                std::string help, std::size_t at_most = static_cast<std::size_t>(-1)) {
    operands_.push_back({detail::bind(metavar, field, repeated(type), metavar, std::move(help)), at_least, at_most});
  }

  // Reads the environment (BAM_NAME), then the file that --config names, then the command line, whichever later wins,
  // and assigns the fields. Throws UsageError "--context: 'abc' is not ...", "BAM_SEED: ...", "FILE:LINE: ...".
  // With an action among the arguments (--help), operands may be missing.
  void parse(int argc, const char* const* argv);

  // Was it given, anywhere? Throws std::logic_error for a name that is not declared.
  bool is_set(std::string_view name) const;

  // Every option with its value as text, in the order of declaration: for provenance and for comparing at a resume.
  std::vector<EffectiveValue> values() const;

  const std::deque<OptionGroup>& groups() const { return groups_; }
  const std::vector<Operand>& operands() const { return operands_; }

  // The declared option of this name, or null.
  Option* find(std::string_view name);
  const Option* find(std::string_view name) const;
  // The declared name that is most like `name`; empty when none is.
  std::string nearest(std::string_view name) const;

 private:
  std::deque<OptionGroup> groups_;
  std::vector<Operand> operands_;
};

// --format, --no-header, --no-times: what every tool that writes a table takes.
struct TableOptions {
  io::TableFormat format = io::TableFormat::tsv;
  bool no_header = false;
  bool no_times = false;
  void declare(OptionTable& table);
};

// Options that would do nothing in a run: whoever gives one means something by it.
struct Idle {
  bool applies = false;
  std::string why;                          // "without --val", "with --pe rope, expected bam"
  std::vector<std::string_view> options{};  // names
  std::vector<std::string_view> groups{};   // titles, for all options under them
};

// Throws UsageError "--val-every: has no effect without --val" for the first such option on the command line. A file of
// options and the environment are for many runs, and may hold what this one does not need. Throws std::logic_error for
// a name or a title that is not declared.
void refuse_idle(const OptionTable& table, const std::vector<Idle>& all);

// A file that the tool writes must not be one that it reads: the output would replace its source. Throws UsageError
// "--output: FILE is also read (MODEL), expected another name" when an output names the same file as an input or as
// another output, through links too. Streams and devices are left alone.
void refuse_file_conflicts(const OptionTable& table);

// -o: "-" is standard output.
struct OutputOption {
  std::string path = "-";
  void declare(OptionTable& table, std::string help = "Where the result goes; - is standard output.");
};

}  // namespace bam::cli
