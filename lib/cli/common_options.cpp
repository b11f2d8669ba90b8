// The option groups that several tools share.
#include "cli/run_tool.h"

namespace bam::cli {

void CommonOptions::declare(OptionTable& table) {
  OptionGroup& group = table.group("Common");
  group
      .add("device", device, cli::device(),
           "Where to compute. With auto, on a GPU where there is one, else on the CPU; ref is slow float64 code for "
           "testing.")
      .add("threads", threads, or_word(integer({1, 4096}), "all", 0),
           "Threads to compute with; all is one for each processor core that this process may run on.")
      .add("seed", seed, cli::seed(), "Seed of everything random: the same seed gives the same result.")
      .add("config", config, optional(path(), "none"),
           "Read further options from FILE, lines of the form 'key = value'. The command line wins over the file, and "
           "the file over the environment (BAM_THREADS, BAM_DEVICE, ...).")
      .flag("quiet,q", quiet, "Only warnings and errors on standard error: no log, no progress.")
      .flag("verbose,v", verbose, "More of the log.")
      .action("help,h", help, "Show this help and end.")
      .action("version", version, "Show the version, the backends and the features of this machine, and end.");

  const auto insert_hidden = [&](Option option) {
    option.is_action = true;
    option.is_hidden = true;
    group.insert(std::move(option));
  };
  group.action("print-man", print_man, "Print the OPTIONS section of the man page.");
  group.options.back().is_hidden = true;
  insert_hidden(detail::bind("print-completion", print_completion,
                             choice<Shell>({{"bash", Shell::bash}, {"zsh", Shell::zsh}}), "bash|zsh",
                             "Print the completions for a shell."));
}

void CommonOptions::declare_ranks(OptionTable& table) {
  table.group("Ranks").add("ranks", joins_ranks, choice<bool>({{"all", true}, {"one", false}}),
                           "All processes that mpirun or srun started work together, or each by itself.");
}

void TableOptions::declare(OptionTable& table) {
  table.group("Table")
      .add("format", format,
           choice<io::TableFormat>({{"tsv", io::TableFormat::tsv}, {"jsonl", io::TableFormat::jsonl}}),
           "Tab-separated values with a header row, or one JSON object a line.")
      .flag("no-header", no_header, "Leave out the header row of tsv.")
      .flag("no-times", no_times, "Leave out what differs between equal runs: the columns of seconds.");
}

void OutputOption::declare(OptionTable& table, std::string help) {
  table.group("Output").add("output,o", path, cli::path(PathUse::output), std::move(help));
}

}  // namespace bam::cli
