// A CUDA block on the host: every thread is a fiber, and runs alone until it waits for others. Which one runs next is
// drawn at random, and a warp runs ahead of the others as far as barriers let it, so that whoever reads what another
// has yet to write, for want of a barrier, reads it too early. Shared memory begins as NaN and lies between guard
// zones; asynchronous copies arrive at the last moment that the kernel allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace bam::cuda::on_host {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// threadIdx, blockIdx, gridDim of the thread that runs.
struct Place {
  Index3 thread, block, blocks;
};
const Place& place();

// What a device refuses: throws std::runtime_error.
void check_launch(Index3 blocks, unsigned threads, std::size_t shared_bytes, std::size_t argument_bytes);

// Runs body() in every thread of every block. Throws std::runtime_error for what would be undefined on a device: a
// barrier that not all threads reach, lanes of a warp at different instructions, a write outside shared memory.
void run(Index3 blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body);

// Of the order in which threads run, from here on.
void set_seed(std::uint64_t seed);

unsigned char* shared_memory();
bool wait_for_block(bool flag);  // whether any thread came with a flag

// What the 32 lanes of a warp brought to one instruction: all of them are there when it returns. `instruction` tells
// which one it is.
constexpr std::size_t kPayload = 64;
struct Warp {
  unsigned char payload[32][kPayload];
};
const Warp& meet_warp(int instruction, const void* payload, std::size_t bytes);
int lane();

void copy_async(void* to, const void* from, std::size_t bytes);  // from null: zeros
void commit_copies();
void wait_copies(std::size_t groups);

}  // namespace bam::cuda::on_host
