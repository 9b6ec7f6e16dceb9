// SPDX-License-Identifier: Apache-2.0
#include "base/login_name.h"

#include <doctest/doctest.h>

#include <cstdio>

namespace starling {
namespace {

TEST_CASE("the name is that of id(1)") {
  FILE* id = popen("id -un", "r");
  REQUIRE(id != nullptr);
  char line[256] = "";
  const bool read = std::fgets(line, sizeof line, id) != nullptr;
  if (pclose(id) != 0 || !read) {
    CHECK(login_name().starts_with("uid-"));
  } else {
    CHECK(login_name() + "\n" == line);
  }
}

}  // namespace
}  // namespace starling
