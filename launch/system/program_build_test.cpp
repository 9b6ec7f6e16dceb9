// SPDX-License-Identifier: Apache-2.0
#include "launch/system/program_build.h"

#include <doctest/doctest.h>

TEST_CASE("a program knows which build it is") {
  const std::string build = starling::program_build();
  const std::size_t plus = build.find('+');
  REQUIRE(plus != std::string::npos);  // every linker that builds this gives an id
  CHECK(build.find('.') < plus);
  CHECK(build.substr(plus + 1).size() == 12);
  CHECK(build.find_first_not_of("0123456789abcdef", plus + 1) == std::string::npos);
}
