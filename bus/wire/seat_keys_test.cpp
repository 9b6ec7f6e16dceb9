// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/seat_keys.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace starling {
namespace {

TEST_CASE(
    "a seat is the node that proves its key, or another of its keys while they are exchanged") {
  const std::vector<std::string> none, both{"new", "newer"};
  CHECK(is_key_of_seat("own", "own", none));
  CHECK(is_key_of_seat("own", "own", both));
  CHECK(is_key_of_seat("new", "own", both));
  CHECK(is_key_of_seat("newer", "own", both));
}

TEST_CASE("a key that was exchanged, or was never the seat's, lets no node in") {
  const std::vector<std::string> none, both{"new", "newer"};
  for (const char* key : {"old", "", "ow", "owner", "OWN"}) {
    CAPTURE(key);
    CHECK_FALSE(is_key_of_seat(key, "own", none));
    CHECK_FALSE(is_key_of_seat(key, "own", both));
  }
}

}  // namespace
}  // namespace starling
