#include "cuda_on_host/emulation.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bam::cuda::on_host {
namespace {

namespace context = boost::context;

constexpr std::size_t kStackBytes = 128 << 10;
constexpr std::size_t kGuard = 256;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoison = 0xFF;  // NaN as float and as bf16

std::mt19937_64 random_order{1};

struct Copy {
  unsigned char* to;
  const unsigned char* from;
  std::size_t bytes;
};

enum class State { ready, at_block, at_warp, done };

struct Thread {
  Place place;
  State state = State::ready;
  context::fiber fiber;      // suspended here
  context::fiber scheduler;  // while it runs: where it came from
  std::exception_ptr error;
  int instruction = 0;
  unsigned meetings = 0;  // of its warp, so far
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;

  void wait(State why) {
    state = why;
    scheduler = std::move(scheduler).resume();
  }
};

struct Block {
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<Warp> warps[2];  // of even and odd meetings: nobody writes the next while another still reads
  std::vector<unsigned char> memory;
  unsigned char* shared = nullptr;
  std::size_t shared_bytes = 0;
  bool flag = false, flag_before = false;
};

Block* block = nullptr;
Thread* current = nullptr;

void prepare_memory(Block& b, std::size_t bytes) {
  constexpr std::size_t kAlignment = 128;
  b.memory.assign(bytes + 2 * kGuard + kAlignment, kGuardByte);
  const auto begin = reinterpret_cast<std::uintptr_t>(b.memory.data()) + kGuard;
  b.shared = b.memory.data() + ((begin + kAlignment - 1) / kAlignment * kAlignment - begin + kGuard);
  b.shared_bytes = bytes;
  std::memset(b.shared, kPoison, bytes);
}

void check_guards(const Block& b) {
  const unsigned char* const end = b.memory.data() + b.memory.size();
  for (const unsigned char* p = b.memory.data(); p < end; ++p) {
    if (p == b.shared) p += b.shared_bytes;
    if (p < end && *p != kGuardByte) throw std::runtime_error("a write outside shared memory");
  }
}

// Stacks are used again: a new one for each of many thousand threads would be most of the work.
class PooledStacks {
 public:
  context::stack_context allocate() {
    if (kept().empty()) return context::fixedsize_stack(kStackBytes).allocate();
    const context::stack_context stack = kept().back();
    kept().pop_back();
    return stack;
  }
  void deallocate(context::stack_context& stack) noexcept { kept().push_back(stack); }

 private:
  struct Kept {
    std::vector<context::stack_context> stacks;
    ~Kept() {
      for (context::stack_context& stack : stacks) context::fixedsize_stack(kStackBytes).deallocate(stack);
    }
  };
  static std::vector<context::stack_context>& kept() {
    static Kept all;
    return all.stacks;
  }
};

std::unique_ptr<Thread> make_thread(const Place& place, const std::function<void()>& body) {
  auto thread = std::make_unique<Thread>();
  Thread* const self = thread.get();
  self->place = place;
  self->fiber = context::fiber(std::allocator_arg, PooledStacks(), [self, &body](context::fiber&& from) {
    self->scheduler = std::move(from);
    try {
      body();
    } catch (const context::detail::forced_unwind&) {
      throw;
    } catch (...) {
      self->error = std::current_exception();
    }
    self->state = State::done;
    return std::move(self->scheduler);
  });
  return thread;
}

bool all_in(const Block& b, std::size_t first, std::size_t count, State state) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (b.threads[i]->state != state) return false;
  }
  return true;
}

void let_go(Block& b, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) b.threads[i]->state = State::ready;
}

bool can_go_on(const Block& b, std::size_t first) {
  for (std::size_t i = first; i < first + 32; ++i) {
    if (b.threads[i]->state == State::ready) return true;
  }
  return all_in(b, first, 32, State::at_warp);
}

// Runs the threads of a warp, in random order, up to the next thing that each of them waits for.
void advance_warp(Block& b, std::size_t first) {
  if (all_in(b, first, 32, State::at_warp)) {
    for (std::size_t i = first; i < first + 32; ++i) {
      if (b.threads[i]->instruction != b.threads[first]->instruction) {
        throw std::runtime_error("lanes of a warp are at different instructions");
      }
    }
    let_go(b, first, 32);
  }
  std::vector<Thread*> ready;
  for (std::size_t i = first; i < first + 32; ++i) {
    if (b.threads[i]->state == State::ready) ready.push_back(b.threads[i].get());
  }
  std::shuffle(ready.begin(), ready.end(), random_order);
  for (Thread* thread : ready) {
    current = thread;
    thread->fiber = std::move(thread->fiber).resume();
    if (thread->error) std::rethrow_exception(thread->error);
  }
}

