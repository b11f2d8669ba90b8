// boxes: cli io kernels base
#include "cli/options.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"
#include "cli/render.h"
#include "support/catch.h"

using namespace bam;
using namespace bam::cli;

namespace {

enum class Precision { f32, bf16 };

struct Fields {
  std::string model;
  std::vector<std::string> files;
  Index context = 512;
  std::optional<Index> window;
  std::vector<Length> lengths{{512, false}};
  std::vector<std::string> stops;
  double rate = 1e-3;
  Precision precision = Precision::f32;
  bool border = true;
  bool dry_run = false;
  std::string log = "train.jsonl";
  CommonOptions common;
  OptionTable table;

  Fields() {
    table.operand(model, path(), "MODEL", "A checkpoint.");
    table.operands(files, path(), "FILE", 0, "Token shards.");
    table.group("Windows")
        .add("context", context, count(2), "TOKENS", "Tokens in a window.")
        .add("window", window, optional(count(), "none"), "TOKENS", "Keys further away are not seen. Not at all.")
        .add("lengths", lengths, list(length()), "Lengths to measure.")
        .add("stop", stops, repeated(text()), "Text to stop at.")
        .add("lr,r", rate, real(above(0)), "Peak learning rate.")
        .add("dtype", precision, choice<Precision>({{"f32", Precision::f32}, {"bf16", Precision::bf16}}), "Products.")
        .add("border-targets", border, yes_no(), "Whether targets across a border count.")
        .flag("dry-run,n", dry_run, "Only say what would be done.")
        .add("log", log, path(), "Where the log goes.");
    common.declare(table);
  }

  void parse(std::vector<const char*> words) {
    words.insert(words.begin(), "bam-test");
    table.parse(static_cast<int>(words.size()), words.data());
  }
};

// What is said of a command line; "" where it is taken.
std::string refusal(std::vector<const char*> words) {
  Fields fields;
  try {
    fields.parse(std::move(words));
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "";
}

// A variable of the environment for the length of a test.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_.c_str()); }

 private:
  std::string name_;
};

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) {
    std::string path = (std::filesystem::temp_directory_path() / "options_test_XXXXXX").string();
    const int fd = mkstemp(path.data());
    REQUIRE(fd >= 0);
    path_ = path;
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("options: fields keep their values where nothing is said") {
  Fields fields;
  fields.parse({"m.h5"});
  CHECK(fields.model == "m.h5");
  CHECK(fields.files.empty());
  CHECK(fields.context == 512);
  CHECK(!fields.window.has_value());
  CHECK(!fields.table.is_set("context"));
  CHECK_THROWS_AS(fields.table.is_set("contxt"), std::logic_error);
}

TEST_CASE("options: every way to write a value") {
  Fields fields;
  fields.parse({"--context", "1k", "m.h5", "--lr=0.5", "--window", "64Ki", "a", "--lengths", "512,1k,64x", "--dtype",
                "bf16", "--border-targets", "no", "-n", "--log", "-", "--", "-b"});
  CHECK(fields.model == "m.h5");
  CHECK(fields.files == std::vector<std::string>{"a", "-b"});
  CHECK(fields.context == 1000);
  CHECK(fields.rate == 0.5);
  CHECK(fields.window == Index{65536});
  CHECK(fields.lengths == std::vector<Length>{{512, false}, {1000, false}, {64, true}});
  CHECK(fields.precision == Precision::bf16);
  CHECK(!fields.border);
  CHECK(fields.dry_run);
  CHECK(fields.log == "-");
  CHECK(fields.table.is_set("context"));
  CHECK(!fields.table.is_set("seed"));
}

TEST_CASE("options: letters stand alone, before their value, and together") {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"-r", "2"}, {"-r2"}, {"-nr2"}, {"-nr", "2"}, {"-qnr2"}}) {
    Fields fields;
    std::vector<const char*> all{"m"};
    all.insert(all.end(), words.begin(), words.end());
    fields.parse(all);
    CHECK(fields.rate == 2);
  }
  Fields fields;
  fields.parse({"-qn", "-"});
  CHECK(fields.common.quiet);
  CHECK(fields.dry_run);
  CHECK(fields.model == "-");
}

