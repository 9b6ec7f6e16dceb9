// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/grid.h"

#include <doctest/doctest.h>

#include <set>

#include "launch/experiment/load_experiment.h"
#include "launch/experiment/prepare.h"

using namespace starling;

namespace {

const char* const kText = R"(topologies:
  - {name: a, generate: flat, servers: 4, gpus_per_server: 4}
  - {name: b, generate: flat, servers: 8, gpus_per_server: 4}
workloads: [{name: w, generate: philly-like, jobs: 50, models: draw}]
loads: [0.7, 0.9]
policies: [fifo, sjf]
agents: [1, 2]
seeds: [5, 6, 7]
)";

Experiment parsed(std::string text, const std::string& from = {}, const std::string& to = {}) {
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  auto read = parse_experiment(text, "x.yaml", make_policy_registry());
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return std::move(read).value();
}

std::vector<RunPoint> grid(const Experiment& experiment) {
  auto points = expand(experiment, open_inputs(experiment).value());
  REQUIRE_MESSAGE(points.ok(), points.error().message);
  return std::move(points).value();
}

std::set<std::string> ids(const std::vector<RunPoint>& points) {
  std::set<std::string> out;
  for (const RunPoint& point : points) out.insert(point.id);
  return out;
}

}  // namespace

TEST_CASE("the grid holds every combination once, pair by pair") {
  const auto points = grid(parsed(kText));
  CHECK(points.size() == 2 * 2 * 2 * 2 * 3);
  CHECK(ids(points).size() == points.size());
  // The runs of one pair stand together: topology, workload, seed and load change last.
  for (std::size_t i = 0; i < points.size(); i += 4) {
    for (std::size_t k = 1; k < 4; ++k) {
      CHECK(points[i + k].seed == points[i].seed);
      CHECK(points[i + k].load == points[i].load);
      CHECK(points[i + k].topology == points[i].topology);
    }
  }
}

TEST_CASE("ids follow what is run, not what it is called") {
  const auto before = ids(grid(parsed(kText)));
  CHECK(ids(grid(parsed(kText))) == before);
  CHECK(ids(grid(parsed(kText, "name: a", "name: other"))) == before);
  CHECK(ids(grid(parsed(kText, "sjf]", "{policy: sjf, label: x}]"))) == before);
  for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
           {"servers: 4", "servers: 5"},
           {"jobs: 50", "jobs: 51"},
           {"models: draw", "gang_max: 2"},
           {"seeds: [5, 6, 7]", "seeds: [8, 9]"},
           {"agents: [1, 2]", "agents: [3, 4]"},
           {"policies: [fifo, sjf]", "physics: full\npolicies: [fifo, sjf]"},
           {"policies: [fifo, sjf]", "network: lan\npolicies: [fifo, sjf]"},
           {"policies: [fifo, sjf]", "faults: {loss: 0.1}\npolicies: [fifo, sjf]"},
           {"policies: [fifo, sjf]", "durations: none\npolicies: [fifo, sjf]"}}) {
    CAPTURE(from);
    CAPTURE(to);
    const auto after = ids(grid(parsed(kText, from, to)));
    std::size_t common = 0;
    for (const std::string& id : after) common += before.count(id);
    // Only the runs on the topology that did not change keep their ids.
    CHECK(common == (std::string(from) == "servers: 4" ? before.size() / 2 : 0));
  }
}

TEST_CASE("faults are a dimension of the grid, each a pair of its own") {
  const auto points =
      grid(parsed(kText, "policies:", "faults: [none, {name: lossy, loss: 0.1}]\npolicies:"));
  CHECK(points.size() == 2 * 2 * 2 * 2 * 3 * 2);
  const auto plain = ids(grid(parsed(kText)));
  std::size_t common = 0;
  for (const RunPoint& point : points) {
    CHECK((point.faults.empty() || point.faults == "lossy"));
    common += plain.count(point.id);
  }
  CHECK(common == plain.size());  // runs without faults are what they were
}

TEST_CASE("grids that make no sense are refused") {
  const Experiment many = parsed(kText, "agents: [1, 2]", "agents: [5]");
  CHECK(expand(many, open_inputs(many).value()).error().message.find("one per server at most") !=
        std::string::npos);
  const Experiment twice = parsed(kText, "sjf]", "{policy: fifo, label: again}]");
  CHECK(expand(twice, open_inputs(twice).value()).error().message.find("twice") !=
        std::string::npos);
}
