// SPDX-License-Identifier: Apache-2.0
#include "base/marks.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

void pass(bool here) {
  if (here) {
    STARLING_MARK("test: here");
  } else {
    STARLING_MARK("test: there");
  }
}

TEST_CASE("a mark is known before it is passed, and counts") {
  Mark::reset();
  CHECK(Mark::all().at("test: here") == 0);
  pass(true);
  pass(true);
  CHECK(Mark::all().at("test: here") == 2);
  CHECK(Mark::all().at("test: there") == 0);
  Mark::reset();
  CHECK(Mark::all().at("test: here") == 0);
  pass(false);
  CHECK(Mark::all().at("test: there") == 1);
}

}  // namespace
}  // namespace starling
