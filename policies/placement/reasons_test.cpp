// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/reasons.h"

#include <doctest/doctest.h>

#include "policies/placement/scorer.h"

namespace starling {
namespace {

struct Options {
  Candidate free, shared;
  Destination there;
  Options() {
    free.placement = {GpuId{4}, GpuId{5}};
    free.own = 0.9;
    shared.kind = CandidateKind::beside;
    shared.placement = {GpuId{0}, GpuId{1}};
    shared.own = 0.5;
    shared.losses.push_back({0, 2, 1.0, 0.6, true});
    there.to = AgentId{3};
    there.speed = 0.75;
  }
  [[nodiscard]] std::vector<PlacementOption> all() const {
    return {{OptionKind::start, &shared, nullptr},
            {OptionKind::start, &free, nullptr},
            {OptionKind::forward, nullptr, &there},
            {}};
  }
};

const JobId kJob{1, 7};

std::vector<std::string> lines_of(const Reasons& reasons, std::string_view score_is = "GPUs won") {
  return reasons.explain(kJob, score_is);
}

TEST_CASE("the reasons of a decision name the options, best first, and the one taken") {
  const Options options;
  const double scores[] = {-1, 2, Scorer::kNever, 0.5};
  Reasons reasons;
  CHECK(lines_of(reasons).empty());
  reasons.note(kJob, Instant{} + std::chrono::seconds(30), 120, options.all(), scores, 1);
  const auto lines = lines_of(reasons);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "policy: 4 options at 30 s, by GPUs won; expected to take 120 s:");
  CHECK(
      lines[1].find("taken   +2.000  free GPUs, tight, 2 from GPU 4: own speed 0.90 of its best") !=
      std::string::npos);
  CHECK(lines[2].find("+0.500  wait") != std::string::npos);
  CHECK(lines[3].find("beside one job") != std::string::npos);
  CHECK(lines[3].find("others lose 0.80 GPUs, the slowest runs at 0.60 of its best") !=
        std::string::npos);
  CHECK(lines[4] ==
        "               -  go to agent 3, which has no room: speed alone 0.75 of its best");
}

TEST_CASE("a policy that predicts nothing has places without speeds") {
  Options options;
  options.free.own = 0;
  const PlacementOption only{OptionKind::start, &options.free, nullptr};
  const double scores[] = {0};
  Reasons reasons;
  reasons.note(kJob, Instant{}, 0, {&only, 1}, scores, 0);
  auto lines = lines_of(reasons);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "policy: 1 option at 0 s, its figure: GPUs won:");
  CHECK(lines[1] == "  taken   +0.000  2 from GPU 4");
  // One that goes by no figure shows none.
  lines = lines_of(reasons, "");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "policy: 1 option at 0 s:");
  CHECK(lines[1] == "  taken 2 from GPU 4");
}

TEST_CASE("what the core refused is said until the job is decided about again") {
  const Options options;
  const double scores[] = {-1, 2, 0, 0.5};
  const Decision start = Start{kJob, options.free.placement};
  Reasons reasons;
  reasons.refused({start, DecisionFault::no_room});
  CHECK(lines_of(reasons).empty());
  reasons.note(kJob, Instant{}, 0, options.all(), scores, 1);
  reasons.refused({start, DecisionFault::reserved});
  REQUIRE(lines_of(reasons).size() == 6);
  CHECK(lines_of(reasons)[1] == "  refused: a gang that has waited for long starts first");
  reasons.note(kJob, Instant{}, 0, options.all(), scores, 2);
  CHECK(lines_of(reasons).size() == 5);
}

TEST_CASE("what was refused is not told of another decision about the same job") {
  const Options options;
  const double scores[] = {-1, 2, 0, 0.5};
  const Decision spread = Spread{kJob, {}}, start = Start{kJob, options.free.placement},
                 there = Forward{kJob, AgentId{3}}, elsewhere = Forward{kJob, AgentId{2}};
  Reasons reasons;
  const auto told = [&](std::size_t taken, const Decision& decision) {
    reasons.note(kJob, Instant{}, 0, options.all(), scores, taken);
    reasons.refused({decision, DecisionFault::no_room});
    return lines_of(reasons).size() == 6;
  };
  CHECK_FALSE(told(3, spread));  // it waits by the one, and was to be co-allocated by another
  CHECK_FALSE(told(3, start));
  CHECK_FALSE(told(1, spread));
  CHECK_FALSE(told(1, there));
  CHECK_FALSE(told(2, elsewhere));
  CHECK(told(2, there));
  CHECK(told(1, start));
}

TEST_CASE("of two decisions at one instant the later one is told") {
  const Options options;
  const double scores[] = {-1, 2, 0, 0.5};
  Reasons reasons;
  reasons.note(kJob, Instant{}, 0, options.all(), scores, 1);
  reasons.note(JobId{2, 1}, Instant{}, 0, options.all(), scores, 1);
  reasons.note(kJob, Instant{}, 60, options.all(), scores, 2);
  CHECK(lines_of(reasons)[0].find("expected to take 60 s") != std::string::npos);
}

TEST_CASE("the reasons of the last decisions are kept, and no more") {
  const Options options;
  const double scores[] = {-1, 2, 0, 0.5};
  Reasons reasons;
  reasons.note(kJob, Instant{}, 120, options.all(), scores, 1);
  for (std::uint32_t other = 1; other < Reasons::kKept; ++other)
    reasons.note(JobId{2, other}, Instant{}, 0, options.all(), scores, 0);
  CHECK_FALSE(lines_of(reasons).empty());
  reasons.note(JobId{2, Reasons::kKept}, Instant{}, 0, options.all(), scores, 0);
  CHECK(lines_of(reasons).empty());
}

}  // namespace
}  // namespace starling
