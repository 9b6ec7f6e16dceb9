// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_backup.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/test_folder.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

using namespace starling;
namespace fs = std::filesystem;

TEST_CASE("a journal is copied as of one moment while it is written to") {
  TestFolder folder("backup");
  const fs::path journal = folder.path / "journal.db";
  auto opened = SqliteJournal::open(journal, {.sync = false});
  REQUIRE(opened.ok());
  REQUIRE(opened.value()->append(batch(1)).ok());
  std::atomic<bool> stop{false};
  std::uint64_t batches = 1;
  std::thread writer([&] {
    while (!stop) REQUIRE(opened.value()->append(batch(++batches)).ok());
  });
  std::uint64_t last = 0;
  for (int copy = 0; copy < 20; ++copy) {
    const fs::path to = folder.path / ("copy-" + std::to_string(copy));
    const auto copied = back_up_journal(journal, to);
    REQUIRE(copied.ok());
    CHECK(copied.value() >= last);
    last = copied.value();
    const Salvaged found = salvage_journal(to, folder.path).value();
    CHECK(found.last == last);
    CHECK(found.records.size() == last);
    CHECK(last_batch(found.records) > 0);  // whole batches
  }
  stop = true;
  writer.join();
  const auto again = SqliteJournal::open(folder.path / "copy-19");
  REQUIRE(again.ok());
  CHECK(again.value()->recover().value().size() == last);
  CHECK(again.value()->append(batch(1)).ok());
}

TEST_CASE("what is no journal is not copied") {
  TestFolder folder("backup");
  CHECK_FALSE(back_up_journal(folder.path / "none", folder.path / "a").ok());
  std::ofstream(folder.path / "text") << std::string(9000, 'x');
  CHECK_FALSE(back_up_journal(folder.path / "text", folder.path / "b").ok());
}
