// SPDX-License-Identifier: Apache-2.0
// One published run of each policy, placed again: every point has to be the published one.
#include <doctest/doctest.h>

#include "base/test_data.h"
#include "sim/published/openb/openb_run.h"

using namespace starling;

namespace {

void check_run(const std::string& list_name, std::uint32_t seed, const std::string& theirs,
               const std::string& ours) {
  const auto file = test_data("conformance/openb_fgd_pods.csv.gz");
  if (!file) return;
  const auto data = file->parent_path().parent_path();
  const auto inputs = read_openb_inputs(data);
  REQUIRE_MESSAGE(inputs.ok(), inputs.error().message);
  const auto curves = read_openb_curves(data, "allocation");
  REQUIRE_MESSAGE(curves.ok(), curves.error().message);
  bool found = false;
  for (const OpenbList& list : inputs.value().lists) {
    for (const OpenbDraw& draw : list.draws) {
      if (list.name != list_name || draw.seed != seed) continue;
      for (const PublishedCurve& curve : curves.value()) {
        if (curve.list != list_name || curve.seed != seed || curve.policy != theirs) continue;
        found = true;
        CHECK(equal_points(run_openb(inputs.value().cluster, list, draw, ours), curve.points) ==
              kOpenbPoints);
      }
    }
  }
  CHECK(found);
}

}  // namespace

TEST_CASE("FGD, default, seed 42" * doctest::test_suite("published data")) {
  check_run("default", 42, "FGD", "fgd");
}

// There the last bit of a sum decides between nodes.
TEST_CASE("FGD, gpuspec33, seed 44" * doctest::test_suite("published data")) {
  check_run("gpuspec33", 44, "FGD", "fgd");
}

TEST_CASE("best fit, multigpu20, seed 49" * doctest::test_suite("published data")) {
  check_run("multigpu20", 49, "BestFit", "best-fit");
}

TEST_CASE("dot product, default, seed 43" * doctest::test_suite("published data")) {
  check_run("default", 43, "DotProd", "dot-product");
}

TEST_CASE("GPU packing, gpuspec33, seed 42" * doctest::test_suite("published data")) {
  check_run("gpuspec33", 42, "GpuPacking", "gpu-packing");
}

TEST_CASE("GPU clustering, default, seed 51" * doctest::test_suite("published data")) {
  check_run("default", 51, "GpuClustering", "gpu-clustering");
}
