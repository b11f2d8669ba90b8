// Signals that ask a tool to stop, and those that would end it without a word.
#pragma once

namespace bam::cli {

// A vanished reader or a file size limit becomes an error of write(2) instead of the end of the process.
void ignore_write_signals();

// From here on SIGTERM, SIGINT and SIGUSR1 show in stop_requested(). See OnSignal::save. Call it once, before there are
// other threads: they inherit that these signals do not interrupt them.
void catch_stop_signals();

bool stop_requested();

}  // namespace bam::cli
