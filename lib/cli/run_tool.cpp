#include "cli/run_tool.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>

#include "base/log.h"
#include "cli/job.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "cli/version.h"
#include "dist/shared_error.h"

namespace bam::cli {
namespace {

// A closed standard stream would be taken by the next file that is opened, and data would go there. What stands in for
// it lets every read and write fail instead.
void occupy_closed_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

int cores_available() {
  cpu_set_t sets[8];  // 8192 processors; one set holds 1024
  if (sched_getaffinity(0, sizeof sets, sets) != 0) return 1;
  return std::max(1, CPU_COUNT_S(sizeof sets, sets));
}

// Ranks that the launcher did not bind to cores of their own share all there are.
int fair_threads(int cores, int ranks) {
  const bool is_bound = cores < sysconf(_SC_NPROCESSORS_ONLN);
  return is_bound ? cores : std::max(1, cores / ranks);
}

std::string as_shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string{c};
  return quoted + "'";
}

std::string as_command_line(const ToolInfo& info, int argc, const char* const* argv) {
  std::string line = info.name;
  for (int i = 1; i < argc; ++i) line.append(" ").append(as_shell_word(argv[i]));
  return line;
}

[[noreturn]] void refuse_write(int error) {
  if (error == EPIPE) throw BrokenPipe();
  throw Error(std::string("standard output: cannot write: ") + std::strerror(error));
}

// Runs `work`; whatever it throws becomes a line and a status. std::cout throws too: without that, a tool would compute
// on for a reader that is gone.
int guarded(Job& job, const std::function<int()>& work) {
  try {
    return work();
  } catch (const BrokenPipe& error) {
    job.fail("", error.status);
    return static_cast<int>(error.status);
  } catch (const dist::SharedError& error) {
    job.fail(job.speaks() ? error.what() : "", error.status);
    return static_cast<int>(error.status);
  } catch (const Error& error) {
    job.fail(error.what(), error.status);
    return static_cast<int>(error.status);
  } catch (const std::ios_base::failure&) {
    const int error = errno;  // of the write that failed a moment ago
    return guarded(job, [error]() -> int { refuse_write(error); });
  } catch (const std::bad_alloc&) {
    job.fail("out of memory", ExitStatus::failed);
  } catch (const std::filesystem::filesystem_error& error) {
    job.fail(error.path1().string() + ": " + error.code().message(), ExitStatus::failed);
  } catch (const std::system_error& error) {
    // Nothing else that throws this kind of error asks for what can run out.
    const bool is_thread = error.code() == std::errc::resource_unavailable_try_again;
    job.fail(is_thread
                 ? "cannot start a thread: expected room for more threads and processes (ulimit -u, the limits of a "
                   "job or container), or fewer --threads"
                 : std::string("internal error: ") + error.what(),
             ExitStatus::failed);
  } catch (const std::exception& error) {
    job.fail(std::string("internal error: ") + error.what(), ExitStatus::failed);
  }
  return static_cast<int>(ExitStatus::failed);
}

// Does what an action asks for; false when there is none.
bool act(const ToolInfo& info, const OptionTable& table, const CommonOptions& common) {
  if (common.help) {
    std::cout << help_text(info, table);
  } else if (common.version) {
    std::cout << version_text(info.name);
  } else if (common.print_man) {
    std::cout << man_options(table);
  } else if (common.print_completion == Shell::bash) {
    std::cout << bash_completion(info, table);
  } else if (common.print_completion == Shell::zsh) {
    std::cout << zsh_completion(info, table);
  } else {
    return false;
  }
  return true;
}

Context make_context(const ToolInfo& info, const OptionTable& table, const CommonOptions& common) {
  Context context;
  context.tool = info.name;
  context.version = version();
  context.device = common.device;
  context.threads = common.threads == 0 ? cores_available() : static_cast<int>(common.threads);
  context.seed = common.seed;
  context.options = &table;
  return context;
}

log::Level log_level(const CommonOptions& common) {
  if (common.quiet && common.verbose) throw UsageError("--quiet: excludes --verbose, expected one of them");
  return common.quiet ? log::Level::quiet : common.verbose ? log::Level::verbose : log::Level::normal;
}

// After the last byte. Some file systems tell of a full disk only here.
void close_standard_output() {
  flush_standard_output();
  if (close(STDOUT_FILENO) != 0) refuse_write(errno);
}

}  // namespace

bool Context::stop_requested() const {
  return cli::stop_requested();
}

void require_not_terminal(const io::OutputFile& output) {
  if (!output.is_terminal()) return;
  throw UsageError(output.name() + ": binary data is not for a terminal, expected a pipe or -o FILE");
}

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed) refuse_write(errno != 0 ? errno : EIO);
}

namespace {

// libgomp's threads wait for each other by spinning for milliseconds, which ruins a run as soon as another process
// wants a core: with one of two cores busy, training `tiny` on two threads took 34 s where short waits take 6 s.
// libgomp reads its settings when it is loaded, so that they can be given only to a fresh start of the same program.
void restart_with_short_waits(const char* const* argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  std::string program(4096, '\0');
  const auto length = readlink("/proc/self/exe", program.data(), program.size() - 1);
  if (length <= 0) return;
  program.resize(static_cast<std::size_t>(length));
  setenv("GOMP_SPINCOUNT", "2000", 0);
  execv(program.c_str(), const_cast<char* const*>(argv));  // comes back only when it failed: then waits stay long
}

}  // namespace

namespace detail {

int run_tool(const ToolInfo& info, OptionTable& table, const std::function<int(Context&)>& run, int argc,
             const char* const* argv) {
  restart_with_short_waits(argv);
  occupy_closed_streams();
  ignore_write_signals();
  std::cout.exceptions(std::ios_base::badbit);
  log::configure(info.name, log::Level::normal);
  CommonOptions common;
  common.seed = info.default_seed;
  common.declare(table);
  const bool takes_ranks = info.on_ranks == OnRanks::together;
  if (takes_ranks) common.declare_ranks(table);
  Job job(info.name, takes_ranks);
  if (!job.speaks()) log::configure(info.name, log::Level::silent);
  const int status = guarded(job, [&] {
    table.parse(argc, argv);
    if (act(info, table, common)) return 0;
    refuse_file_conflicts(table);
    if (!common.joins_ranks) job.stay_alone();
    const log::Level level = log_level(common);
    log::configure(info.name, job.speaks() ? level : log::Level::silent);
    watch_signals(info.on_signal == OnSignal::save ? StopSignals::show : StopSignals::end_the_tool);
    Context context = make_context(info, table, common);
    context.command_line = as_command_line(info, argc, argv);
    context.ranks = &job.join();
    if (common.threads == 0) context.threads = fair_threads(context.threads, context.ranks->on_this_machine());
    const int done = run(context);
    job.leave();
    return done;
  });
  if (status != 0) return status;  // one error, one line
  return guarded(job, [] {
    close_standard_output();
    return 0;
  });
}

}  // namespace detail
}  // namespace bam::cli
