// SPDX-License-Identifier: Apache-2.0
// Every kind of message in every stage of a gang: from the right sender, repeated and late; from a
// stranger; at an old epoch. Nothing asserts, nothing changes that should not, and the job ends.
#include <doctest/doctest.h>

#include "agents/explain/describe.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr PartitionId kHere{0}, kThere{1};
const NodeId kHome = agent_node(AgentId{0}), kOwner = agent_node(AgentId{1});
const NodeId kStranger = agent_node(AgentId{2});

/// How to keep job 1 in a stage: what gets lost.
struct Scene {
  const char* name;
  std::vector<std::string> lost;
  bool cancelled = false;
};
const std::vector<Scene> kScenes = {{"bidding", {"Offer", "NoOffer"}},
                                    {"reserving", {"Reserved", "ReserveRefused"}},
                                    {"committing", {"Committed"}},
                                    {"starting", {"Started"}},
                                    {"running", {}},
                                    {"draining", {"Killed"}, true},
                                    {"ended", {}, true}};

/// A gang over partitions 0 and 1, homed at agent 0; agent 2 has no part in it.
struct Set {
  explicit Set(const Scene& scene, std::uint64_t seed = 1)
      : flock({.agents = 3, .servers = 3, .seed = seed, .delay = 1ms, .lossy = true}) {
    flock.run_for(2s);
    flock.submit(9, 4, 0s, 2);  // the third partition is busy
    flock.run_for(2s);
    flock.submit(1, 8, 20s, 0);
    const bool early = !scene.cancelled;
    for (const std::string& kind : scene.lost) flock.lose_next(kind, early ? 1000 : 0);
    flock.run_for(early ? 700ms : 4s);
    if (scene.cancelled) {
      for (const std::string& kind : scene.lost) flock.lose_next(kind, 1000);
      flock.cancel(1);
      flock.run_for(300ms);
    }
    const auto job = flock.agent(0).home.jobs.find(JobId{0, 1});
    const Attempt* open = job != flock.agent(0).home.jobs.end() ? job->second.attempt() : nullptr;
    if (open != nullptr) attempt = open->id;
    if (attempt == AttemptId{}) attempt = {JobId{0, 1}, Epoch{1}, (1ULL << 32U) | 1};
  }
  TestFlock flock;
  AttemptId attempt;
};

/// One of each kind about an attempt, as a node of partition `from` would say it.
std::vector<Message> about(AttemptId a, PartitionId from, PartitionId to, Epoch epoch) {
  const Fence fence{to, epoch};
  const Placement gpus{GpuId{from.value * 4}, GpuId{from.value * 4 + 1}};
  const std::vector<Share> gang{{kHere, {GpuId{0}, GpuId{1}}}, {kThere, {GpuId{4}, GpuId{5}}}};
  JobSpec spec;
  spec.id = a.job;
  spec.workers = 4;
  InventoryItem item;
  item.attempt = a;
  item.gpus = gpus;
  JobState state;
  state.job = a.job;
  state.phase = JobPhase::failed;
  const ExitStatus bad{3, false, "x"}, lost{0, true, "y"};
  return {Pong{7, 0},
          Accepted{a.job, AgentId{from.value}},
          Busy{a.job, 10},
          Rejected{a.job, Refusal::invalid, "no"},
          state,
          Explanation{a.job, {"why"}},
          JobList{},
          AgentStatus{},
          Offer{a, {from, gpus}, 100},
          NoOffer{a, from, "none"},
          Reserved{a, from},
          ReserveRefused{a, from, Refusal::conflict},
          Commit{a, fence, spec, gang, 0s},
          Committed{a, from},
          CommitRefused{a, from, Refusal::expired},
          StartAttempt{a, fence},
          Started{a, from},
          Released{a, from, 5s},
          AttemptQuery{a, from, 3},
          AttemptAnswer{a, AttemptLife::live, 3, 0s},
          AttemptAnswer{a, AttemptLife::dead, 4, 0s},
          AttemptAnswer{a, AttemptLife::not_ready, 5, 0s},
          Launch{a, fence, spec, gang, gpus, 0s},
          LaunchResult{a, true, ""},
          LaunchResult{a, false, "no"},
          Kill{a, fence},
          Killed{a, 5s},
          Exited{a, from, {}, 5s},
          Exited{a, from, bad, 5s},
          Exited{a, from, lost, 0s},
          ExitedAck{a, from},
          Progress{a, 3s, 1.0},
          InventoryRequest{fence},
          Inventory{fence, {item}},
          Inventory{fence, {}},
          Fenced{to, Epoch{epoch.value - 1}},
          Release{a, fence},
          Reserve{a, fence, gpus, 1000}};
}

