// SPDX-License-Identifier: Apache-2.0
// What a journal means, by the checker's own reading, once servers and GPUs have other numbers.
#include <doctest/doctest.h>

#include <vector>

#include "sim/check/durable.h"

namespace starling {
namespace {

constexpr std::uint32_t kGone = Renumbering::kGone;
const AttemptId kAttempt{{0, 7}, Epoch{1}, 1};

/// Of three servers with two GPUs each the first has gone.
Renumbering without_first() {
  return {{kGone, 0, 1},
          {kGone, kGone, 0, 1, 2, 3},
          {true, true, false, false, false, false},
          {true, false, false}};
}
Renumbering nothing_moved() {
  return {{0, 1, 2}, {0, 1, 2, 3, 4, 5}, std::vector<bool>(6), std::vector<bool>(3)};
}

struct Journaled {
  explicit Journaled(std::vector<Record> records) {
    for (const Record& record : records) CHECK(journal.apply(record) == "");
  }
  Durable journal{AgentId{0}};
};

std::vector<Record> draining(GpuId at, AfterDrain after, Placement restart_at) {
  JobAccepted accepted;
  accepted.submit.spec.id = kAttempt.job;
  return {accepted, AttemptStarting{kAttempt, {{PartitionId{0}, {at}}}}, AttemptDraining{kAttempt},
          AttemptPlan{kAttempt, after, std::move(restart_at), {}}};
}

TEST_CASE("a restart on a server that has gone is a try anywhere; what ends a job still does") {
  for (const AfterDrain after : {AfterDrain::restart, AfterDrain::cancel, AfterDrain::fail}) {
    CAPTURE(static_cast<int>(after));
    const bool restarts = after == AfterDrain::restart;
    for (const bool gone : {false, true}) {
      CAPTURE(gone);
      Journaled j(draining(GpuId{2}, after, {GpuId{gone ? 1U : 3U}, GpuId{4}}));
      CHECK(j.journal.renumber(without_first()) == "");
      const Durable::Job& job = *j.journal.open(kAttempt.job);
      CHECK(job.after == (restarts && gone ? AfterDrain::retry : after));
      CHECK(job.restart_at == (gone ? Placement{} : Placement{GpuId{1}, GpuId{2}}));
      CHECK(job.gang.front().gpus == Placement{GpuId{0}});
    }
  }
}

TEST_CASE("what is open on a server that goes is said") {
  Journaled j(draining(GpuId{1}, AfterDrain::wait, {}));
  CHECK(j.journal.renumber(without_first()).find("has GPU 1") != std::string::npos);
}

TEST_CASE("drains and operators' words go along with their servers, and go with them") {
  Journaled j({ServerDrained{ServerId{0}, true}, ServerDrained{ServerId{2}, true},
               DrainVersion{ServerId{0}, 3}, DrainVersion{ServerId{1}, 4},
               DrainVersion{ServerId{9}, 5}});
  CHECK(j.journal.renumber(without_first()) == "");
  Durable same = j.journal;
  CHECK(same.compacted(std::vector<Record>{ServerDrained{ServerId{1}, true},
                                           DrainVersion{ServerId{0}, 4}}) == "");
  std::vector<Record> left{ServerDrained{ServerId{1}, true}};
  SUBCASE("a word less") {}
  SUBCASE("a word of a server that has gone") {
    left.emplace_back(DrainVersion{ServerId{0}, 4});
    left.emplace_back(DrainVersion{ServerId{kGone}, 3});
  }
  CHECK(j.journal.compacted(left) != "");
}

struct Archived {
  Archived() {
    std::vector<Record> records;
    for (std::uint64_t n = 1; n <= 3; ++n) records.emplace_back(JobEnded{JobId{0, n}, {}});
    records.emplace_back(chunk(1, {1, 2}));
    records.emplace_back(chunk(2, {3}));
    for (const Record& record : records) CHECK(journal.apply(record) == "");
  }
  static JobsArchived chunk(std::uint64_t number, std::initializer_list<std::uint64_t> jobs) {
    JobsArchived made;
    made.chunk = number;
    for (const std::uint64_t n : jobs) made.jobs.push_back(JobId{0, n});
    return made;
  }
  /// What a snapshot with these chunks is said to have otherwise.
  std::string compacted(std::vector<Record> chunks) { return journal.compacted(chunks); }
  Durable journal{AgentId{0}};
};

TEST_CASE("an archive may have other numbers where servers have, and each job its neighbours") {
  Archived a;
  SUBCASE("as it was") { CHECK(a.compacted({a.chunk(1, {1, 2}), a.chunk(2, {3})}) == ""); }
  SUBCASE("other numbers for nothing") {
    CHECK(a.compacted({a.chunk(3, {1, 2}), a.chunk(4, {3})}) != "");
  }
  SUBCASE("after a change") {
    REQUIRE(a.journal.renumber(nothing_moved()) == "");
    SUBCASE("other numbers") { CHECK(a.compacted({a.chunk(3, {1, 2}), a.chunk(4, {3})}) == ""); }
    SUBCASE("once") {
      REQUIRE(a.compacted({a.chunk(3, {1, 2}), a.chunk(4, {3})}) == "");
      CHECK(a.compacted({a.chunk(5, {1, 2}), a.chunk(6, {3})}) != "");
    }
    SUBCASE("other neighbours") { CHECK(a.compacted({a.chunk(3, {1}), a.chunk(4, {2, 3})}) != ""); }
    SUBCASE("a job less") { CHECK(a.compacted({a.chunk(3, {1, 2})}) != ""); }
    SUBCASE("another job in its place") {
      const JobEnded other{JobId{0, 99}, {}};
      REQUIRE(a.journal.apply(other) == "");
      CHECK(a.compacted({other, a.chunk(3, {1, 2}), a.chunk(4, {99})}) != "");
    }
    SUBCASE("the last job less") { CHECK(a.compacted({a.chunk(3, {1}), a.chunk(4, {3})}) != ""); }
  }
}

}  // namespace
}  // namespace starling
