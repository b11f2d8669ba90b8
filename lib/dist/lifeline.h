// Lifeline - a connection from every rank to rank 0 that only says "I am here". MPI lets ranks wait for ever for one
// that has died, and not every launcher ends them; but the system closes a dead process's connections at once.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dist/communicator.h"

namespace bam::dist {

class Lifeline {
 public:
  // With a line for the user where this rank is the one that tells him, else with an empty text. Called once at most,
  // from another thread; it ends the process.
  using Lost = std::function<void(const std::string& line)>;

  // All ranks together. Where they cannot reach rank 0 there is a warning, and nothing is watched.
  Lifeline(Communicator& ranks, Lost lost);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  // All ranks together, when all is done: from here on a rank may end.
  void leave();

  // This rank ends with an error. Rank 0 tells the user of another's (and has told him of its own); all others end. An
  // empty message: rank 0 knows.
  void fail(const std::string& message);

 private:
  struct Peer {
    int rank = 0;
    int socket = -1;
    std::string heard{};
    bool has_left = false;
  };

  bool listen_and_connect();
  bool accept_ranks(int listener, const std::string& cookie);
  bool connect_to_root(const std::string& host, int port, const std::string& cookie);
  void watch();
  bool hear(Peer& peer);
  void say(std::string_view text);
  void stop_watching();
  void close_all();

  Communicator& ranks_;
  Lost lost_;
  std::vector<Peer> peers_;  // of rank 0, all others; of another, rank 0
  int wake_[2] = {-1, -1};
  std::atomic<bool> told_{false};
  std::atomic<bool> over_{false};  // the watching thread has ended
  std::thread thread_;
};

}  // namespace bam::dist
