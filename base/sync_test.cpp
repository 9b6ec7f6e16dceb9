// SPDX-License-Identifier: Apache-2.0
#include "base/sync.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <fstream>

#include "base/machine_clock.h"
#include "base/test_folder.h"

using namespace starling;

TEST_CASE("files and folders are synced, and what is not there is told") {
  const TestFolder folder("sync");
  const auto file = folder.path / "file";
  CHECK_FALSE(sync_path(file));
  CHECK(errno == ENOENT);
  std::ofstream(file) << "text";
  CHECK(sync_path(file));
  CHECK(sync_path(folder.path));
  CHECK(sync_folder_of(file));
  CHECK(sync_folder_of("a name alone is of this folder"));
  CHECK_FALSE(sync_folder_of(folder.path / "no such folder" / "file"));
}

TEST_CASE("the machine's clock goes on") {
  const MachineClock clock;
  const Instant before = boot_time();
  CHECK(before > Instant{});
  CHECK(clock.now() >= before);
}
