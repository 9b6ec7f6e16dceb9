// SPDX-License-Identifier: Apache-2.0
// The policy in the situations that define it; figures by hand.
#include <doctest/doctest.h>

#include "policies/testing/placement_scene.h"

namespace starling {
namespace {

TEST_CASE("consolidate shares only when it would wait, and where others lose least") {
  PlacementScene scene({{2, "V100"}}, 2);
  scene.add("calm", 1, on_gpus({0}));
  scene.add("loud", 1, on_gpus({2}));
  scene.add("calm", 2);
  CHECK(scene.place("consolidate").empty());  // waits for a server
  CHECK(scene.place("consolidate:variant=spread") == on_gpus({1, 3}));
  CHECK(scene.place("consolidate:variant=share") == on_gpus({1, 3}));
  scene.add("brute", 1, on_gpus({1}));
  scene.add("loud", 1, on_gpus({3}));
  CHECK(scene.place("consolidate:variant=spread").empty());
  // Loses: calm 0.1 and brute 0.95; on the other server the two louds 0.1 each.
  CHECK(scene.place("consolidate:variant=share") == on_gpus({2, 3}));
}

}  // namespace
}  // namespace starling
