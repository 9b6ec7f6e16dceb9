// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/state_dir.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

unsigned mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a folder is taken that is absent, empty or a state already, for its user alone") {
  const TestFolder folder("state-dir");
  const fs::path fresh = folder.path / "a" / "b", empty = folder.path / "empty";
  fs::create_directory(empty);
  REQUIRE(chmod(empty.c_str(), 0755) == 0);
  for (const fs::path& dir : {fresh, empty}) {
    {
      const auto state = StateDir::take(dir);
      REQUIRE(state.ok());
      CHECK(state.value().next_incarnation().value() == Incarnation{1});
      CHECK(StateDir::take(dir).error().code == Errc::conflict);
    }
    CHECK(mode_of(dir) == 0700);
    const auto again = StateDir::take(dir);
    REQUIRE(again.ok());
    CHECK(again.value().next_incarnation().value() == Incarnation{2});
  }
}

TEST_CASE("a folder that is there for something else keeps its mode and its content") {
  const TestFolder folder("state-other");
  const fs::path etc = folder.path / "etc";
  fs::create_directory(etc);
  std::ofstream(etc / "passwd") << "x";
  REQUIRE(chmod(etc.c_str(), 0755) == 0);
  const auto taken = StateDir::take(etc);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().code == Errc::invalid);
  CHECK(taken.error().message.find("none of Starling's") != std::string::npos);
  CHECK(mode_of(etc) == 0755);
  CHECK(std::distance(fs::directory_iterator(etc), fs::directory_iterator{}) == 1);
}
