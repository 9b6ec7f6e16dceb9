// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "agents/epoch_authority.h"

namespace starling {

/// The events of one call, waiting for them at most `patience`.
inline std::vector<EpochEvent> events_within(EpochAuthority& authority,
                                             std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto events = authority.poll();
    if (!events.empty() || std::chrono::steady_clock::now() >= until) return events;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

template <class Event>
Event expect_event(EpochAuthority& authority) {
  const auto events = events_within(authority, std::chrono::seconds(10));
  REQUIRE(events.size() == 1);
  REQUIRE(std::holds_alternative<Event>(events.front()));
  return std::get<Event>(events.front());
}

/// What every EpochAuthority must do. `make` gives one over the same storage, each time another
/// holder's.
inline void epoch_battery(const std::function<std::unique_ptr<EpochAuthority>()>& make) {
  const auto authority = make();
  const PartitionId p{2};
  const AgentId me{2}, other{3};
  CHECK(authority->poll().empty());

  INFO("no agent owned it: who expects an epoch is told there is none");
  authority->acquire(p, Epoch{5}, me);
  const auto none = expect_event<EpochRefused>(*authority);
  CHECK(none.why.code == Errc::expired);
  CHECK(none.current.partition == p);
  CHECK(none.current.epoch == Epoch{});

  INFO("the first owner");
  authority->acquire(p, Epoch{}, me);
  const Ownership first = expect_event<EpochGranted>(*authority).mine;
  CHECK(first.partition == p);
  CHECK(first.owner == me);
  CHECK(first.epoch > Epoch{});

  INFO("it holds for a while, for its owner alone");
  CHECK(authority->holds_for(first) > Duration{0});
  CHECK(authority->holds_for({p, Epoch{first.epoch.value + 1}, me}) <= Duration{0});

  INFO("renewing is silent");
  authority->renew(first);
  CHECK(events_within(*authority, std::chrono::milliseconds(100)).empty());

  INFO("the expected epoch counts, also for the owner");
  authority->acquire(p, Epoch{}, me);
  const auto stale = expect_event<EpochRefused>(*authority);
  CHECK(stale.why.code == Errc::expired);
  CHECK(stale.current == first);

  INFO("another agent is refused while the owner lives, and told who that is");
  authority->renew(first);
  const auto rival = make();
  rival->acquire(p, first.epoch, other);
  const auto refused = expect_event<EpochRefused>(*rival);
  CHECK(refused.why.code != Errc::io);
  CHECK_FALSE(refused.why.message.empty());

  INFO("the same holder may take it again; the epoch never falls");
  authority->acquire(p, first.epoch, me);
  const Ownership second = expect_event<EpochGranted>(*authority).mine;
  CHECK(second.owner == me);
  CHECK(second.epoch >= first.epoch);

  INFO("an ownership of another epoch is lost, and the current one named");
  Ownership wrong = second;
  wrong.epoch.value += 7;
  authority->renew(wrong);
  const auto lost = expect_event<EpochLost>(*authority);
  CHECK(lost.mine == wrong);
  CHECK(lost.current == second);

  INFO("partitions are apart");
  authority->acquire(PartitionId{4}, Epoch{}, AgentId{4});
  CHECK(expect_event<EpochGranted>(*authority).mine.partition == PartitionId{4});

  INFO("released, it can be had again");
  authority->acquire(p, second.epoch, me);
  const Ownership third = expect_event<EpochGranted>(*authority).mine;
  authority->release(third);
  authority->acquire(p, third.epoch, me);
  CHECK(expect_event<EpochGranted>(*authority).mine.epoch >= third.epoch);
}

}  // namespace starling
