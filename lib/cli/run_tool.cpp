#include "cli/run_tool.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

#include "base/log.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "cli/version.h"

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

// Whatever a file name or a library put into the message, it is one line.
void print_error(const ToolInfo& info, const std::string& message) {
  std::string line = info.name + ": " + message;
  for (char& c : line) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (is_control) c = c == '\n' || c == '\t' ? ' ' : '?';
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

[[noreturn]] void refuse_write(int error) {
  if (error == EPIPE) throw BrokenPipe();
  throw Error(std::string("standard output: cannot write: ") + std::strerror(error));
}

// Runs `work`; whatever it throws becomes a line and a status. std::cout throws too: without that, a tool would compute
// on for a reader that is gone.
int guarded(const ToolInfo& info, const std::function<int()>& work) {
  try {
    return work();
  } catch (const BrokenPipe& error) {
    return static_cast<int>(error.status);
  } catch (const Error& error) {
    print_error(info, error.what());
    return static_cast<int>(error.status);
  } catch (const std::ios_base::failure&) {
    const int error = errno;  // of the write that failed a moment ago
    return guarded(info, [error]() -> int { refuse_write(error); });
  } catch (const std::bad_alloc&) {
    print_error(info, "out of memory");
  } catch (const std::exception& error) {
    print_error(info, std::string("internal error: ") + error.what());
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
  common.declare(table);
  const int status = guarded(info, [&] {
    table.parse(argc, argv);
    if (act(info, table, common)) return 0;
    refuse_file_conflicts(table);
    log::configure(info.name, log_level(common));
    if (info.on_signal == OnSignal::save) catch_stop_signals();
    Context context = make_context(info, table, common);
    context.command_line = as_command_line(info, argc, argv);
    return run(context);
  });
  if (status != 0) return status;  // one error, one line
  return guarded(info, [] {
    close_standard_output();
    return 0;
  });
}

}  // namespace detail
}  // namespace bam::cli
