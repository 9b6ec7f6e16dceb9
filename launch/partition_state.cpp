#include "launch/partition_state.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "launch/etcd_loss.h"
#include "launch/etcd_state.h"
#include "launch/log.h"
#include "launch/old_state.h"
#include "store/await_epoch.h"
#include "store/etcd_authority.h"
#include "store/etcd_journal.h"
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

/// Renews the lease while a journal is read: not more often than a heartbeat, and never by itself,
/// so that whoever is stuck loses it.
std::function<void()> renewer(EpochAuthority& authority, const Ownership& mine) {
  using Clock = std::chrono::steady_clock;
  return [&authority, mine, last = Clock::now()]() mutable {
    if (Clock::now() - last < std::chrono::milliseconds(500)) return;
    last = Clock::now();
    authority.renew(mine);
  };
}

/// The answer to what was asked: there always is one.
std::vector<EpochEvent> next_events(EpochAuthority& authority) {
  for (;;) {
    if (auto events = authority.poll(); !events.empty()) return events;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Status use_journal(PartitionState& state, Result<std::unique_ptr<Journal>> journal) {
  if (!journal) return journal.error();
  auto recovered = journal.value()->recover();
  if (!recovered) return recovered.error();
  state.journal = std::move(journal).value();
  state.recovered = std::move(recovered).value();
  return done();
}

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
  state.authority->acquire(seen.partition, seen.epoch, host);
  const std::vector<EpochEvent> answer = next_events(*state.authority);
  if (const auto* refused = std::get_if<EpochRefused>(&answer.front())) return refused->why;
  const auto* granted = std::get_if<EpochGranted>(&answer.front());
  if (granted == nullptr) return {Errc::expired, "the lease was over before it began"};
  state.mine = granted->mine;
  const Status opened = use_journal(
      state,
      EtcdJournal::open(flock.value(), state.mine, {}, renewer(*state.authority, state.mine)));
  state.authority->renew(state.mine);
  const Status newest =
      opened.ok() ? not_an_old_copy(deployment, state.mine, state.journal->position()) : opened;
  if (!newest.ok()) {
    state.authority->release(state.mine);
    return newest.error();
  }
  return state;
}

Status keep_partition(PartitionState& partition) {
  partition.authority->renew(partition.mine);
  for (const EpochEvent& event : partition.authority->poll()) {
    const auto* lost = std::get_if<EpochLost>(&event);
    if (lost != nullptr && lost->current.epoch == partition.mine.epoch) {
      log_info(
          "the lease has lapsed: etcd has not confirmed it, another may take over, and nothing "
          "is said until it has");
    } else if (lost != nullptr) {
      return {Errc::fenced, "partition " + std::to_string(partition.mine.partition.value) +
                                " is at epoch " + std::to_string(lost->current.epoch.value) +
                                " with another process, epoch " +
                                std::to_string(partition.mine.epoch.value) + " is over"};
    } else if (std::holds_alternative<EpochGranted>(event)) {
      log_info("the lease runs again");
    }
  }
  return done();
}

Instant may_speak_until(const PartitionState& partition, const ScaledClock& clock) {
  const Instant now = clock.now();  // first: what comes in between makes it earlier
  const Duration left = partition.authority->holds_for(partition.mine);
  return left == Duration::max() ? kNever : later(now, clock.stretched(left));
}

}  // namespace starling
