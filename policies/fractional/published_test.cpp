// SPDX-License-Identifier: Apache-2.0
// Alibaba's openb nodes and pods (2023): all of them are handled, and FGD leaves less behind.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/test_data.h"
#include "policies/fractional/pack_run.h"
#include "topology/file/load.h"

using namespace starling;

namespace {

struct Openb {
  ClusterSpec cluster;
  std::vector<Pod> pods;
  bool present = false;

  explicit Openb(const std::string& list) {
    const auto nodes = test_data("alibaba_openb2023/openb_node_list_all_node.csv");
    const auto file = test_data("alibaba_openb2023/" + list);
    if (!nodes || !file) return;
    present = true;
    const auto topology = load_topology(nodes->string());
    REQUIRE(topology.ok());
    auto spec = cluster_spec(topology.value());
    REQUIRE(spec.ok());
    cluster = spec.value();
    auto read = read_pods(*file);
    REQUIRE(read.ok());
    pods = read.value().pods;
  }
};

struct Outcome {
  PackEvent last;
  double fragmented_gpus;
  std::size_t placed = 0;
};

Outcome run(const Openb& openb, const std::string& policy, const ArrivalOptions& options) {
  const Demands demands = find_demands(openb.pods, openb.cluster);
  CHECK(demands.nowhere.empty());
  const Fragmentation measure(typical_demands(openb.pods, openb.cluster), openb.pods.size());
  Packer packer(openb.cluster, demands, measure, make_pack_policy(policy, openb.cluster, measure),
                Rng(1, 1));
  const auto steps = pack_arrivals(openb.pods, openb.cluster.gpu_milli(), options, Rng(1));
  REQUIRE(steps.ok());
  const auto events = pack(packer, demands, steps.value(), [](std::size_t) {});
  REQUIRE(events.size() == steps.value().size());
  Outcome out{events.back(), measure.gpus(events.back().fragments)};
  for (const PackEvent& e : events) out.placed += e.what == PackEvent::What::placed ? 1 : 0;
  REQUIRE(out.placed + out.last.unscheduled == events.size());
  // Counted anew at the end, it is still exact.
  std::int64_t fragments = 0;
  for (std::uint32_t n = 0; n < packer.shares().size(); ++n)
    fragments += measure.of(packer.shares().node(n).free);
  CHECK(fragments == out.last.fragments);
  return out;
}

}  // namespace

TEST_CASE("the first 3,255 pods of the default list: all handled, FGD fragments least" *
          doctest::test_suite("published data")) {
  Openb openb("openb_pod_list_default.csv.gz");
  if (!openb.present) return;
  CHECK(openb.cluster.nodes.size() == 1523);
  CHECK(openb.cluster.gpu_milli() == 6'212'000);
  CHECK(openb.pods.size() == 8152);
  openb.pods.resize(3255);
  std::map<std::string, Outcome> outcomes;
  for (const std::string& name : pack_policy_names()) {
    CAPTURE(name);
    const Outcome out = outcomes[name] = run(openb, name, {});
    CHECK(out.last.arrived_gpu_milli == 2'413'140);
    // Worst-fit breaks up so many nodes that there is no room for pods with eight GPUs.
    if (name == "worst-fit") continue;
    CHECK(out.placed == 3255);
    CHECK(out.last.allocated_gpu_milli == out.last.arrived_gpu_milli);
  }
  for (const auto& [name, out] : outcomes) {
    CAPTURE(name);
    CHECK(outcomes.at("fgd").fragmented_gpus <= out.fragmented_gpus);
  }
  CHECK(outcomes.at("fgd").fragmented_gpus < 0.9 * outcomes.at("random").fragmented_gpus);
}

TEST_CASE("when more is asked for than there is, FGD allocates most" *
          doctest::test_suite("published data")) {
  for (const char* list : {"openb_pod_list_default.csv.gz", "openb_pod_list_gpuspec33.csv.gz",
                           "openb_pod_list_multigpu20.csv.gz"}) {
    const Openb openb(list);
    if (!openb.present) return;
    const ArrivalOptions options{.shuffle = true, .inflate = 1.3};
    const Outcome fgd = run(openb, "fgd", options);
    for (const std::string& name : pack_policy_names()) {
      if (name == "fgd") continue;
      CAPTURE(list);
      CAPTURE(name);
      const Outcome other = run(openb, name, options);
      CHECK(other.last.arrived_gpu_milli == fgd.last.arrived_gpu_milli);
      CHECK(fgd.last.allocated_gpu_milli > other.last.allocated_gpu_milli);
      CHECK(fgd.fragmented_gpus < other.fragmented_gpus);
    }
  }
}
