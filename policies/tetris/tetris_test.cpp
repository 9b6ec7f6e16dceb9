// SPDX-License-Identifier: Apache-2.0
// The policy in the situations that define it; figures by hand.
#include <doctest/doctest.h>

#include <tuple>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

// Pressure by hand: a job of Gavel's types loses 0.1 beside calm, 0.6 beside loud and 0.2 beside
// one of its own; scaled so that these are a half: 0.25, 1 (cut) and 0.5.
TEST_CASE("Tetris never puts more pressure on a GPU than it bears") {
  for (const auto& [partner, model, fits] : {std::tuple{"calm", "calm", true},
                                             {"other", "other", true},
                                             {"calm", "other", true},
                                             {"loud", "calm", false},
                                             {"calm", "loud", false}}) {
    CAPTURE(partner);
    CAPTURE(model);
    PlacementScene scene({{1, "V100"}}, 1);
    scene.add(partner, 1, on_gpus({0}));
    scene.add(model, 1);
    for (const char* policy : {"tetris", "tetris:score=fit"}) {
      CHECK(scene.place(policy).empty() == !fits);
    }
  }
}

TEST_CASE("Tetris takes the emptiest server by dot product, the fullest by tightest fit") {
  PlacementScene scene({{2, "V100"}}, 2);
  scene.add("calm", 1, on_gpus({0}));
  scene.add("calm", 1);
  CHECK(scene.place("tetris") == on_gpus({2}));
  CHECK(scene.place("tetris:score=fit") == on_gpus({0}));
}

}  // namespace
}  // namespace starling
