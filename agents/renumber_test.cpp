// SPDX-License-Identifier: Apache-2.0
// The same journal with other numbers: what runs is where it was, whatever its GPUs are called.
#include "agents/renumber.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

const AttemptId kAttempt{JobId{0, 1}, Epoch{1}, 1};

Topology four() { return generate_flat({.servers = 4, .gpus_per_server = 2}).value(); }

/// Server 0 has gone, server 2 came back with one GPU less; a new one stands before the last.
Renumbering numbers() {
  constexpr std::uint32_t gone = Renumbering::kGone;
  return {{gone, 0, 1, 3},
          {gone, gone, 0, 1, 2, gone, 5, 6},
          {true, true, false, false, true, true, false, false},
          {true, false, true, false}};
}

Share share(std::uint32_t partition, std::initializer_list<std::uint32_t> gpus) {
  Share made{PartitionId{partition}, {}};
  for (const std::uint32_t gpu : gpus) made.gpus.push_back(GpuId{gpu});
  return made;
}

template <class R>
R only(const std::vector<Record>& records) {
  REQUIRE(records.size() == 1);
  return std::get<R>(records.front());
}

TEST_CASE("what is open goes over with new numbers, in every place that names GPUs") {
  const std::vector<Share> gang{share(0, {2, 3}), share(1, {7})},
      moved{share(0, {0, 1}), share(1, {6})};
  const auto take = [](Record record) {
    return renumbered({std::move(record)}, numbers(), four()).value();
  };
  CHECK(only<AttemptStarting>(take(AttemptStarting{kAttempt, gang})).gang == moved);
  ShareCommitted committed{kAttempt, AgentId{1}, {}};
  committed.commit.gang = gang;
  CHECK(only<ShareCommitted>(take(committed)).commit.gang == moved);
  ProcessLaunching launching;
  launching.launch.attempt = kAttempt;
  launching.launch.gang = gang;
  launching.launch.here = gang[0].gpus;
  const auto launch = only<ProcessLaunching>(take(launching)).launch;
  CHECK(launch.gang == moved);
  CHECK(launch.here == moved[0].gpus);
}

TEST_CASE("what is open on a server that leaves or changes goes nowhere") {
  for (const std::uint32_t gpu : {0U, 4U, 5U, 99U}) {
    const auto refused =
        renumbered({AttemptStarting{kAttempt, {share(0, {gpu})}}}, numbers(), four());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Errc::busy);
    CHECK(refused.error().message.find(to_string(kAttempt)) != std::string::npos);
  }
}

TEST_CASE("what is over forgets what is not there any more") {
  JobEnded ended{JobId{0, 1}, {}};
  ended.state.placement = {GpuId{1}, GpuId{2}, GpuId{4}, GpuId{7}};
  const auto past = only<JobEnded>(renumbered({ended}, numbers(), four()).value());
  CHECK(past.state.placement == Placement{GpuId{0}, GpuId{2}, GpuId{6}});
  // A restart at GPUs that are not to be had: the job waits as any other.
  AttemptPlan plan{kAttempt, AfterDrain::restart, {GpuId{2}, GpuId{4}}, {}};
  const auto later = only<AttemptPlan>(renumbered({plan}, numbers(), four()).value());
  CHECK(later.after == AfterDrain::retry);
  CHECK(later.restart_at.empty());
}

TEST_CASE("what was cancelled before its restart stays cancelled, wherever that would have been") {
  for (const AfterDrain after : {AfterDrain::cancel, AfterDrain::fail}) {
    AttemptPlan plan{kAttempt, after, {GpuId{2}, GpuId{4}}, {}};
    const auto later = only<AttemptPlan>(renumbered({plan}, numbers(), four()).value());
    CHECK(later.after == after);
    CHECK(later.restart_at.empty());
  }
}

TEST_CASE("a drain ends with the change that it was for; versions of words stay") {
  const auto take = [](Record record) {
    return renumbered({std::move(record)}, numbers(), four()).value();
  };
  CHECK(take(ServerDrained{ServerId{0}, true}).empty());
  CHECK(take(ServerDrained{ServerId{2}, true}).empty());
  CHECK(only<ServerDrained>(take(ServerDrained{ServerId{3}, true})).server == ServerId{3});
  CHECK(take(DrainWord{ServerId{0}, 4}).empty());
  CHECK(only<DrainWord>(take(DrainWord{ServerId{2}, 4})).server == ServerId{1});
}

}  // namespace
}  // namespace starling