// Warps run ahead of each other as far as barriers let them: mostly one goes on until it cannot.
void run_block(Block& b) {
  std::vector<std::size_t> warps;
  while (true) {
    warps.clear();
    for (std::size_t first = 0; first < b.threads.size(); first += 32) {
      if (can_go_on(b, first)) warps.push_back(first);
    }
    if (!warps.empty()) {
      const std::size_t first = warps[random_order() % warps.size()];
      const bool to_the_end = random_order() % 4 != 0;
      do advance_warp(b, first);
      while (to_the_end && can_go_on(b, first));
    } else if (all_in(b, 0, b.threads.size(), State::at_block)) {
      let_go(b, 0, b.threads.size());
      b.flag_before = b.flag;
      b.flag = false;
    } else if (all_in(b, 0, b.threads.size(), State::done)) {
      return;
    } else {
      throw std::runtime_error("a barrier that not all threads reach");
    }
  }
}

void finish(std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    if (copy.from == nullptr) {
      std::memset(copy.to, 0, copy.bytes);
    } else {
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
  }
  copies.clear();
}

}  // namespace

const Place& place() {
  return current->place;
}

int lane() {
  return static_cast<int>(current->place.thread.x % 32);
}

void set_seed(std::uint64_t seed) {
  random_order.seed(seed);
}

unsigned char* shared_memory() {
  return block->shared;
}

void check_launch(Index3 blocks, unsigned threads, std::size_t shared_bytes, std::size_t argument_bytes) {
  constexpr unsigned kMostX = 0x7fffffff, kMostYz = 65535;
  constexpr std::size_t kMostShared = 163U << 10;  // of sm_80, the least of those that are built for
  constexpr std::size_t kMostArguments = 4096;
  if (threads == 0 || threads % 32 != 0 || threads > 1024) throw std::runtime_error("a block of no whole warps");
  if (shared_bytes > kMostShared) throw std::runtime_error("more shared memory than a block can have");
  if (argument_bytes > kMostArguments) throw std::runtime_error("more arguments than a kernel can have");
  if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0) throw std::runtime_error("a grid without blocks");
  if (blocks.x > kMostX || blocks.y > kMostYz || blocks.z > kMostYz)
    throw std::runtime_error("a grid of too many blocks");
}

void run(Index3 blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body) {
  for (unsigned z = 0; z < blocks.z; ++z) {
    for (unsigned y = 0; y < blocks.y; ++y) {
      for (unsigned x = 0; x < blocks.x; ++x) {
        Block b;
        prepare_memory(b, shared_bytes);
        for (auto& warps : b.warps) warps.resize(threads / 32);
        for (unsigned t = 0; t < threads; ++t) b.threads.push_back(make_thread({{t, 0, 0}, {x, y, z}, blocks}, body));
        block = &b;
        run_block(b);
        check_guards(b);
        block = nullptr;
      }
    }
  }
}

bool wait_for_block(bool flag) {
  block->flag = block->flag || flag;
  current->wait(State::at_block);
  return block->flag_before;
}

const Warp& meet_warp(int instruction, const void* payload, std::size_t bytes) {
  if (bytes > kPayload) throw std::runtime_error("too much for a lane");
  Warp& warp = block->warps[current->meetings++ % 2][current->place.thread.x / 32];
  if (bytes > 0) std::memcpy(warp.payload[lane()], payload, bytes);
  current->instruction = instruction;
  current->wait(State::at_warp);
  return warp;
}

void copy_async(void* to, const void* from, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0) {
    throw std::runtime_error("a copy between addresses that are not aligned");
  }
  std::memset(to, kPoison, bytes);
  current->open.push_back({static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), bytes});
}

void commit_copies() {
  current->groups.push_back(std::move(current->open));
  current->open.clear();
}

void wait_copies(std::size_t groups) {
  while (current->groups.size() > groups) {
    finish(current->groups.front());
    current->groups.pop_front();
  }
}

}  // namespace bam::cuda::on_host
