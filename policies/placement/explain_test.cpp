// SPDX-License-Identifier: Apache-2.0
// Rules say why as nets do: what options a job had, what each scored, which was taken.
#include <doctest/doctest.h>

#include <algorithm>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

/// A tenth of the speed on the K80 of server 0, and a fifth beside another job.
struct SlowType final : SpeedModel {
  explicit SlowType(const Topology& of) : topology(of) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    double relative = topology.server_of(placement.front()) == ServerId{0} ? 0.1 : 1;
    for (const Neighbour& other : beside) {
      if (std::ranges::find(other.placement, placement.front()) != other.placement.end())
        relative /= 5;
    }
    return {relative, 0};
  }
  const Topology& topology;
};

/// Two servers of one GPU. A job waits; where `busy` another one runs on the fast server.
std::vector<std::string> reasons(const std::string& policy, bool busy) {
  GeneratorOptions generate;
  generate.groups = {{1, "K80"}, {1, "V100"}};
  generate.gpus_per_server = 1;
  const Topology topology = generate_flat(generate).value();
  const SlowType speed(topology);
  Occupancy gpus(topology, {0, 2}, 2);
  JobSpec waits, runs;
  waits.id = {1, 1};
  runs.id = {1, 2};
  waits.duration = runs.duration = std::chrono::hours(1);
  std::vector<JobView> waiting(1), running;
  waiting[0].spec = &waits;
  waiting[0].order = 2;
  if (busy) {
    running.emplace_back().spec = &runs;
    running[0].order = 1;
    running[0].placement = {GpuId{1}};
    gpus.take(running[0].placement);
  }
  const View view{topology, gpus, waiting, running, {}, speed, Instant{}, AgentId{0}};
  const auto made = make_policy_registry().make(policy).value();
  Rng rng(1);
  (void)made->decide(view, {}, rng);
  return made->explain(waits.id);
}

bool any_has(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST_CASE("every placement policy says what was taken") {
  for (const char* policy : {"lif", "lif:threshold=0.3", "smart-greedy", "consolidate",
                             "consolidate:variant=share", "load-balance", "tetris"}) {
    CAPTURE(policy);
    const auto lines = reasons(policy, false);
    REQUIRE(lines.size() >= 2);
    CHECK(lines[0].starts_with("policy: "));
    CHECK(lines[1].starts_with("  taken "));
    CHECK(any_has(lines, "1 from GPU"));
  }
}

TEST_CASE("a rule that waits names the places that were not good enough") {
  const auto lif = reasons("lif:threshold=0.3", true);
  REQUIRE(lif.size() == 4);
  CHECK(lif[0] ==
        "policy: 3 options at 0 s, by 1 / (1 + slowdown of all), 1 where no job is slowed (0: "
        "wait; below 0: it would gain less speed than the threshold; 3: go):");
  CHECK(lif[1] == "  taken   +0.000  wait");
  CHECK(any_has(lif, "-0.900  free GPUs, tight, 1 from GPU 0: own speed 0.10"));
  CHECK(any_has(lif, "beside one job, 1 from GPU 1: own speed 0.20 of its best, others lose 0.80"));
  const auto greedy = reasons("smart-greedy", true);
  REQUIRE(greedy.size() == 4);
  CHECK(greedy[0] ==
        "policy: 3 options at 0 s, by minus the seconds until it has ended and that others end "
        "later (+1: go); expected to take 3600 s:");
  // An hour until the fast GPU is free, and one on it.
  CHECK(greedy[1] == "  taken -7200.000  wait");
  CHECK(any_has(greedy, "-36000.000  free GPUs, tight, 1 from GPU 0"));
}

TEST_CASE("under a rule that takes any place waiting scores less") {
  const auto lif = reasons("lif", true);
  REQUIRE(lif.size() >= 3);
  // Eight times slower in all: four the job, four its neighbour; alone on the K80 nine.
  CHECK(lif[1].starts_with("  taken   +0.111  beside one job, 1 from GPU 1"));
  CHECK(any_has(lif, "        +0.100  free GPUs, tight, 1 from GPU 0"));
  CHECK(lif.back() == "          +0.000  wait");
}

TEST_CASE("a policy that shows figures says what they are, others show none") {
  for (const char* policy : {"lif", "smart-greedy", "consolidate:variant=share"}) {
    CAPTURE(policy);
    const auto lines = reasons(policy, false);
    REQUIRE(lines.size() >= 2);
    CHECK((any_has(lines, ", by ") || any_has(lines, ", its figure: ")));
    CHECK(lines[1].find_first_of("+-") < 12);
  }
  for (const char* policy : {"consolidate", "load-balance", "tetris"}) {
    CAPTURE(policy);
    const auto lines = reasons(policy, false);
    REQUIRE(lines.size() >= 2);
    CHECK_FALSE(any_has(lines, "0.000"));
  }
}

}  // namespace
}  // namespace starling