TEST_CASE("options: flags take both words, alone and joined") {
  const std::vector<std::pair<std::vector<const char*>, bool>> cases{{{"m", "--dry-run"}, true},
                                                                     {{"m", "--dry-run", "yes"}, true},
                                                                     {{"m", "--dry-run", "no"}, false},
                                                                     {{"m", "--dry-run=yes"}, true},
                                                                     {{"m", "--dry-run=no"}, false},
                                                                     {{"--dry-run", "m"}, true},
                                                                     {{"--dry-run", "no", "m"}, false},
                                                                     {{"--", "no"}, false},
                                                                     {{"--border-targets", "no", "m"}, false}};
  for (const auto& [words, expected] : cases) {
    Fields fields;
    fields.parse(words);
    CHECK(fields.dry_run == expected);
  }
  CHECK(refusal({"m", "--dry-run=maybe"}) == "--dry-run: 'maybe' is not a choice, expected yes, no");
  CHECK(refusal({"m", "--dry-run=false"}).find("expected yes, no") != std::string::npos);
  CHECK(refusal({"m", "--border-targets", "false"}) == "--border-targets: 'false' is not a choice, expected yes, no");
}

TEST_CASE("options: a list grows, anything else may be given once") {
  Fields fields;
  fields.parse({"m", "--lengths", "1k", "--lengths", "2k,4k", "--stop", "a,b", "--stop", "c"});
  CHECK(fields.lengths == std::vector<Length>{{1000, false}, {2000, false}, {4000, false}});
  CHECK(fields.stops == std::vector<std::string>{"a,b", "c"});
  CHECK(refusal({"m", "--context", "4", "--context", "4"}) == "--context: given twice, expected once");
  CHECK(refusal({"m", "-n", "--dry-run"}) == "--dry-run: given twice, expected once");
  CHECK(refusal({"m", "--lengths", "512,,1k"}).find("--lengths: an element of the list is empty") == 0);
  CHECK(refusal({"m", "--lengths", "512,"}).find("is empty") != std::string::npos);
}

TEST_CASE("options: what Boost takes by itself is refused here") {
  CHECK(refusal({"m", "--context", "-1"})
            .find("--context: '-1' is out of range, expected a whole number of at least 2") == 0);
  CHECK(refusal({"m", "--lr", "nan"}) == "--lr: 'nan' is not a real number, expected a real number above 0");
  CHECK(refusal({"m", "--lr", "inf"}) != "");
  CHECK(refusal({"m", "--context", "1e99"}).find("is out of range") != std::string::npos);
  CHECK(refusal({"m", "--context", "1e6"}).empty());
  CHECK(refusal({"m", "--cont", "512"}) == "--cont: unknown option, did you mean --context?");
  CHECK(refusal({"m", "--context", "--lr", "1"}) == "--context: a value is missing, expected TOKENS");
  CHECK(refusal({"m", "--log", "--lr", "1"}) == "--log: a value is missing, expected FILE");
  CHECK(refusal({"m", "--log", "-n"}) == "--log: a value is missing, expected FILE");
  CHECK(refusal({"m", "--log=--lr"}).empty());
}

TEST_CASE("options: every refusal names the option and what was expected") {
  CHECK(refusal({"m", "--context", "abc"}) ==
        "--context: 'abc' is not a whole number, expected a whole number of at least 2 (as 512, 32k, 64Ki or 1e6)");
  CHECK(refusal({"m", "--context"}) == "--context: a value is missing, expected TOKENS");
  CHECK(refusal({"m", "--context="}) == "--context: a value is missing, expected TOKENS");
  CHECK(refusal({"m", "--context", ""}) == "--context: the value is empty, expected TOKENS");
  CHECK(refusal({"m", "-r"}) == "--lr: a value is missing, expected X");
  CHECK(refusal({"m", "--dtype", "f16"}) == "--dtype: 'f16' is not a choice, expected f32, bf16");
  CHECK(refusal({"m", "--contxt", "5"}) == "--contxt: unknown option, did you mean --context?");
  CHECK(refusal({"m", "--contxt=5"}) == "--contxt: unknown option, did you mean --context?");
  CHECK(refusal({"m", "--dytpe", "f32"}) == "--dytpe: unknown option, did you mean --dtype?");
  CHECK(refusal({"m", "--rl", "1"}) == "--rl: unknown option, did you mean --lr?");
  CHECK(refusal({"m", "--threads", "0"}).find("--threads: '0' is out of range") == 0);
  CHECK(refusal({"m", "--device", "gpu"}).find("expected cpu, cuda, cuda:N, auto or ref") != std::string::npos);
  CHECK(refusal({"m", "--device", "cuda:"}) != "");
  CHECK(refusal({"m", "--device", "cuda:-1"}) != "");
  CHECK(refusal({"m", "--device", "cuda:3"}).empty());
  CHECK(refusal({"m", "-x"}).find("-x: unknown option") == 0);
  CHECK(refusal({"m", "-nx"}).find("unknown option") != std::string::npos);
  CHECK(refusal({"m", "--xyzzyxyzzy"}).find("--xyzzyxyzzy: unknown option, expected") == 0);
}

