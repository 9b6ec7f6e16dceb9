// SPDX-License-Identifier: Apache-2.0
// The same journal with other numbers: what runs is where it was, whatever its GPUs are called.
#include "agents/renumber.h"

#include <doctest/doctest.h>

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "agents/config.h"
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
  CHECK(take(DrainVersion{ServerId{0}, 4}).empty());
  CHECK(only<DrainVersion>(take(DrainVersion{ServerId{2}, 4})).server == ServerId{1});
}

TEST_CASE("a journal in new numbers says whose they are, what is open, and the last of each peer") {
  const NodeId one = agent_node(AgentId{1}), two = agent_node(AgentId{2});
  const std::vector<Record> recovered{
      LifeBegan{Incarnation{3}, Epoch{2}}, PeerKnown{two, Incarnation{1}, 5, 10},
      PeerKnown{one, Incarnation{4}, 6, 11}, PeerKnown{two, Incarnation{2}, 7, 12}};
  const auto all = renumbered_journal({LifeBegan{Incarnation{3}, Epoch{2}},
                                       AttemptStarting{kAttempt, {share(0, {2})}},
                                       ServerDrained{ServerId{0}, true}},
                                      recovered, numbers(), four(), 77)
                       .value();
  REQUIRE(all.size() == 5);
  CHECK(topology_read(all) == 77);
  CHECK(last_life(all).incarnation == Incarnation{3});
  CHECK(std::get<AttemptStarting>(all[2]).gang == std::vector<Share>{share(0, {0})});
  CHECK(std::get<PeerKnown>(all[3]).node == one);
  CHECK(std::get<PeerKnown>(all[4]).node == two);
  CHECK(std::get<PeerKnown>(all[4]).written == 12);
}

/// Two chunks of a job each, and what is done to them; the write of chunk `refuses` fails.
struct ArchivedJournal : Journal {
  ArchivedJournal() {
    for (const std::uint64_t chunk : {3U, 5U}) {
      JobEnded ended{JobId{0, chunk}, {}};
      ended.state.placement = {GpuId{3}};
      chunks[chunk] = {ended};
      JobsArchived record;
      record.chunk = chunk;
      record.jobs = {ended.job};
      records.emplace_back(record);
    }
  }
  Status append(std::span<const Record>) override { return done(); }
  Result<std::vector<Record>> recover() override { return records; }
  Status compact(std::span<const Record> all) override {
    compacted.assign(all.begin(), all.end());
    return done();
  }
  Status archive(std::uint64_t chunk, std::span<const Record> states) override {
    if (chunk == refuses) return {Errc::io, "the disk is full"};
    chunks[chunk].assign(states.begin(), states.end());
    return done();
  }
  Result<std::vector<Record>> archived(std::uint64_t chunk) override {
    if (!chunks.contains(chunk)) return Error{Errc::not_found, "no such chunk"};
    return chunks.at(chunk);
  }
  Status forget(std::uint64_t last) override {
    std::erase_if(chunks, [&](const auto& entry) { return entry.first <= last; });
    return done();
  }
  std::map<std::uint64_t, std::vector<Record>> chunks;
  std::vector<Record> records, compacted;
  std::uint64_t refuses = 0;
};

TEST_CASE("an archive goes over as new chunks, and the old ones with the old journal") {
  ArchivedJournal journal;
  int steps = 0;
  REQUIRE(replace_renumbered(journal, journal.records, numbers(), four(), [&] { ++steps; }).ok());
  CHECK(steps == 2);
  REQUIRE(journal.compacted.size() == 2);
  REQUIRE(journal.chunks.size() == 2);
  std::uint64_t next = 6;
  for (const Record& record : journal.compacted) {
    const auto& chunk = std::get<JobsArchived>(record);
    CHECK(chunk.chunk == next++);
    const auto ended = only<JobEnded>(journal.chunks.at(chunk.chunk));
    CHECK(ended.job == chunk.jobs.front());
    CHECK(ended.state.placement == Placement{GpuId{1}});
  }
}

TEST_CASE("an archive that cannot be read or written leaves the journal in its old numbers") {
  ArchivedJournal journal;
  SUBCASE("the second write fails") { journal.refuses = 7; }
  SUBCASE("a chunk is not there") { journal.chunks.erase(5); }
  CHECK_FALSE(replace_renumbered(journal, journal.records, numbers(), four()).ok());
  CHECK(journal.compacted.empty());
  REQUIRE(journal.chunks.contains(3));
  CHECK(only<JobEnded>(journal.chunks.at(3)).state.placement == Placement{GpuId{3}});
}

}  // namespace
}  // namespace starling
