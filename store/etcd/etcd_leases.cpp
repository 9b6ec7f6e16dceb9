// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_leases.h"

#include <charconv>
#include <utility>

#include "base/planted.h"

namespace starling {

EtcdLeases::EtcdLeases(EtcdCalls& etcd, EtcdAddress flock, std::chrono::seconds ttl,
                       std::string holder, const Clock& clock)
    : etcd_(etcd), flock_(std::move(flock)), ttl_(ttl), holder_(std::move(holder)), clock_(clock) {}

EtcdLeases::Standing EtcdLeases::standing(PartitionId partition, const EtcdAnswer& answer) {
  Standing s;
  s.current.partition = partition;
  if (answer.found.size() == 2 && !answer.found[0].empty()) {
    const EtcdEntry& owner = answer.found[0].front();
    s.current.epoch = Epoch{static_cast<std::uint64_t>(owner.revision)};
    std::from_chars(owner.value.data(), owner.value.data() + owner.value.size(),
                    s.current.owner.value);
  }
  if (answer.found.size() == 2 && !answer.found[1].empty()) {
    const EtcdEntry& alive = answer.found[1].front();
    s.alive_revision = alive.revision;
    s.alive_lease = alive.lease;
    s.holder = alive.value;
  }
  return s;
}

Instant EtcdLeases::valid_until(const EtcdLease& lease, Instant sent) const {
  const Instant since = planted(Bug::lease_from_answer) ? clock_.now() : sent;
  return since + std::chrono::nanoseconds(lease.ttl) / 10 * 9;
}

void EtcdLeases::tell(EpochEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

void EtcdLeases::granted(const Ownership& mine, const EtcdLease& lease, Instant sent) {
  const std::lock_guard lock(mutex_);
  grips_[mine.partition] = {mine, lease, valid_until(lease, sent), false};
  events_.push_back(EpochGranted{mine});
}

/// With the mutex held.
void EtcdLeases::watch_leases() {
  const Instant now = clock_.now();
  for (auto& [partition, grip] : grips_) {
    if (grip.lapsed || now < grip.valid_until) continue;
    grip.lapsed = true;
    events_.push_back(EpochLost{grip.mine, grip.mine});
  }
}

Result<EtcdLeases::Standing> EtcdLeases::look(PartitionId partition) {
  const EtcdKeys keys(flock_, partition);
  const auto answer = etcd_.txn({{}, {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}, {}});
  if (!answer) return answer.error();
  return standing(partition, answer.value());
}

void EtcdLeases::acquire(PartitionId partition, Epoch expect, AgentId me) {
  const auto refused = [&](const Ownership& current, Error why) {
    tell(EpochRefused{current, std::move(why)});
  };
  const auto unanswered = [&](Error why) {
    refused({partition, Epoch{}, AgentId{}}, {Errc::io, std::move(why.message)});
  };
  const auto seen = look(partition);
  if (!seen) return unanswered(seen.error());
  const Standing& before = seen.value();
  const std::string name = "partition " + std::to_string(partition.value);
  if (before.current.epoch != expect) {
    return refused(before.current, {Errc::expired, name + " is at epoch " +
                                                       std::to_string(before.current.epoch.value)});
  }
  const auto held = [&](const Ownership& by) {
    return Error{Errc::conflict, name + " belongs to agent " + std::to_string(by.owner.value) +
                                     " at epoch " + std::to_string(by.epoch.value) +
                                     ", whose lease runs"};
  };
  if (before.alive_revision != 0 && before.holder != holder_)
    return refused(before.current, held(before.current));

  const auto sent = clock_.now();
  const auto fresh = etcd_.grant(ttl_);
  if (!fresh) return unanswered(fresh.error());
  const EtcdLease& lease = fresh.value();
  const EtcdKeys keys(flock_, partition);
  const auto taken =
      etcd_.txn({{EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(expect.value)),
                  EtcdCompare::revision_is(keys.alive, before.alive_revision)},
                 {EtcdOp::put(keys.epoch, std::to_string(me.value)),
                  EtcdOp::put(keys.alive, holder_, lease.id)},
                 {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}});
  if (!taken) return unanswered(taken.error());
  if (taken.value().held) {
    const Epoch epoch{static_cast<std::uint64_t>(taken.value().revision)};
    return granted({partition, epoch, me}, lease, sent);
  }
  const Standing after = standing(partition, taken.value());
  // A first try of this very call, whose answer was lost, may have done it.
  if (after.alive_lease == lease.id) return granted(after.current, lease, sent);
  refused(after.current, held(after.current));
}

/// A lease that lapsed before another agent took over can be had again at the same epoch.
std::optional<EtcdLease> EtcdLeases::restore_lease(const Ownership& held) {
  const auto fresh = etcd_.grant(ttl_);
  if (!fresh) return std::nullopt;
  const EtcdKeys keys(flock_, held.partition);
  const auto put =
      etcd_.txn({{EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(held.epoch.value)),
                  EtcdCompare::revision_is(keys.alive, 0)},
                 {EtcdOp::put(keys.alive, holder_, fresh.value().id)},
                 {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}});
  if (!put) return std::nullopt;
  const bool done_before = standing(held.partition, put.value()).alive_lease == fresh.value().id;
  return put.value().held || done_before ? std::optional(fresh.value()) : std::nullopt;
}

/// Where etcd does not answer there is nothing to say: the lease lapses, which poll() tells.
void EtcdLeases::renew(const Ownership& held) {
  std::optional<EtcdLease> lease;
  {
    const std::lock_guard lock(mutex_);
    const auto grip = grips_.find(held.partition);
    if (grip != grips_.end() && grip->second.mine == held) lease = grip->second.lease;
  }
  const auto sent = clock_.now();
  std::chrono::seconds lives{0};
  if (lease) {
    const auto kept = etcd_.keep_alive(lease->id);
    if (!kept) return;
    lives = kept.value();
  }
  const auto seen = look(held.partition);
  if (!seen) return;
  if (seen.value().current.epoch != held.epoch) {
    const std::lock_guard lock(mutex_);
    if (lease) grips_.erase(held.partition);
    events_.push_back(EpochLost{held, seen.value().current});
    return;
  }
  if (!lease) return;  // an agent has it, at this epoch, but it was not granted here
  if (lives.count() == 0 || seen.value().alive_lease != lease->id) lease = restore_lease(held);
  if (!lease) return;
  const std::lock_guard lock(mutex_);
  watch_leases();
  Grip& grip = grips_.at(held.partition);
  grip.lease = *lease;
  grip.valid_until = valid_until(*lease, sent);
  if (std::exchange(grip.lapsed, false)) events_.push_back(EpochGranted{held});
}

/// Where etcd does not answer the lease lapses by itself.
void EtcdLeases::release(const Ownership& held) {
  EtcdLease lease;
  {
    const std::lock_guard lock(mutex_);
    const auto grip = grips_.find(held.partition);
    if (grip == grips_.end() || grip->second.mine != held) return;
    lease = grip->second.lease;
    grips_.erase(grip);
  }
  if (const Status revoked = etcd_.revoke(lease.id); !revoked.ok()) return;
}

Duration EtcdLeases::holds_for(const Ownership& mine) {
  const std::lock_guard lock(mutex_);
  const auto grip = grips_.find(mine.partition);
  if (grip == grips_.end() || grip->second.mine != mine) return Duration{0};
  return grip->second.valid_until - clock_.now();
}

std::vector<EpochEvent> EtcdLeases::poll() {
  const std::lock_guard lock(mutex_);
  watch_leases();
  return std::exchange(events_, {});
}

}  // namespace starling
