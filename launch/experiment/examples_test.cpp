// SPDX-License-Identifier: Apache-2.0
// The experiments and suites that a person can run at once: they must load, hold what they promise
// and keep their splits apart.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/test_data.h"
#include "gnn/wiring/registry.h"
#include "launch/experiment/grid.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/prepare.h"

using namespace starling;

namespace {

std::optional<std::filesystem::path> examples() {
  const char* source = std::getenv("STARLING_SOURCE");
  if (source == nullptr) {
    MESSAGE("STARLING_SOURCE is not set: the examples are not tested");
    return std::nullopt;
  }
  return std::filesystem::path(source) / "examples";
}

Result<Experiment> load(const std::filesystem::path& file, const std::string& data = "/data") {
  PolicyRegistry policies = make_policy_registry();
  add_gnn_policies(policies);
  return load_experiment(file, policies, {{"DATA", data}});
}

}  // namespace

TEST_CASE("every example experiment loads") {
  const auto folder = examples();
  if (!folder) return;
  for (const char* name : {"quick", "philly-week", "load-sweep", "learned-elsewhere", "together",
                           "flows", "agents-rounds"}) {
    const auto read = load(*folder / "experiments" / (std::string(name) + ".yaml"));
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(read.value().name == name);
  }
}

TEST_CASE("the suites hold 10 paired runs of 3,000 jobs on four topologies at three loads") {
  const auto folder = examples();
  if (!folder) return;
  for (const std::string name : {"placement", "order", "elastic"}) {
    CAPTURE(name);
    const auto read = load(*folder / "suites" / (name + ".yaml"));
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const Experiment& suite = read.value();
    CHECK(suite.loads == std::vector<double>{0.7, 0.9, 1.1});
    CHECK(suite.split == "evaluation");
    std::size_t topologies = 0, weeks = 0;
    for (const TopologySource& t : suite.topologies) topologies += t.split == "evaluation";
    for (const WorkloadSource& w : suite.workloads) {
      weeks += w.split == "evaluation";
      CHECK(w.jobs >= 3000);
    }
    CHECK(topologies == 4);
    CHECK(weeks * suite.seeds.size() >= 10);
    for (const PolicyChoice& policy : suite.policies)
      CHECK(policy.family == suite.policies.front().family);
  }
}

TEST_CASE("the one table has every policy of the program but the one that foresees, at any sizes") {
  const auto folder = examples();
  if (!folder) return;
  PolicyRegistry policies = make_policy_registry();
  add_gnn_policies(policies);
  for (const char* sizes : {"2", "0"}) {
    for (const char* agents : {"1", "4"}) {
      const auto read = load_experiment(*folder / "suites/everything.yaml", policies,
                                        {{"DATA", "/data"}, {"SIZES", sizes}, {"AGENTS", agents}});
      REQUIRE_MESSAGE(read.ok(), read.error().message);
      const Experiment& table = read.value();
      for (const auto& [name, entry] : policies.entries()) {
        CAPTURE(name);
        CHECK(std::ranges::any_of(table.policies, [&](const PolicyChoice& policy) {
                return policy.text.substr(0, policy.text.find(':')) == name;
              }) == (name != "clairvoyant"));
      }
      CHECK(table.workloads.front().elastic == std::atof(sizes));
    }
  }
}

TEST_CASE("the inputs of a suite are as large as its names say" *
          doctest::test_suite("published data")) {
  const auto folder = examples();
  const auto data = test_data("philly/jobs.csv.gz");
  if (!folder || !data) return;
  const auto suite =
      load(*folder / "suites/order.yaml", data->parent_path().parent_path().string());
  REQUIRE_MESSAGE(suite.ok(), suite.error().message);
  const auto inputs = open_inputs(suite.value());
  REQUIRE_MESSAGE(inputs.ok(), inputs.error().message);
  const std::vector<std::uint32_t> gpus = {128, 108, 512, 668 * 8};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Topology& topology = inputs.value().topologies[i].front();
    CHECK(topology.gpu_count() == gpus[i]);
    for (std::size_t w = 0; w < suite.value().workloads.size(); ++w) {
      const WorkloadSource& week = suite.value().workloads[w];
      if (week.split != "evaluation") continue;
      CHECK(inputs.value().workloads[w].jobs.size() == 3000);
      const auto jobs = prepare_jobs(inputs.value().workloads[w], week, suite.value().topologies[i],
                                     topology, 0.9, 1, suite.value().physics);
      CHECK_MESSAGE(jobs.ok(), jobs.error().message);
    }
  }
}