TEST_CASE("options: operands are counted") {
  CHECK(refusal({}) == "MODEL is missing, expected MODEL [FILE...]");
  CHECK(refusal({""}) == "MODEL: the value is empty, expected MODEL");
  CHECK(refusal({"m", "a", ""}) == "FILE: the value is empty, expected FILE");
  OptionTable table;
  std::string only;
  table.operand(only, path(), "FILE", "The only one.");
  const char* const words[] = {"bam-test", "a", "b"};
  CHECK_THROWS_WITH(table.parse(3, words), "'b' is one operand too many, expected FILE");
}

TEST_CASE("options: with --help nothing else is needed, nor read from elsewhere") {
  const Variable variable("BAM_CONTEXT", "nonsense");
  Fields fields;
  fields.parse({"--help"});
  CHECK(fields.common.help);
  CHECK(refusal({"m"}) != "");
}

TEST_CASE("options: odd words end in a usage error or are taken, and nothing else") {
  const std::vector<const char*> odd{"-",      "--",         "---",    "--=", "-=",    "--=x",     "-n=",
                                     "-n=no",  "--dry-run=", "--no",   "-1",  "-qq",   "-r=",      "-\xff",
                                     "--\xff", "--help=no",  "--help", "-h5", "@file", "--config", "--print-completion",
                                     "--n",    " ",          "-r-1"};
  for (const char* first : odd) {
    for (const char* second : odd) {
      INFO(first << " " << second);
      CHECK_NOTHROW(refusal({"m", first, second}));
    }
  }
}

TEST_CASE("options: the command line wins over the file, and the file over the environment") {
  const Variable context("BAM_CONTEXT", "10");
  const Variable rate("BAM_LR", "0.25");
  const Variable border("BAM_BORDER_TARGETS", "no");
  const Variable flag("BAM_DRY_RUN", "yes");
  const Variable other("BAM_NO_SUCH_OPTION", "x");
  const Variable empty("BAM_SEED", "");
  const ConfigFile config(
      "# a comment\n\n context = 20  # another\r\nlr=0.5\nlog = a#b.jsonl\nlengths = 1k\nlengths = 2k");
  Fields fields;
  fields.parse({"m", "--config", config.path(), "--context", "30"});
  CHECK(fields.context == 30);
  CHECK(fields.rate == 0.5);
  CHECK(!fields.border);
  CHECK(fields.dry_run);
  CHECK(fields.log == "a#b.jsonl");
  CHECK(fields.lengths == std::vector<Length>{{1000, false}, {2000, false}});
  std::map<std::string, Source> sources;
  for (const EffectiveValue& value : fields.table.values()) sources[value.name] = value.source;
  CHECK(sources.at("context") == Source::command_line);
  CHECK(sources.at("lr") == Source::config);
  CHECK(sources.at("dry-run") == Source::environment);
  CHECK(sources.at("dtype") == Source::defaults);
  CHECK(!sources.contains("help"));
  CHECK(!sources.contains("print-man"));
}

TEST_CASE("options: a list on the command line replaces that of the file") {
  const ConfigFile config("lengths = 1k\n");
  Fields fields;
  fields.parse({"m", "--config", config.path(), "--lengths", "2k"});
  CHECK(fields.lengths == std::vector<Length>{{2000, false}});
}

