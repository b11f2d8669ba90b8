// What every tool does the same way: options, --help, --version, --print-man, --print-completion, signals, logging,
// errors as one line with an exit status, and a checked close of standard output.
//
//   int run(const PplOptions& options, cli::Context& context);   // throws bam::Error; returns an exit status
//   int main(int argc, char** argv) {
//     return cli::run_tool<PplOptions>({.name = "bam-ppl", .purpose = "perplexity by position"}, run, argc, argv);
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "dist/communicator.h"
#include "io/atomic_file.h"

namespace bam::cli {

struct Example {
  std::string command;
  std::string says;  // one sentence
};

// What SIGTERM, SIGINT and SIGUSR1 do to a tool. SIGUSR2 has it say how far it is, whatever this says.
//   end   nothing to save: the tool ends as the signal says, at once.
//   save  the first shows in Context::stop_requested(), a second SIGTERM or SIGINT (after a second or more: timeout(1)
//         and batch systems send the same signal twice at once) ends the tool. Reads and writes are restarted.
enum class OnSignal { end, save };

// What several processes of a launcher (mpirun, srun) are to a tool.
//   each_for_itself  nothing: each does the whole of its own command line
//   together         ranks of one job (Context::ranks), unless --ranks one says otherwise
enum class OnRanks { each_for_itself, together };

struct ToolInfo {
  std::string name;
  std::string purpose;  // one line, no full stop
  std::vector<Example> examples{};
  OnSignal on_signal = OnSignal::end;
  OnRanks on_ranks = OnRanks::each_for_itself;
  std::uint64_t default_seed = 0;
};

enum class Shell { none, bash, zsh };

// The options that all tools take. run_tool declares them behind the tool's own.
struct CommonOptions {
  std::optional<std::string> config{};
  std::string device = "auto";
  Index threads = 0;  // 0 = as many as this process may run on; the Context has the number
  std::uint64_t seed = 0;
  bool quiet = false;
  bool verbose = false;
  bool joins_ranks = true;
  bool help = false;
  bool version = false;
  bool print_man = false;
  Shell print_completion = Shell::none;
  void declare(OptionTable& table);
  void declare_ranks(OptionTable& table);  // of tools with OnRanks::together
};

class Context {
 public:
  std::string tool;
  std::string version;       // "0.1.0 (1a2b3c4)"
  std::string command_line;  // as a shell would read it again
  std::string device;
  int threads = 1;  // at least 1
  std::uint64_t seed = 0;
  const OptionTable* options = nullptr;
  dist::Communicator* ranks = &dist::alone();

  // A signal asked to save and stop. Only with OnSignal::save.
  bool stop_requested() const;

  bool is_set(std::string_view name) const { return options->is_set(name); }
};

// Binary data is not for a terminal. Throws UsageError.
void require_not_terminal(const io::OutputFile& output);

// Standard output so far, flushed and checked. Throws BrokenPipe or Error. run_tool does it at the end.
void flush_standard_output();

namespace detail {
int run_tool(const ToolInfo& info, OptionTable& table, const std::function<int(Context&)>& run, int argc,
             const char* const* argv);
}

template <typename Options>
int run_tool(const ToolInfo& info, int (*run)(const Options&, Context&), int argc, const char* const* argv) {
  Options options;
  OptionTable table;
  options.declare(table);
  return detail::run_tool(
      info, table, [&](Context& context) { return run(options, context); }, argc, argv);
}

}  // namespace bam::cli
