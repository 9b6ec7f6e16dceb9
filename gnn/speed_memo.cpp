// SPDX-License-Identifier: Apache-2.0
#include "gnn/speed_memo.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/hash.h"

namespace starling {
namespace {

constexpr std::size_t kFirstSlots = 1U << 12U;
constexpr std::size_t kMostSlots = 1U << 17U;

constexpr std::uint64_t kSeed = 0x243f6a8885a308d3ULL;

constexpr std::uint64_t fold(std::uint64_t hash, std::uint64_t more) noexcept {
  return (std::rotl(hash, 5) ^ more) * 0x9e3779b97f4a7c15ULL;
}

/// What a placement has on a server: its GPUs, and whether it has others.
struct Here {
  std::uint64_t gpus = 0;  // a hash of them; 0: none
  bool leaves = false;
};

Here on_server(const Placement& placement, IndexRange server) {
  Here here;
  for (const GpuId gpu : placement) {
    if (!server.contains(gpu.value)) {
      here.leaves = true;
    } else if (server.size() <= 64) {
      here.gpus |= std::uint64_t{1} << (gpu.value - server.first);
    } else {
      here.gpus = fold(here.gpus + 1, gpu.value - server.first);
    }
  }
  return here;
}

bool alike(const Server& a, const Server& b) {
  Server other = b;
  other.name = a.name;
  other.gpus = a.gpus;
  return a.gpus.size() == b.gpus.size() && a == other;
}

}  // namespace

SpeedMemo::SpeedMemo(const Topology& topology, const SpeedModel& model)
    : topology_(topology), model_(model), slots_(kFirstSlots) {
  std::vector<std::uint32_t> firsts;  // of each class
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    const auto same = std::find_if(firsts.begin(), firsts.end(), [&](std::uint32_t first) {
      return alike(topology.servers()[first], topology.servers()[s]);
    });
    class_of_.push_back(static_cast<std::uint32_t>(same - firsts.begin()));
    if (same == firsts.end()) firsts.push_back(s);
  }
}

std::uint64_t SpeedMemo::hash_of(const JobProfile& job) noexcept {
  std::uint64_t hash = fold(kSeed, (std::uint64_t{job.gpus} << 32U) | job.asked);
  hash = fold(hash, job.model.size());
  hash = fold(hash, std::bit_cast<std::uint64_t>(job.cpus_per_gpu) ^ job.parameter_servers);
  if (job.server_cpus > 0) {
    hash = fold(hash, std::bit_cast<std::uint64_t>(job.server_cpus));
    hash = fold(hash, (std::uint64_t{job.running_servers} << 32U) | job.asked_servers);
  }
  const std::string_view text = job.model;
  for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t some = 0;
    std::memcpy(&some, text.data() + i, std::min(sizeof some, text.size() - i));
    hash = fold(hash, some);
  }
  return hash;
}

std::uint64_t SpeedMemo::key_of(const Who& job, std::span<const Who> beside) const {
  const Placement& own = *job.placement;
  std::uint64_t key = fold(kSeed, job.hash);
  parts_.clear();
  for (std::uint32_t i = 0; i < beside.size(); ++i) parts_.push_back({0, i});
  const bool one = topology_.server_of(own.front()) == topology_.server_of(own.back());
  for (std::size_t i = 0; i < own.size();) {
    const ServerId server = topology_.server_of(own[i]);
    const IndexRange range = topology_.servers()[server.value].gpus;
    key = fold(key, one ? class_of_[server.value] : (std::uint64_t{1} << 32U) + server.value);
    key = fold(key, on_server(own, range).gpus);
    for (Part& part : parts_) {
      const Here here = on_server(*beside[part.index].placement, range);
      if (here.gpus == 0) continue;
      const std::uint64_t token = part.token == 0 ? kSeed : part.token;
      part.token = fold(fold(fold(token, one ? 0 : server.value), here.gpus), here.leaves ? 1 : 0);
    }
    while (i < own.size() && range.contains(own[i].value)) ++i;
  }
  std::erase_if(parts_, [](const Part& part) { return part.token == 0; });
  std::uint64_t sum = 0;
  for (Part& part : parts_) {
    part.token = mix64(fold(part.token, beside[part.index].hash));
    sum += part.token;
  }
  key = mix64(key ^ mix64(sum + parts_.size()));
  return key == 0 ? 1 : key;
}

SpeedMemo::Slot& SpeedMemo::slot_of(std::uint64_t key) const {
  std::size_t at = key & (slots_.size() - 1);
  while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

Speed SpeedMemo::ask(const Who& job, std::span<const Who> beside) const {
  if (job.placement->empty()) return model_.speed(*job.job, *job.placement, {});
  const std::uint64_t key = key_of(job, beside);
  Slot& known = slot_of(key);
  if (known.key != 0) return known.speed;
  const Speed speed = ask_model(job, beside);
  known = {key, speed};
  if (++used_ * 2 > slots_.size()) grow();
  return speed;
}

Speed SpeedMemo::ask_model(const Who& job, std::span<const Who> beside) const {
  ++misses_;
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return a.token < b.token; });
  while (neighbours_.size() <= parts_.size()) neighbours_.emplace_back(neighbours_.size());
  Neighbours& neighbours = neighbours_[parts_.size()];
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    neighbours[i].job = *beside[parts_[i].index].job;
    neighbours[i].placement = *beside[parts_[i].index].placement;
  }
  return model_.speed(*job.job, *job.placement, neighbours);
}

Speed SpeedMemo::speed(const JobProfile& job, const Placement& placement,
                       const Neighbours& beside) const {
  whos_.clear();
  for (const Neighbour& other : beside) {
    whos_.push_back({&other.job, hash_of(other.job), &other.placement});
  }
  return ask({&job, hash_of(job), &placement}, whos_);
}

void SpeedMemo::grow() const {
  if (slots_.size() >= kMostSlots) {
    forget();
    return;
  }
  std::vector<Slot> old(slots_.size() * 4);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key != 0) slot_of(slot.key) = slot;
  }
}

void SpeedMemo::forget() const {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  used_ = 0;
}

}  // namespace starling
