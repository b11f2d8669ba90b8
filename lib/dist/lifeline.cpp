#include "dist/lifeline.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>

#include "base/log.h"

namespace bam::dist {
namespace {

// What is said over the line. Anything else does not come.
constexpr char kLeaves = 'L';  // all is done, the end of the connection means nothing
constexpr char kFailed = 'F';  // a line about why follows
constexpr char kEndNow = 'E';  // rank 0 has told the user, the others end

// Several ranks often fail of one cause, and rank 0's own words about it are the best.
constexpr auto kOwnWordsFirst = std::chrono::milliseconds(300);
constexpr auto kLongestWait = std::chrono::seconds(5);
constexpr std::size_t kHostBytes = 256;
constexpr std::size_t kCookieBytes = 16;

std::string host_name() {
  std::array<char, kHostBytes> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string random_bytes(std::size_t count) {
  std::random_device device;
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(device());
  return bytes;
}

bool on_all(Communicator& ranks, bool here) {
  const double own = here ? 1 : 0;
  const std::vector<double> all = ranks.gather_all({&own, 1});
  return std::ranges::all_of(all, [](double there) { return there == 1; });
}

// A dead machine says nothing; without this its silence would pass for health.
void notice_dead_machines(int socket) {
  const int yes = 1, idle_s = 10, interval_s = 5, tries = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
}

// On the loopback where all ranks are on one machine. -1 when it cannot be.
int open_listener(bool loopback, int ranks, int& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, ranks) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    close(listener);
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

bool read_exactly(int socket, std::string& bytes) {
  const timeval patience{5, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = recv(socket, bytes.data() + got, bytes.size() - got, 0);
    if (count <= 0) return false;
    got += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

Lifeline::Lifeline(Communicator& ranks, Lost lost) : ranks_(ranks), lost_(std::move(lost)) {
  if (ranks.size() == 1) return;
  const bool connected = listen_and_connect() && pipe2(wake_, O_CLOEXEC) == 0;
  if (!on_all(ranks, connected)) {
    close_all();
    log::warning("the ranks cannot reach rank 0 over the network: if one dies, the others may wait for it");
    return;
  }
  thread_ = std::thread([this] { watch(); });
}

Lifeline::~Lifeline() {
  stop_watching();
  close_all();
}

bool Lifeline::listen_and_connect() {
  const std::string own = host_name();
  std::string host = own;
  ranks_.broadcast(host, 0);
  const bool one_machine = on_all(ranks_, host == own);
  int port = 0;
  const int listener = ranks_.is_root() ? open_listener(one_machine, ranks_.size(), port) : -1;
  std::string invitation = std::to_string(port);
  std::string cookie = ranks_.is_root() ? random_bytes(kCookieBytes) : "";
  ranks_.broadcast(invitation, 0);
  ranks_.broadcast(cookie, 0);
  // They all wait in the queue of the listener before rank 0 takes the first.
  const bool reached = ranks_.is_root()
                           ? listener >= 0
                           : connect_to_root(host == own ? "127.0.0.1" : host.c_str(), std::stoi(invitation), cookie);
  bool connected = on_all(ranks_, reached);
  if (ranks_.is_root() && connected) connected = accept_ranks(listener, cookie);
  if (listener >= 0) close(listener);
  return connected;
}

bool Lifeline::accept_ranks(int listener, const std::string& cookie) {
  std::vector<bool> known(static_cast<std::size_t>(ranks_.size()));
  while (std::ssize(peers_) < ranks_.size() - 1) {
    pollfd waiting{listener, POLLIN, 0};
    if (poll(&waiting, 1, 10000) != 1) return false;
    const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return false;
    std::string greeting(kCookieBytes + sizeof(int), '\0');
    int rank = 0;
    if (read_exactly(socket, greeting)) std::memcpy(&rank, greeting.data() + kCookieBytes, sizeof rank);
    const bool is_ours = greeting.starts_with(cookie) && rank > 0 && rank < ranks_.size();
    if (!is_ours || known[static_cast<std::size_t>(rank)]) {
      close(socket);  // of someone else
      continue;
    }
    known[static_cast<std::size_t>(rank)] = true;
    notice_dead_machines(socket);
    peers_.push_back({.rank = rank, .socket = socket});
  }
  return true;
}

bool Lifeline::connect_to_root(const std::string& host, int port, const std::string& cookie) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  int socket = -1;
  for (const addrinfo* a = found; a != nullptr && socket < 0; a = a->ai_next) {
    socket = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (socket >= 0 && connect(socket, a->ai_addr, a->ai_addrlen) != 0) {
      close(socket);
      socket = -1;
    }
  }
  freeaddrinfo(found);
  if (socket < 0) return false;
  peers_.push_back({.rank = 0, .socket = socket});
  notice_dead_machines(socket);
  std::string greeting = cookie;
  const int rank = ranks_.rank();
  greeting.append(reinterpret_cast<const char*>(&rank), sizeof rank);
  return ::send(socket, greeting.data(), greeting.size(), MSG_NOSIGNAL) == std::ssize(greeting);
}

void Lifeline::watch() {
  std::vector<pollfd> waiting;
  for (const Peer& peer : peers_) waiting.push_back({peer.socket, POLLIN, 0});
  waiting.push_back({wake_[0], POLLIN, 0});
  bool goes_on = true;
  while (goes_on) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting.back().revents != 0) break;
    for (std::size_t i = 0; i < peers_.size() && goes_on; ++i) {
      if (waiting[i].revents == 0) continue;
      goes_on = hear(peers_[i]);
      if (peers_[i].has_left) waiting[i].fd = -1;
    }
  }
  over_ = true;
}

// False when the job is over.
bool Lifeline::hear(Peer& peer) {
  std::array<char, 4096> buffer{};
  const ssize_t count = recv(peer.socket, buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EINTR) return true;
  if (count > 0) peer.heard.append(buffer.data(), static_cast<std::size_t>(count));
  const char word = peer.heard.empty() ? '\0' : peer.heard.front();
  if (word == kLeaves) {
    peer.has_left = true;
    return true;
  }
  if (count > 0 && word == kFailed && peer.heard.back() != '\n') return true;
  const std::string who = "rank " + std::to_string(peer.rank) + " of " + std::to_string(ranks_.size());
  std::string line;
  if (word == kFailed) {
    std::this_thread::sleep_for(kOwnWordsFirst);
    line = who + ": " + peer.heard.substr(1, peer.heard.find('\n') - 1);
  } else if (word != kEndNow) {
    line = who + ": ended without a word (killed, or its machine failed), and so does the job";
  }
  if (ranks_.rank() > 1) line.clear();  // of rank 0's end rank 1 tells
  if (told_.exchange(true)) return false;
  say(std::string(1, kEndNow));
  lost_(line);
  return false;
}

void Lifeline::say(std::string_view text) {
  for (const Peer& peer : peers_) ::send(peer.socket, text.data(), text.size(), MSG_NOSIGNAL);
}

void Lifeline::leave() {
  on_all(ranks_, true);
  say(std::string(1, kLeaves));
  stop_watching();
}

void Lifeline::fail(const std::string& message) {
  const bool first = !told_.exchange(true);
  if (!thread_.joinable() || !first) return;
  if (ranks_.is_root()) {
    say(std::string(1, kEndNow));
  } else {
    told_ = false;  // rank 0 is to answer
    if (!message.empty()) say(kFailed + message + "\n");
    const auto begin = std::chrono::steady_clock::now();
    while (!over_ && std::chrono::steady_clock::now() - begin < kLongestWait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    told_ = true;
  }
}

void Lifeline::stop_watching() {
  if (!thread_.joinable()) return;
  const char byte = 0;
  if (write(wake_[1], &byte, 1) == 1) thread_.join();
}

void Lifeline::close_all() {
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) close(peer.socket);
  }
  peers_.clear();
  for (int& end : wake_) {
    if (end >= 0) close(end);
    end = -1;
  }
}

}  // namespace bam::dist
