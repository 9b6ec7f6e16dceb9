// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "topology/describe.h"
#include "topology/file/load.h"

namespace starling {
namespace {

std::filesystem::path examples() {
  const char* set = std::getenv("STARLING_SOURCE");
  return std::filesystem::path(set != nullptr ? set : ".") / "examples/topologies";
}

Topology load(const std::filesystem::path& path) {
  const auto read = load_topology(path.string());
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  return read.value();
}

TEST_CASE("every example loads, is sound, and holds the GPUs that it says") {
  const std::map<std::string, std::uint32_t> gpus = {
      {"dgx-a100-pod.yaml", 160},
      {"dl2-testbed.yaml", 26},
      {"fat-tree-128-gpus.yaml", 128},
      {"fat-tree-k8.yaml", 1024},
      {"hundred-thousand-gpus.yaml", 100'000},
      {"leaf-spine-512.yaml", 512},
      {"leaf-spine-64x8.yaml", 512},
      {"mixed-108.yaml", 108},
      {"mixed-types.yaml", 208},
      {"mixed-racks-512.yaml", 512},
      {"nvl72.yaml", 288},
      {"rail-optimised.yaml", 1024},
  };
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples())) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Topology topology = load(entry.path());
    const auto known = gpus.find(name);
    REQUIRE(known != gpus.end());
    CHECK(topology.gpu_count() == known->second);
    for (const Finding& finding : check_topology(topology)) {
      CHECK_MESSAGE(finding.severity == Finding::Severity::warning, finding.message);
    }
    ++found;
  }
  CHECK(found == gpus.size());
}

TEST_CASE("100 000 GPUs load within two seconds") {
  const auto path = examples() / "hundred-thousand-gpus.yaml";
  const auto began = std::chrono::steady_clock::now();
  const Topology topology = load(path);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  MESSAGE("100 000 GPUs: " << took.count() << " s");
  CHECK(topology.gpu_count() == 100'000);
  CHECK(took.count() <= 2);
}

}  // namespace
}  // namespace starling
