// SPDX-License-Identifier: Apache-2.0
#include "sim/world/keys.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

constexpr NodeId kA{1}, kB{2}, kC{3};

TEST_CASE("a node with only the old key is not heard once the list has lost that") {
  Keys keys;
  CHECK_FALSE(keys.exchanged());
  CHECK(keys.hear(kA, kB));
  keys.made(kA);
  CHECK(keys.exchanged());
  CHECK(keys.hear(kA, kB));  // no node has read anything
  keys.read(kB, kA);
  CHECK(keys.hear(kA, kB));  // the old one still counts
  keys.dropped(kA);
  CHECK(keys.hear(kA, kB));
  keys.read(kB, kA);
  CHECK_FALSE(keys.hear(kA, kB));
  CHECK_FALSE(keys.hear(kB, kA));  // each proves its own
  CHECK_FALSE(keys.knows(kB, kA));
  CHECK(keys.hear(kB, kC));
  keys.used(kA);
  CHECK(keys.hear(kA, kB));
  CHECK_FALSE(keys.hear(kA, kC));  // C has not read the list
  keys.read(kC, kA);
  CHECK(keys.hear(kA, kC));
}

TEST_CASE("a key that is two exchanges old is no node's") {
  Keys keys;
  keys.made(kA);
  keys.made(kA);
  keys.read(kB, kA);
  CHECK_FALSE(keys.hear(kA, kB));
  keys.settle();
  CHECK(keys.hear(kA, kB));
  CHECK_FALSE(keys.exchanged());
}

}  // namespace
}  // namespace starling
