// Signals that ask a tool to stop or to say how far it is, and those that would end it without a word.
#pragma once

#include <functional>
#include <string>

namespace bam::cli {

// A vanished reader or a file size limit becomes an error of write(2) instead of the end of the process.
void ignore_write_signals();

enum class StopSignals { end_the_tool, show };

// From here on SIGUSR2, and SIGINFO where there is one, write a line that says how far the tool is; with
// StopSignals::show, SIGTERM, SIGINT and SIGUSR1 show in stop_requested() (see OnSignal::save). Call it once, before
// there are other threads: they inherit that these signals do not interrupt them.
void watch_signals(StopSignals stop_signals);

bool stop_requested();

// What makes the line; it is called from another thread, until it is replaced. An empty one takes the answer back.
void set_status(std::function<std::string()> line);

}  // namespace bam::cli
