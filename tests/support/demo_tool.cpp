// A tool that does nothing but what all tools do: one option of each kind, output, errors, signals, progress.
// tests/cli/options.sh and tests/cli/run_tool.sh drive it.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>
#include <thread>

#include "cli/progress.h"
#include "cli/run_tool.h"

using namespace bam;
using namespace bam::cli;

namespace {

enum class Deed { show, print, binary, wait, climb, error, usage, memory, fault };
enum class Precision { f32, bf16 };

struct DemoOptions {
  Deed deed = Deed::show;
  std::vector<std::string> files;
  Index context = 512;
  Index memory = 1 << 30;
  std::optional<Index> window;
  std::vector<Length> lengths{{512, false}, {2, true}};
  std::vector<std::string> stops;
  double rate = 1e-3;
  Precision precision = Precision::f32;
  bool border = true;
  bool dry_run = false;
  std::string message = "a.h5: damaged";
  Index lines = 1;
  TableOptions table;
  OutputOption output;

  void declare(OptionTable& options) {
    options.operand(deed,
                    choice<Deed>({{"show", Deed::show},
                                  {"print", Deed::print},
                                  {"binary", Deed::binary},
                                  {"wait", Deed::wait},
                                  {"climb", Deed::climb},
                                  {"error", Deed::error},
                                  {"usage", Deed::usage},
                                  {"memory", Deed::memory},
                                  {"fault", Deed::fault}}),
                    "DEED", "What to do.");
    options.operands(files, path(), "FILE", 0, "Names to show.", 2);
    options.group("Values")
        .add("context", context, count(2), "TOKENS", "Tokens in a window.")
        .add("memory", memory, bytes(), "Memory to use at most.")
        .add("window", window, optional(count(), "none"), "TOKENS", "Keys further away are not seen.")
        .add("lengths", lengths, list(length()), "Lengths to measure. They may be multiples of the context.")
        .add("stop", stops, repeated(text()), "Text to stop at. May be given several times.")
        .add("lr,r", rate, real(above(0)), "Peak learning rate.")
        .add("dtype", precision, choice<Precision>({{"f32", Precision::f32}, {"bf16", Precision::bf16}}), "Products.")
        .add("border-targets", border, yes_no(), "Whether targets across a border count: yes as the authors do.")
        .flag("dry-run,n", dry_run, "Only say what would be done.");
    options.group("Deeds")
        .add("message", message, text(), "What an error says. Of \"a\\nb\", e.g. --x and .y remain as they are: '.Ar'.")
        .add("lines", lines, count(0), "How many lines to print.");
    table.declare(options);
    output.declare(options);
  }
};

int show(const DemoOptions& options, const Context& context) {
  std::printf("tool\t%s\t-\n", context.tool.c_str());
  std::printf("command-line\t%s\t-\n", context.command_line.c_str());
  std::printf("threads-used\t%d\t-\n", context.threads);
  const char* const sources[] = {"default", "environment", "config", "command-line"};
  for (const EffectiveValue& value : context.options->values()) {
    std::printf("%s\t%s\t%s\n", value.name.c_str(), value.value.c_str(), sources[static_cast<int>(value.source)]);
  }
  for (const std::string& file : options.files) std::printf("FILE\t%s\t-\n", file.c_str());
  return 0;
}

int wait_for_stop(const Context& context) {
  std::cout << "waiting" << std::endl;
  while (!context.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::cout << "saving" << std::endl;
  if (std::getenv("DEMO_SLOW_SAVE") != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    std::cout << "still at it" << std::endl;
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  return static_cast<int>(ExitStatus::interrupted);
}

int climb() {
  Progress progress({.total = 100, .unit = "steps"});
  for (Index step = 1; step <= 100; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    progress.update(step);
  }
  return 0;
}

int run(const DemoOptions& options, Context& context) {
  switch (options.deed) {
    case Deed::show:
      return show(options, context);
    case Deed::print:
      for (Index i = 0; i < options.lines; ++i) std::cout << "line " << i << "\n";
      return 0;
    case Deed::binary: {
      io::OutputFile output(options.output.path);
      require_not_terminal(output);
      output.write(std::string("\0\1\2", 3));
      output.commit();
      return 0;
    }
    case Deed::wait:
      return wait_for_stop(context);
    case Deed::climb:
      return climb();
    case Deed::error:
      throw Error(options.message);
    case Deed::usage:
      throw UsageError("--context: larger than the data, expected at most 5");
    case Deed::memory:
      throw std::bad_alloc();
    case Deed::fault:
      throw std::logic_error("never seen by users");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const ToolInfo info{.name = "demo-tool",
                      .purpose = "shows what all tools do",
                      .examples = {{"demo-tool show --lengths 1k,64x", "Shows every option's value."}},
                      .on_signal = std::getenv("DEMO_SAVES") != nullptr ? OnSignal::save : OnSignal::end};
  return run_tool<DemoOptions>(info, run, argc, argv);
}
