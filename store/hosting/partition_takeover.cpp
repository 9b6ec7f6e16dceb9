// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/partition_takeover.h"

#include <chrono>
#include <utility>

#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kRenew = std::chrono::milliseconds(500);
constexpr Duration kPoll = std::chrono::milliseconds(2);

/// The answer to what was asked: there always is one.
std::vector<EpochEvent> next_events(EpochAuthority& authority, const TakeoverTools& tools) {
  for (;;) {
    if (auto events = authority.poll(); !events.empty()) return events;
    tools.pause(kPoll);
  }
}

}  // namespace

Status use_journal(TakenPartition& taken, Result<std::unique_ptr<Journal>> journal) {
  if (!journal) return journal.error();
  auto recovered = journal.value()->recover();
  if (!recovered) return recovered.error();
  taken.journal = std::move(journal).value();
  taken.recovered = std::move(recovered).value();
  taken.found = taken.journal->position();
  return done();
}

Result<TakenPartition> take_partition(EpochAuthority& authority, const Ownership& seen,
                                      AgentId host, const TakeoverTools& tools) {
  authority.acquire(seen.partition, seen.epoch, host);
  const std::vector<EpochEvent> answer = next_events(authority, tools);
  if (const auto* refused = std::get_if<EpochRefused>(&answer.front())) return refused->why;
  const auto* granted = std::get_if<EpochGranted>(&answer.front());
  if (granted == nullptr) return {Errc::expired, "the lease was over before it began"};
  TakenPartition taken;
  taken.mine = granted->mine;
  const auto renew = [&authority, mine = taken.mine, &clock = tools.clock,
                      last = tools.clock.now()]() mutable {
    if (clock.now() - last < kRenew || planted(Bug::read_without_renewing)) return;
    last = clock.now();
    authority.renew(mine);
  };
  const Status read = use_journal(taken, tools.open(taken.mine, renew));
  if (!read.ok()) {
    authority.release(taken.mine);
    return read.error();
  }
  authority.renew(taken.mine);
  return taken;
}

Status keep_epoch(EpochAuthority& authority, const Ownership& mine,
                  const std::function<void(const std::string&)>& say) {
  authority.renew(mine);
  for (const EpochEvent& event : authority.poll()) {
    const auto* lost = std::get_if<EpochLost>(&event);
    if (lost != nullptr && lost->current.epoch == mine.epoch) {
      say("the lease has lapsed: etcd has not confirmed it, another may take over, and nothing is "
          "said until it has");
    } else if (lost != nullptr) {
      return {Errc::fenced, "partition " + std::to_string(mine.partition.value) + " is at epoch " +
                                std::to_string(lost->current.epoch.value) +
                                " with another process, epoch " + std::to_string(mine.epoch.value) +
                                " is over"};
    } else if (std::holds_alternative<EpochGranted>(event)) {
      say("the lease runs again");
    }
  }
  return done();
}

}  // namespace starling
