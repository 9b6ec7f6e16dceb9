// SPDX-License-Identifier: Apache-2.0
// What is made of etcd's answers when they come late: a lease is never longer here than there.
#include "store/etcd/etcd_leases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <variant>

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr PartitionId kPartition{1};
constexpr AgentId kMe{3};

struct HandClock final : Clock {
  [[nodiscard]] Instant now() const noexcept override { return at; }
  Instant at{100s};
};

/// One lease and what is written; every answer takes as long as the test says.
struct LateEtcd final : EtcdCalls {
  explicit LateEtcd(HandClock& c) : clock(c) {}
  Result<EtcdAnswer> txn(const EtcdTxn& txn) override {
    clock.at += takes;
    EtcdAnswer answer;
    answer.held = std::all_of(txn.conditions.begin(), txn.conditions.end(), [&](const auto& c) {
      const auto key = keys.find(c.key);
      return (key == keys.end() ? 0 : key->second.revision) == c.revision;
    });
    const auto& todo = answer.held ? txn.then : txn.otherwise;
    const bool writes = std::any_of(todo.begin(), todo.end(),
                                    [](const EtcdOp& op) { return op.kind == EtcdOp::Kind::put; });
    if (writes) ++revision;
    for (const EtcdOp& op : todo) {
      auto& found = answer.found.emplace_back();
      if (op.kind == EtcdOp::Kind::put) {
        keys[op.key] = {op.key, op.value, revision, op.lease};
      } else if (keys.contains(op.key)) {
        found.push_back(keys.at(op.key));
      }
    }
    answer.revision = revision;
    return answer;
  }
  Result<EtcdPage> range(const std::string&, const std::string&, std::int64_t,
                         std::int64_t) override {
    return EtcdPage{};
  }
  Result<EtcdLease> grant(std::chrono::seconds ttl) override {
    clock.at += grant_takes;
    return EtcdLease{7, ttl};
  }
  Result<std::chrono::seconds> keep_alive(std::int64_t) override {
    clock.at += takes;
    return std::chrono::seconds(5);
  }
  Status revoke(std::int64_t) override { return done(); }

  HandClock& clock;
  Duration takes{500ms}, grant_takes{2s};
  std::map<std::string, EtcdEntry> keys;
  std::int64_t revision = 40;
};

TEST_CASE("a lease counts from when it was asked for, however late the answer comes") {
  HandClock clock;
  LateEtcd etcd(clock);
  EtcdLeases leases(etcd, EtcdAddress::parse("etcd://127.0.0.1:1/flock").value(), 5s, "me", clock);
  leases.acquire(kPartition, Epoch{0}, kMe);
  auto events = leases.poll();
  REQUIRE(events.size() == 1);
  const auto* granted = std::get_if<EpochGranted>(&events.front());
  REQUIRE(granted != nullptr);
  const Ownership mine = granted->mine;
  CHECK(mine == Ownership{kPartition, Epoch{41}, kMe});
  // Nine tenths of 5 s, of which granting took 2 s and writing half a second.
  CHECK(leases.holds_for(mine) == 2s);

  leases.renew(mine);  // an answer, and a look
  CHECK(leases.holds_for(mine) == 3500ms);
  CHECK(leases.poll().empty());

  etcd.takes = 3s;
  leases.renew(mine);
  CHECK(leases.holds_for(mine) == -1500ms);  // it was over when the answer was there
  events = leases.poll();
  REQUIRE_FALSE(events.empty());
  CHECK(std::get<EpochLost>(events.back()).current == mine);

  etcd.takes = 100ms;
  leases.renew(mine);
  CHECK(leases.holds_for(mine) == 4300ms);
  events = leases.poll();
  REQUIRE(events.size() == 1);
  CHECK(std::get<EpochGranted>(events.front()).mine == mine);
}

}  // namespace
}  // namespace starling
