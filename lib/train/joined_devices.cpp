#include "train/joined_devices.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/error.h"
#include "io/sha256.h"
#include "train/ranks.h"

namespace bam::train {
namespace {

// Names of hosts may be the same on several machines; this is not.
std::string this_machine() {
  std::string text;
  if (std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text)) return text;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// A number that stands for a text, exact as a double.
double number_of(const std::string& text) {
  constexpr int kHexDigits = 12;
  return static_cast<double>(std::stoull(io::sha256_hex(text).substr(0, kHexDigits), nullptr, 16));
}

// NCCL refuses two ranks on one GPU with words of its own, which do not say what to do.
void refuse_same_device(dist::Communicator& ranks, const std::string& device) {
  const double own = number_of(this_machine() + " " + device);
  const std::vector<double> all = ranks.gather_all({&own, 1});
  together(ranks, [&] {
    const auto first = static_cast<int>(std::ranges::find(all, own) - all.begin());
    if (first == ranks.rank()) return;
    throw Error("--device: its GPU, " + device + ", is that of rank " + std::to_string(first) +
                " too, expected one for each of the " + std::to_string(ranks.on_this_machine()) +
                " ranks on this machine");
  });
}

}  // namespace

void JoinedDevices::join(Backend& backend) {
  if (ranks_.size() == 1) return;
  require_same(ranks_, std::string(backend.name()), "the devices (" + std::string(backend.name()) + " on rank 0)");
  std::unique_ptr<DeviceGroup> group;
  together(ranks_, [&] { group = backend.make_group(); });
  if (!group) return;
  refuse_same_device(ranks_, group->device());
  std::string id;
  together(ranks_, [&] {
    if (ranks_.is_root()) id = group->make_id();
  });
  ranks_.broadcast(id, 0);
  group->join(id, ranks_.rank(), ranks_.size());  // where one fails here the others wait, until it has ended the job
  ranks_.use(std::move(group));
  joined_ = true;
}

}  // namespace bam::train
