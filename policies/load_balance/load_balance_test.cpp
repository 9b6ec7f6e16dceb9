// SPDX-License-Identifier: Apache-2.0
// The policy in the situations that define it; figures by hand.
#include <doctest/doctest.h>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

TEST_CASE("load balancing spreads before it shares, or shares before it spreads") {
  PlacementScene scene({{2, "V100"}}, 4);
  scene.add("calm", 3, on_gpus({0, 1, 2}));
  scene.add("calm", 2, on_gpus({4, 5}));
  JobSpec& job = scene.add("calm", 2);
  CHECK(scene.place("load-balance") == on_gpus({6, 7}));  // the emptier server
  job.workers = 3;
  CHECK(scene.place("load-balance") == on_gpus({3, 6, 7}));
  CHECK(scene.place("load-balance:share=first") == on_gpus({4, 6, 7}));
  job.workers = 4;
  CHECK(scene.place("load-balance") == on_gpus({4, 5, 6, 7}));
}

}  // namespace
}  // namespace starling
