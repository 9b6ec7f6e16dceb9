// SPDX-License-Identifier: Apache-2.0
#include "launch/hooks/hooks.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace starling;
using namespace starling::chaos_live;

TEST_CASE("what reaches into daemons is obeyed in a flock made for that, and refused elsewhere") {
  for (const char* variable :
       {kMembersVariable, kStateVariable, kTimersVariable, kFramesVariable}) {
    CHECK(no_hooks(false).ok());
    REQUIRE(setenv(variable, "elsewhere", 1) == 0);
    CHECK(hook(true, variable) == std::string("elsewhere"));
    CHECK(no_hooks(true).ok());
    CHECK(hook(false, variable) == nullptr);
    const Status refused = no_hooks(false);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Errc::invalid);
    CHECK(refused.error().message.starts_with(variable));
    unsetenv(variable);
  }
}