TEST_CASE("options: errors of the environment and of the file name their place") {
  {
    const Variable variable("BAM_THREADS", "abc");
    CHECK(refusal({"m"}).find("BAM_THREADS: 'abc' is not a whole number") == 0);
  }
  const std::vector<std::pair<std::string, std::string>> cases{
      {"context = 5\ncontxt = 3\n", ":2: contxt: unknown option, did you mean context?"},
      {"\ncontext = abc\n", ":2: context: 'abc' is not a whole number"},
      {"context 5\n", ":1: 'context 5' is not a setting, expected 'key = value'"},
      {"= 5\n", ":1: '= 5' is not a setting"},
      {"context =\n", ":1: context: the value is empty, expected TOKENS"},
      {"context = 5\ncontext = 6\n", ":2: context: given twice"},
      {"help = yes\n", ":1: help: unknown option"},
      {"config = other\n", ":1: config: unknown option"},
      {"dry-run = 1\n", ":1: dry-run: '1' is not a choice, expected yes, no"},
  };
  for (const auto& [text, expected] : cases) {
    const ConfigFile config(text);
    INFO(text);
    const std::string said = refusal({"m", "--config", config.path()});
    CHECK(said.find(std::string(config.path()) + expected) == 0);
  }
  Fields fields;
  CHECK_THROWS_AS(fields.parse({"m", "--config", "/no/such/file"}), Error);
}

TEST_CASE("options: help shows every option with its default, in 80 columns") {
  const Fields fields;
  const ToolInfo info{.name = "bam-test", .purpose = "a test", .examples = {{"bam-test m.h5", "Tests m.h5."}}};
  const std::string help = help_text(info, fields.table);
  CHECK(help.find("bam-test - a test\n\nUsage: bam-test [options] MODEL [FILE...]\n") == 0);
  CHECK(help.find("      --context TOKENS      Tokens in a window. (default: 512)\n") != std::string::npos);
  CHECK(help.find("  -r, --lr X                Peak learning rate. (default: 0.001)\n") != std::string::npos);
  CHECK(help.find("(default: none)") != std::string::npos);
  CHECK(help.find("  bam-test m.h5\n      Tests m.h5.\n") != std::string::npos);
  CHECK(help.find("print-man") == std::string::npos);
  for (const EffectiveValue& value : fields.table.values()) {
    CHECK(help.find("--" + value.name) != std::string::npos);
  }
  for (std::size_t begin = 0; begin < help.size();) {
    const std::size_t end = help.find('\n', begin);
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
}

TEST_CASE("options: the man page's section is mdoc, a sentence a line") {
  const Fields fields;
  const std::string man = man_options(fields.table);
  CHECK(man.find(".Sh OPTIONS\n.Bl -tag -width Ds\n.It Ar MODEL\nA checkpoint.\n") == 0);
  CHECK(man.find(
            ".It Fl \\-window Ar TOKENS\nKeys further away are not seen.\nNot at all.\nThe default is\n.Cm none .\n") !=
        std::string::npos);
  CHECK(man.find(".It Fl r , Fl \\-lr Ar \\&X\n") != std::string::npos);
  CHECK(man.find("print\\-man") == std::string::npos);
}

TEST_CASE("options: no help text can be taken for a request of the man page") {
  OptionTable table;
  bool field = false;
  table.group("Odd").flag("odd", field, ".Sh is no heading. A\\fBb is not bold; --x has two dashes.");
  const std::string man = man_options(table);
  CHECK(man.find("\n\\&.Sh is no heading.\n") != std::string::npos);
  CHECK(man.find("\nA\\efBb is not bold; \\-\\-x has two dashes.\n") != std::string::npos);
}

TEST_CASE("options: completions offer names, words and files") {
  const Fields fields;
  const ToolInfo info{.name = "bam-test", .purpose = "a test"};
  const std::string bash = bash_completion(info, fields.table);
  CHECK(bash.find("--dtype) mapfile -t COMPREPLY < <(compgen -W 'f32 bf16' -- \"$word\") ;;") != std::string::npos);
  CHECK(bash.find("complete -o filenames -F _bam_test bam-test\n") != std::string::npos);
  const std::string zsh = zsh_completion(info, fields.table);
  CHECK(zsh.find("#compdef bam-test\n") == 0);
  CHECK(zsh.find("  '--dtype=[Products.]:f32|bf16:(f32 bf16)' \\\n") != std::string::npos);
  CHECK(zsh.find("  '(-r --lr)'{-r+,--lr=}'[Peak learning rate.]:X: ' \\\n") != std::string::npos);
}
