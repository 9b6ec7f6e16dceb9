// SPDX-License-Identifier: Apache-2.0
// What holds for every placement policy that lets jobs share GPUs; figures by hand.
#include <doctest/doctest.h>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

const std::vector<std::string> kSharing = {"load-balance",
                                           "load-balance:share=first",
                                           "tetris",
                                           "tetris:score=fit",
                                           "lif",
                                           "lif:threshold=0.3",
                                           "smart-greedy",
                                           "smart-greedy:wait=no",
                                           "smart-greedy:threshold=0.3",
                                           "consolidate:variant=share"};

TEST_CASE("jobs of one call see where the earlier ones went") {
  PlacementScene scene({{2, "V100"}}, 1);
  for (int i = 0; i < 5; ++i) scene.add("calm", 1);
  for (const std::string& policy : kSharing) {
    CAPTURE(policy);
    const auto starts = scene.starts(policy);
    REQUIRE(starts.size() == 4);
    int on[2] = {0, 0};
    for (const Start& start : starts) ++on[start.placement.front().value];
    CHECK(on[0] == 2);
    CHECK(on[1] == 2);
  }
}

TEST_CASE("GPUs of unknown tenants, of two tenants and of little memory are never joined") {
  PlacementScene scene({{1, "V100"}}, 3);
  scene.gpus.take(on_gpus({0}));  // a job of another home
  scene.add("calm", 1, on_gpus({1}));
  scene.add("calm", 1, on_gpus({1}));
  scene.add("a3c", 1, on_gpus({2}));
  JobSpec& job = scene.add("calm", 1);
  for (const std::string& policy : kSharing) {
    CAPTURE(policy);
    const Placement place = scene.place(policy);
    CHECK((place.empty() || place == on_gpus({2})));
  }
  job.workers = 2;
  for (const std::string& policy : kSharing) CHECK(scene.place(policy).empty());
}

TEST_CASE("where a GPU takes one job none shares") {
  PlacementScene scene({{1, "V100"}}, 2);
  scene.gpus = Occupancy(scene.topology, {0, 1}, 1);
  scene.add("calm", 1, on_gpus({0}));
  JobSpec& job = scene.add("calm", 1);
  for (const std::string& policy : kSharing) CHECK(scene.place(policy) == on_gpus({1}));
  job.workers = 2;
  for (const std::string& policy : kSharing) CHECK(scene.place(policy).empty());
}

}  // namespace
}  // namespace starling
