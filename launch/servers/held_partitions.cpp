// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/held_partitions.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "launch/deployment/etcd_state.h"
#include "launch/deployment/transport.h"
#include "store/etcd/etcd_client.h"
#include "store/hosting/partition_standing.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(15);  // three leases
constexpr auto kPollEvery = std::chrono::milliseconds(200);
constexpr std::size_t kAtOnce = 40;  // partitions that etcd is asked about at a time

/// The partition as one that may be taken; nullopt: an agent's lease runs.
Result<std::optional<Ownership>> free_partition(EtcdClient& client, const EtcdAddress& flock,
                                                PartitionId partition, const std::string& holder) {
  const auto all = look_at_partitions(client, flock, std::vector<PartitionId>{partition});
  if (!all) return all.error();
  const PartitionStanding& now = all.value().partitions.front();
  if (!now.holder.empty() && now.holder != holder) return std::optional<Ownership>();
  return std::optional(now.current);
}

}  // namespace

HeldPartitions::~HeldPartitions() {
  for (Held& held : held_) held.partition.authority->release(held.partition.mine);
}

Result<std::vector<Record>> HeldPartitions::take(const DeployedNode& agent) {
  const auto flock = etcd_address(flock_);
  if (!flock) return flock.error();
  auto dir = StateDir::take(flock_.node_dir(agent.name) / "state");
  if (!dir) return dir.error();
  const auto holder = dir.value().name();
  if (!holder) return holder.error();
  renew();
  EtcdClient client(flock.value(), kEpochCalls);
  for (const Instant until = later(machine_clock().now(), kPatience);;) {
    const auto seen = free_partition(client, flock.value(), agent.partition, holder.value());
    if (!seen) return seen.error();
    if (seen.value()) {
      auto taken = take_over(flock_, *seen.value(), AgentId{agent.partition.value}, dir.value());
      if (taken) {
        auto records = std::move(taken.value().recovered);
        held_.push_back({std::move(dir).value(), std::move(taken).value()});
        return records;
      }
      const Errc why = taken.error().code;
      if (why != Errc::conflict && why != Errc::expired && why != Errc::fenced)
        return taken.error();
    }
    if (machine_clock().now() > until) {
      return {Errc::conflict, "an agent that this flock does not keep serves partition " +
                                  std::to_string(agent.partition.value) + " in " + flock_.state +
                                  "; stop it, and run this again"};
    }
    renew();
    std::this_thread::sleep_for(kPollEvery);
  }
}

/// So that no agent takes what has been looked at while the next is.
void HeldPartitions::renew() {
  for (Held& held : held_) held.partition.authority->renew(held.partition.mine);
}

Status HeldPartitions::still_held() {
  if (held_.empty()) return done();
  const auto flock = etcd_address(flock_);
  if (!flock) return flock.error();
  EtcdClient client(flock.value(), kEpochCalls);
  for (std::size_t first = 0; first < held_.size(); first += kAtOnce) {
    std::vector<PartitionId> some;
    for (std::size_t i = first; i < std::min(first + kAtOnce, held_.size()); ++i)
      some.push_back(held_[i].partition.mine.partition);
    const auto now = look_at_partitions(client, flock.value(), some);
    if (!now) return now.error();
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (now.value().partitions[i].current == held_[first + i].partition.mine) continue;
      return {Errc::conflict, "another agent has taken partition " + std::to_string(some[i].value) +
                                  " meanwhile; run this again"};
    }
  }
  return done();
}

}  // namespace starling
