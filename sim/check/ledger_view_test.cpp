// SPDX-License-Identifier: Apache-2.0
// What the checker sees of a ledger, and the figures that it makes of it.
#include "sim/check/ledger_view.h"

#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

LedgerView::Figures count(const LedgerView& view) {
  std::string wrong;
  const LedgerView::Figures figures = recount(view, 1, wrong);
  CHECK(wrong == "");
  return figures;
}

TEST_CASE("a ledger is seen as it is: whose, what is held, free, bad and drained") {
  ScriptedOwner other({.executors = 2, .partition = 1});
  CHECK(ledger_view(*other.agent).partition == PartitionId{1});
  CHECK(ledger_view(*other.agent).owner == agent_node(AgentId{1}));
  CHECK(ledger_view(*other.agent).gpus == IndexRange{4, 8});
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}});
  owner.hear(executor_node(1), GpuHealth{1, {GpuId{2}}});
  owner.hear(client_node(0), SetDrain{ServerId{1}, true, false, 0});
  const LedgerView view = ledger_view(*owner.agent);
  REQUIRE(view.holds.size() == 1);
  CHECK(view.holds[0].second == Placement{GpuId{0}});
  CHECK(view.executors.size() == 2);
  CHECK(view.executors[1].gpus == IndexRange{2, 4});
  CHECK(view.bad == Placement{GpuId{2}});
  CHECK(count(view) == view.counted);
  CHECK(count(view) == view.told);
  CHECK(view.free == Placement{GpuId{1}});
}

TEST_CASE("whatever moves in a ledger moves its signature") {
  ScriptedOwner owner({.reconciled = false, .executors = 2});
  std::uint64_t last = ledger_signature(*owner.agent);
  const auto moved = [&] {
    return std::exchange(last, ledger_signature(*owner.agent)) != ledger_signature(*owner.agent);
  };
  CHECK_FALSE(moved());
  owner.hear(executor_node(0), Inventory{owner.kFence, {}});
  CHECK(moved());
  owner.hear(executor_node(1), Inventory{owner.kFence, {}});
  CHECK(moved());
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(moved());
  owner.hear(executor_node(1), GpuHealth{1, {GpuId{2}}});
  CHECK(moved());
  owner.hear(executor_node(1), GpuHealth{2, {GpuId{3}}});
  CHECK(moved());
  owner.pass(1ms);
  CHECK_FALSE(moved());
}

/// One partition of four GPUs at one executor that has answered, all free.
struct Four {
  Four() {
    view.gpus = {0, 4};
    view.executors = {{executor_node(0), view.gpus, true}};
    view.free = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  }
  LedgerView view;
};

TEST_CASE("GPUs of an executor that rests are quarantined, and so are those of a silent one") {
  Four f;
  CHECK(count(f.view) == LedgerView::Figures{4, 0, 0, 0});
  f.view.free.clear();
  SUBCASE("resting") { f.view.executors[0].resting = true; }
  SUBCASE("silent") { f.view.executors[0].answered = false; }
  CHECK(count(f.view) == LedgerView::Figures{0, 4, 0, 0});
}

TEST_CASE("a GPU that is free and should not be is named, and so is one that no partition has") {
  Four f;
  std::string wrong;
  SUBCASE("resting") {
    f.view.executors[0].resting = true;
    (void)recount(f.view, 1, wrong);
    CHECK(wrong == "GPU 0 would be given away and is of an executor that is left to rest");
  }
  SUBCASE("bad") {
    f.view.bad = {GpuId{2}};
    (void)recount(f.view, 1, wrong);
    CHECK(wrong == "GPU 2 would be given away and is bad");
  }
  SUBCASE("drained") {
    f.view.drained = {{1, 2}};
    (void)recount(f.view, 1, wrong);
    CHECK(wrong == "GPU 1 would be given away and is drained");
  }
  SUBCASE("in no partition") {
    f.view.free.pop_back();
    (void)recount(f.view, 1, wrong);
    CHECK(wrong == "GPU 3 is lost: no job has it, and none gets it");
  }
  SUBCASE("another partition's") {
    f.view.holds.emplace_back(AttemptId{{0, 7}, Epoch{1}, 1}, Placement{GpuId{9}});
    (void)recount(f.view, 1, wrong);
    CHECK(wrong.find("is not of this partition") != std::string::npos);
  }
}

}  // namespace
}  // namespace starling
