// SPDX-License-Identifier: Apache-2.0
// A job behind a reservation is told for which one it is, when, and of how many GPUs.
#include <doctest/doctest.h>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

constexpr JobId kFirst{1, 1}, kSecond{1, 2}, kRuns{1, 3};

struct Asked {
  std::uint32_t runs_gpus, first_gpus;
  Duration runs_for;
};

/// Four GPUs, of which one job has some; one that does not fit waits, and one of two GPUs for two
/// hours behind it. What is said of `job` a minute after the time line's beginning.
std::vector<std::string> said(const Asked& asked, JobId job) {
  GeneratorOptions generate;
  generate.groups = {{1, "V100"}};
  generate.gpus_per_server = 4;
  const Topology topology = generate_flat(generate).value();
  struct Equal final : SpeedModel {
    [[nodiscard]] Speed speed(const JobProfile&, const Placement&,
                              const Neighbours&) const override {
      return {};
    }
  } speed;
  Occupancy gpus(topology, {0, 1});
  JobSpec first, second, runs;
  first.id = kFirst;
  first.gpus_per_worker = asked.first_gpus;
  first.duration = std::chrono::hours(1);
  second.id = kSecond;
  second.gpus_per_worker = 2;
  second.duration = std::chrono::hours(2);
  runs.id = kRuns;
  runs.duration = asked.runs_for;
  std::vector<JobView> waiting(2), running(1);
  waiting[0].spec = &first;
  waiting[0].order = 2;
  waiting[1].spec = &second;
  waiting[1].order = 3;
  running[0].spec = &runs;
  running[0].order = 1;
  for (std::uint32_t g = 0; g < asked.runs_gpus; ++g) running[0].placement.push_back(GpuId{g});
  gpus.take(running[0].placement);
  const View view{topology,  gpus, waiting, running, {}, speed, Instant{} + std::chrono::minutes(1),
                  AgentId{0}};
  const auto easy = make_policy_registry().make("easy").value();
  Rng rng(1);
  (void)easy->decide(view, {}, rng);
  return easy->explain(job);
}

using Lines = std::vector<std::string>;

TEST_CASE("easy says for which job it reserves, when, and how many GPUs") {
  const Asked tight{2, 4, std::chrono::minutes(10)};
  CHECK(said(tight, kFirst) ==
        Lines{"policy: at 60 s 4 GPUs were reserved for it, the first that waits, 600 s later: by "
              "their estimates enough jobs will have ended then"});
  CHECK(said(tight, kSecond) ==
        Lines{"policy: at 60 s 4 GPUs were reserved for job " + to_string(kFirst) +
                  ", the first that waits, 600 s later: by their estimates enough jobs will have "
                  "ended then",
              "  before that starts what ends by then"});
  CHECK(said(tight, kRuns).empty());
  CHECK(said({2, 3, std::chrono::minutes(10)}, kSecond).back() ==
        "  before that starts what ends by then, or takes no more than the 1 GPU left over");
}

TEST_CASE("easy says so where it is not known when") {
  const Lines lines = said({3, 4, Duration{0}}, kSecond);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "policy: at 60 s 4 GPUs were reserved for job " + to_string(kFirst) +
                        ", the first that waits, for when enough jobs have ended; not all say how "
                        "long they take");
  CHECK(lines[1] == "  before that starts what fits");
}

}  // namespace
}  // namespace starling
