// SPDX-License-Identifier: Apache-2.0
// The policy in the situations that define it; figures by hand.
#include <doctest/doctest.h>

#include <chrono>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

// Beside brute it takes 1,000 s / 0.05 until brute ends, and adds as much.
TEST_CASE("smart greedy waits when a GPU is about to come free and shares when not") {
  PlacementScene scene({{1, "V100"}}, 1);
  JobSpec& partner = scene.add("brute", 1, on_gpus({0}));
  partner.duration = std::chrono::seconds(10);
  scene.add("calm", 1).duration = std::chrono::seconds(1000);
  // Waits 10 s; sharing: 200 s together for 10 s of work each, and brute loses 190 s.
  CHECK(scene.place("smart-greedy").empty());
  CHECK(scene.place("smart-greedy:wait=no") == on_gpus({0}));
  partner.duration = std::chrono::hours(100);
  partner.model = "loud";
  // Sharing: 1,000 / 0.4 = 2,500 s for itself and 250 s that loud loses; waiting: 100 hours.
  CHECK(scene.place("smart-greedy") == on_gpus({0}));
  CHECK(scene.place("smart-greedy:threshold=0.35").empty());
}

TEST_CASE("smart greedy waits for a faster type unless others are ahead for it") {
  PlacementScene scene({{1, "V100"}, {1, "K80"}}, 1);
  scene.add("brute", 1, on_gpus({0})).duration = std::chrono::seconds(3100);
  JobSpec& job = scene.add("calm", 1);
  job.duration = std::chrono::seconds(1000);
  // On the K80 10,000 s, on the V100 3,100 + 1,000 s.
  CHECK(scene.place("smart-greedy").empty());
  CHECK(scene.place("smart-greedy:wait=no") == on_gpus({1}));
  // Two are ahead of the third for the V100: 3 * 3,100 + 1,000 s.
  for (int i = 0; i < 3; ++i) scene.add("calm", 1).duration = std::chrono::seconds(1000);
  const auto starts = scene.starts("smart-greedy");
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].job == JobId{1, 4});
  CHECK(starts[0].placement == on_gpus({1}));
}

}  // namespace
}  // namespace starling
