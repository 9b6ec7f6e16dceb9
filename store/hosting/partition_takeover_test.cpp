// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/partition_takeover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "store/memory_journal.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr Ownership kSeen{PartitionId{1}, Epoch{4}, AgentId{1}};
constexpr AgentId kHost{2};
const Ownership kMine{PartitionId{1}, Epoch{5}, kHost};

struct HandClock final : Clock {
  [[nodiscard]] Instant now() const noexcept override { return at; }
  Instant at{};
};

/// Grants the next epoch, after two polls, or refuses.
struct OneAuthority final : EpochAuthority {
  explicit OneAuthority(const HandClock& c) : clock(c) {}
  void acquire(PartitionId partition, Epoch expect, AgentId me) override {
    CHECK(Ownership{partition, expect, kSeen.owner} == kSeen);
    CHECK(me == kHost);
  }
  void renew(const Ownership& mine) override {
    CHECK(mine == kMine);
    longest = std::max(longest, clock.now() - last);
    last = clock.now();
    ++renewals;
  }
  void release(const Ownership& mine) override {
    CHECK(mine == kMine);
    ++releases;
  }
  Duration holds_for(const Ownership&) override { return Duration::max(); }
  std::vector<EpochEvent> poll() override {
    if (++polls < 3) return {};
    if (refuses) return {EpochRefused{kSeen, {Errc::conflict, "another agent was faster"}}};
    return {EpochGranted{kMine}};
  }
  const HandClock& clock;
  bool refuses = false;
  int polls = 0, renewals = 0, releases = 0;
  Instant last{};
  Duration longest{0};
};

/// A journal that is read in pages, each of which takes a while.
struct Takeover {
  Result<TakenPartition> take(int pages, Duration page, bool readable = true) {
    const TakeoverTools tools{
        [&](const Ownership& mine,
            const std::function<void()>& progress) -> Result<std::unique_ptr<Journal>> {
          CHECK(mine == kMine);
          for (int i = 0; i < pages; ++i) {
            clock.at += page;
            progress();
          }
          if (!readable) return Error{Errc::invalid, "the journal is damaged"};
          return std::unique_ptr<Journal>(std::make_unique<MemoryJournal>());
        },
        clock, [&](Duration lasts) { clock.at += lasts; }};
    return take_partition(authority, kSeen, kHost, tools);
  }
  HandClock clock;
  OneAuthority authority{clock};
};

TEST_CASE("a lease is renewed while a journal is read, every half second and not more often") {
  Takeover t;
  const auto taken = t.take(100, 100ms);
  REQUIRE(taken.ok());
  CHECK(taken.value().mine == kMine);
  CHECK(t.authority.renewals == 21);  // and when it has been read
  CHECK(t.authority.longest <= 600ms);
  CHECK(t.authority.releases == 0);
}

TEST_CASE("a page that takes longer than that is not made up for") {
  Takeover t;
  REQUIRE(t.take(3, 2s).ok());
  CHECK(t.authority.renewals == 4);
}

TEST_CASE("what cannot be read is let go, and what was not granted is not read") {
  Takeover t;
  CHECK(t.take(1, 1ms, false).error().code == Errc::invalid);
  CHECK(t.authority.releases == 1);
  Takeover late;
  late.authority.refuses = true;
  CHECK(late.take(1, 1ms).error().code == Errc::conflict);
  CHECK(late.authority.renewals + late.authority.releases == 0);
}

}  // namespace
}  // namespace starling
