// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/partition_state.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "launch/deployment/etcd_loss.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/transport.h"
#include "launch/servers/newest_servers.h"
#include "launch/system/log.h"
#include "store/await_epoch.h"
#include "store/etcd/etcd_authority.h"
#include "store/etcd/etcd_journal.h"
#include "store/static_authority.h"

namespace starling {
namespace {

Result<std::unique_ptr<EtcdAuthority>> authority_of(const EtcdAddress& flock, const StateDir& dir) {
  auto holder = dir.name();
  if (!holder) return holder.error();
  EtcdAuthorityOptions options;
  options.holder = std::move(holder).value();
  options.calls = kEpochCalls;
  return std::make_unique<EtcdAuthority>(flock, options);
}

}  // namespace

Result<PartitionState> open_local_partition(const DeployedNode& me,
                                            const std::filesystem::path& flock,
                                            const StateDir& dir) {
  PartitionState state;
  state.authority = std::make_unique<StaticAuthority>();
  const auto mine = await_epoch(*state.authority, me.partition, AgentId{me.partition.value},
                                [](const EpochRefused&) { return false; });
  if (!mine) return mine.error();
  state.mine = mine.value();
  const Status used = use_journal(state, open_own_journal(me, flock, dir));
  if (!used.ok()) return used.error();
  return state;
}

Result<PartitionState> take_over(const Deployment& deployment, const Ownership& seen, AgentId host,
                                 const StateDir& dir) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  auto authority = authority_of(flock.value(), dir);
  if (!authority) return authority.error();
  PartitionState state;
  state.authority = std::move(authority).value();
  const TakeoverTools tools{
      [&](const Ownership& mine, std::function<void()> progress) {
        return EtcdJournal::open(flock.value(), mine, {}, std::move(progress));
      },
      machine_clock(), [](Duration lasts) { std::this_thread::sleep_for(lasts); }};
  auto taken = take_partition(*state.authority, seen, host, tools);
  if (!taken) return taken.error();
  static_cast<TakenPartition&>(state) = std::move(taken).value();
  Status newest = newest_servers(deployment);
  if (newest.ok()) newest = not_an_old_copy(deployment, state.mine, state.journal->position());
  if (!newest.ok()) {
    state.authority->release(state.mine);
    return newest.error();
  }
  return state;
}

Status keep_partition(PartitionState& partition) {
  return keep_epoch(*partition.authority, partition.mine,
                    [](const std::string& what) { log_info(what); });
}

Instant may_speak_until(const PartitionState& partition, const ScaledClock& clock) {
  const Instant now = clock.now();  // first: what comes in between makes it earlier
  const Duration left = partition.authority->holds_for(partition.mine);
  return left == Duration::max() ? kNever : later(now, clock.stretched(left));
}

}  // namespace starling