TEST_CASE("what a stranger says of an attempt changes nothing, in any stage") {
  for (const Scene& scene : kScenes) {
    Set set(scene);
    for (std::uint32_t a = 0; a < 2; ++a) {
      const PartitionId to{a};
      const AttemptId other{JobId{0, 1}, Epoch{1}, (9ULL << 32U) | 4};
      for (const AttemptId attempt : {set.attempt, other}) {
        for (const Message& message : about(attempt, PartitionId{2}, to, Epoch{1})) {
          // Any that asks for a hold may have one, and a Release may come before its Reserve.
          if (std::holds_alternative<Reserve>(message)) continue;
          if (std::holds_alternative<Release>(message)) continue;
          const std::uint64_t before = state_hash(set.flock.agent(a));
          set.flock.inject(a, kStranger, message);
          CAPTURE(scene.name);
          CAPTURE(describe(message));
          CHECK(before == state_hash(set.flock.agent(a)));
          set.flock.inject(a, executor_node(2), message);
          CHECK(before == state_hash(set.flock.agent(a)));
          if (std::holds_alternative<InventoryRequest>(message)) continue;
          set.flock.inject(a, client_node(1), message);
          CHECK(before == state_hash(set.flock.agent(a)));
        }
      }
    }
    for (std::uint32_t e = 0; e < 2; ++e) {
      for (const Message& message : about(set.attempt, PartitionId{2}, PartitionId{e}, Epoch{9})) {
        const std::uint64_t before = state_hash(set.flock.executor(e));
        set.flock.inject_executor(e, kStranger, message);
        CHECK(before == state_hash(set.flock.executor(e)));
      }
    }
  }
}

TEST_CASE("a Goodbye counts from agents of the flock alone") {
  for (const Scene& scene : kScenes) {
    Set set(scene);
    const Message goodbye = Goodbye{"agent 9 speaks protocols 7 to 8, and you 1 to 2"};
    const std::uint64_t before = state_hash(set.flock.agent(0));
    for (const NodeId stranger : {NodeId{0}, agent_node(AgentId{3}), agent_node(AgentId{9}),
                                  executor_node(0), executor_node(9), client_node(1)}) {
      set.flock.inject(0, stranger, goodbye);
      CAPTURE(scene.name);
      CAPTURE(stranger.value);
      CHECK(before == state_hash(set.flock.agent(0)));
    }
    set.flock.inject(0, kOwner, goodbye);
    CHECK(before != state_hash(set.flock.agent(0)));
  }
}

TEST_CASE("what is said at an old epoch, or of an attempt that never was, changes nothing") {
  for (const Scene& scene : kScenes) {
    Set set(scene);
    const AttemptId never{JobId{0, 1}, Epoch{1}, (9ULL << 32U) | 4};
    for (const Message& message : about(set.attempt, kThere, kHere, Epoch{0})) {
      const bool fenced = std::visit(
          [](const auto& m) {
            return requires { m.fence; };
          },
          message);
      if (!fenced) continue;
      CAPTURE(scene.name);
      CAPTURE(describe(message));
      const std::uint64_t before = state_hash(set.flock.agent(0));
      set.flock.inject(0, kOwner, message);
      CHECK(before == state_hash(set.flock.agent(0)));
      const std::uint64_t core = state_hash(set.flock.executor(0));
      set.flock.inject_executor(0, kHome, message);
      CHECK(core == state_hash(set.flock.executor(0)));
    }
    for (const Message& message : about(never, kThere, kHere, Epoch{1})) {
      if (std::holds_alternative<Reserve>(message)) continue;
      if (std::holds_alternative<Release>(message)) continue;
      CAPTURE(scene.name);
      CAPTURE(describe(message));
      const std::uint64_t before = state_hash(set.flock.agent(0));
      set.flock.inject(0, kOwner, message);
      const bool about_jobs = std::visit(
          [](const auto& m) {
            return requires { m.job; };
          },
          message);
      if (!about_jobs) CHECK(before == state_hash(set.flock.agent(0)));
    }
  }
}

TEST_CASE("any word of those that take part, in any stage, twice: nothing breaks, and all ends") {
  for (std::size_t i = 0; i < kScenes.size(); ++i) {
    const Scene& scene = kScenes[i];
    const std::size_t kinds = about({}, kHere, kThere, Epoch{1}).size();
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      Set set(scene, 1 + kind % 3);
      CAPTURE(scene.name);
      const Message home = about(set.attempt, kHere, kThere, Epoch{1})[kind];
      const Message owner = about(set.attempt, kThere, kHere, Epoch{1})[kind];
      CAPTURE(describe(home));
      for (int twice = 0; twice < 2; ++twice) {
        set.flock.inject(0, kOwner, owner);
        set.flock.inject(1, kHome, home);
        CHECK(over_limits(set.flock.agent(0)).value_or("") == "");
        CHECK(over_limits(set.flock.agent(1)).value_or("") == "");
      }
      for (const std::string& lost : scene.lost) set.flock.lose_no_more(lost);
      set.flock.run_for(5s);
      set.flock.cancel(9);
      CHECK(set.flock.settle(2h));
    }
  }
}

}  // namespace
}  // namespace starling
