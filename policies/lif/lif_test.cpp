// SPDX-License-Identifier: Apache-2.0
// The policy in the situations that define it; figures by hand.
#include <doctest/doctest.h>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

// Beside loud: 0.4 for itself and 0.9 for loud. Beside calm: 0.9 each.
TEST_CASE("lif prefers the harmless partner") {
  PlacementScene scene({{2, "V100"}}, 1);
  scene.add("loud", 1, on_gpus({0}));
  scene.add("calm", 1, on_gpus({1}));
  scene.add("calm", 1);
  CHECK(scene.place("lif") == on_gpus({1}));
  CHECK(scene.place("lif:share=no").empty());
}

TEST_CASE("lif takes a free GPU rather than share one") {
  PlacementScene scene({{2, "V100"}}, 1);
  scene.add("calm", 1, on_gpus({0}));
  scene.add("calm", 1);
  CHECK(scene.place("lif") == on_gpus({1}));
}

// Beside loud a job adds 0.4 and takes 0.1: 0.3 in all. Beside brute 0.05 - 0.95 < 0.
TEST_CASE("the threshold makes a job wait for a bad pair and not for a good one") {
  for (const std::string partner : {"calm", "loud", "brute"}) {
    PlacementScene scene({{1, "V100"}}, 1);
    scene.add(partner, 1, on_gpus({0}));
    scene.add("calm", 1);
    CAPTURE(partner);
    CHECK(scene.place("lif") == on_gpus({0}));
    CHECK(scene.place("lif:threshold=0.25").empty() == (partner == "brute"));
    CHECK(scene.place("lif:threshold=0.35").empty() == (partner != "calm"));
    CHECK(scene.place("lif:threshold=0.85").empty());
  }
}

// One GPU of a gang of eight: 0.9 for itself, and eight GPUs lose 0.1 each.
TEST_CASE("what a gang loses counts for each of its GPUs") {
  PlacementScene scene({{1, "V100"}}, 8);
  scene.add("calm", 8, on_gpus({0, 1, 2, 3, 4, 5, 6, 7}));
  scene.add("calm", 1);
  CHECK(scene.place("lif:threshold=0.05") == on_gpus({0}));
  CHECK(scene.place("lif:threshold=0.15").empty());
}

TEST_CASE("the threshold also refuses to spread, and slow GPU types, but not for ever") {
  PlacementScene spread({{2, "V100"}}, 2);
  spread.add("calm", 1, on_gpus({0}));
  spread.add("calm", 1, on_gpus({2}));
  spread.add("calm", 2);
  CHECK(spread.place("lif:share=no") == on_gpus({1, 3}));
  CHECK(spread.place("lif:share=no,threshold=0.6").empty());

  PlacementScene slow({{1, "V100"}, {1, "K80"}}, 1);
  slow.add("brute", 1, on_gpus({0}));
  slow.add("calm", 1);
  CHECK(slow.place("lif") == on_gpus({1}));
  CHECK(slow.place("lif:threshold=0.3").empty());

  PlacementScene idle({{1, "K80"}, {1, "V100"}}, 1);
  idle.add("calm", 1).gpu_types = {"K80"};
  CHECK(idle.place("lif:threshold=0.9") == on_gpus({0}));
}

TEST_CASE("a gang goes beside a gang of its size, or into what a larger one leaves") {
  PlacementScene equal({{2, "V100"}}, 4);
  equal.add("calm", 4, on_gpus({0, 1, 2, 3}));
  equal.add("calm", 2, on_gpus({4, 5}));
  equal.add("calm", 2, on_gpus({6, 7}));
  equal.add("calm", 2);
  // 0.9 and 0.9 either way; the gang of four comes first but is not its equal.
  CHECK(equal.place("lif") == on_gpus({4, 5}));

  PlacementScene larger({{1, "V100"}}, 4);
  larger.add("calm", 4, on_gpus({0, 1, 2, 3}));
  larger.add("calm", 1, on_gpus({0}));
  larger.add("calm", 2);
  CHECK(larger.place("lif") == on_gpus({1, 2}));

  PlacementScene several({{1, "V100"}}, 4);
  several.add("calm", 2, on_gpus({0, 1}));
  several.add("calm", 1, on_gpus({2}));
  several.add("calm", 4);
  CHECK(several.place("lif") == on_gpus({0, 1, 2, 3}));
}

}  // namespace
}  // namespace starling
