// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/hosting_plan.h"

#include <doctest/doctest.h>

#include <chrono>

namespace starling {
namespace {

using namespace std::chrono_literals;
using Act = HostingPlan::Act;
using End = HostingPlan::End;

Instant at(Duration d) { return Instant(d); }

PartitionStanding served_by(AgentId owner, const std::string& holder) {
  return {{PartitionId{0}, Epoch{7}, owner}, holder, std::nullopt};
}
const PartitionStanding kFree = served_by(AgentId{0}, "");
const PartitionStanding kNew{{PartitionId{0}, Epoch{}, AgentId{}}, "", std::nullopt};
const FlockMembers kAll;

TEST_CASE("its preferred host takes a partition at once, and asks for it where another has it") {
  HostingPlan plan(AgentId{0}, "me", PartitionId{0}, 0, at(0s));
  CHECK(plan.look(at(0s), kNew, kAll).act == Act::begin);
  CHECK(plan.look(at(0s), kFree, kAll).act == Act::begin);
  CHECK(plan.look(at(0s), served_by(AgentId{0}, "me"), kAll).act == Act::begin);
  const auto step = plan.look(at(0s), served_by(AgentId{1}, "other"), kAll);
  CHECK(step.act == Act::ask);
  CHECK(step.asks_for_it);
}

TEST_CASE(
    "others wait for the lease, for those that just start, and for their place in the circle") {
  HostingPlan next(AgentId{1}, "next", PartitionId{0}, 1, at(0s));
  HostingPlan third(AgentId{2}, "third", PartitionId{0}, 2, at(0s));
  for (HostingPlan* plan : {&next, &third}) {
    CHECK(plan->look(at(5900ms), kFree, kAll).act == Act::nothing);
    CHECK(plan->look(at(10s), kNew, kAll).act == Act::nothing);
    CHECK(plan->look(at(10s), served_by(AgentId{0}, "owner"), kAll).act == Act::nothing);
  }
  CHECK(next.look(at(20s), kFree, kAll).act == Act::begin);
  CHECK(third.look(at(20s), kFree, kAll).act == Act::nothing);
  CHECK(third.look(at(20399ms), kFree, kAll).act == Act::nothing);
  CHECK(third.look(at(20400ms), kFree, kAll).act == Act::begin);

  INFO("a lease that runs again, or a request, begins the wait anew");
  PartitionStanding wanted = kFree;
  wanted.wanted = AgentId{0};
  CHECK(third.look(at(21s), wanted, kAll).act == Act::nothing);
  CHECK(third.look(at(22s), kFree, kAll).act == Act::nothing);
  CHECK(third.look(at(22400ms), kFree, kAll).act == Act::begin);
}

TEST_CASE("a standby gives it back when it is asked for, the preferred host does not") {
  HostingPlan standby(AgentId{1}, "standby", PartitionId{0}, 1, at(0s));
  standby.began();
  standby.took();
  PartitionStanding wanted = served_by(AgentId{1}, "standby");
  CHECK(standby.look(at(10s), wanted, kAll).act == Act::nothing);
  wanted.wanted = AgentId{0};
  const auto step = standby.look(at(10s), wanted, kAll);
  CHECK(step.act == Act::give_back);
  CHECK(step.to == AgentId{0});
  CHECK_FALSE(step.asks_for_it);

  FlockMembers moved;
  moved.preferred[PartitionId{0}] = AgentId{1};
  CHECK(standby.look(at(10s), wanted, moved).act == Act::nothing);
  standby.ended(at(10s), End::given_back);
  CHECK(standby.look(at(12s), kFree, kAll).act == Act::nothing);
  CHECK(standby.look(at(13s), kFree, kAll).act == Act::begin);
}

TEST_CASE("an agent that is no member serves nothing new") {
  HostingPlan plan(AgentId{0}, "me", PartitionId{0}, 0, at(0s));
  FlockMembers others;
  others.hosts = {AgentId{1}};
  const auto step = plan.look(at(10s), kFree, others);
  CHECK(step.act == Act::nothing);
  CHECK_FALSE(step.asks_for_it);
}

TEST_CASE("rests: none after a failure of its own, longer and longer where it is of no use") {
  HostingPlan own(AgentId{0}, "me", PartitionId{0}, 0, at(0s));
  const auto rests = [](HostingPlan& plan, Instant from, End how) {
    plan.began();
    plan.ended(from, how);
    Duration rest{0};
    while (plan.look(from + rest, kFree, kAll).act != Act::begin) rest += 100ms;
    return rest;
  };
  CHECK(rests(own, at(0s), End::failed) == 0s);
  CHECK(rests(own, at(0s), End::not_taken) == 0s);
  CHECK(rests(own, at(0s), End::unheard) == 3s);
  CHECK(rests(own, at(10s), End::unheard) == 6s);
  CHECK(rests(own, at(20s), End::failed) == 0s);
  CHECK(rests(own, at(30s), End::unheard) == 3s);
  Duration longest{0};
  for (int i = 0; i < 8; ++i) longest = rests(own, at(40s), End::unheard);
  CHECK(longest == 60s);
  CHECK(rests(own, at(0s), End::out_of_reach) == 60s);
  CHECK(rests(own, at(0s), End::out_of_reach) == 120s);
  for (int i = 0; i < 8; ++i) longest = rests(own, at(0s), End::out_of_reach);
  CHECK(longest == 960s);

  HostingPlan standby(AgentId{1}, "standby", PartitionId{0}, 1, at(0s));
  for (const End how : {End::failed, End::not_taken, End::unheard, End::stopped})
    CHECK(rests(standby, at(100s), how) == 3s);
}

}  // namespace
}  // namespace starling
