// SPDX-License-Identifier: Apache-2.0
#include "base/edit_distance.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("the distance of two words is what has to be changed of one") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("queue", "queue") == 0);
  CHECK(edit_distance("queue", "queues") == 1);
  CHECK(edit_distance("qeue", "queue") == 1);
  CHECK(edit_distance("quoue", "queue") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
}

}  // namespace
}  // namespace starling
