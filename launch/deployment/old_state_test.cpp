// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/old_state.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/test_folder.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  TestFolder folder{"old-state"};
  StateDir dir = StateDir::take(folder.path / "state").value();
  DeployedNode me = agent();

  static DeployedNode agent() {
    DeployedNode node;
    node.name = "agent-0";
    node.role = Role::agent;
    return node;
  }
  /// What opening the journal says; empty: it is open.
  std::string opening() {
    auto opened = open_own_journal(me, folder.path, dir);
    return opened ? "" : opened.error().message;
  }
  std::uint64_t live() {
    REQUIRE(dir.next_incarnation().ok());
    auto opened = open_own_journal(me, folder.path, dir);
    REQUIRE(opened.ok());
    REQUIRE(opened.value()->append(batch(1)).ok());
    return opened.value()->position();
  }
};

TEST_CASE_FIXTURE(Fixture,
                  "a state directory knows how many lives it had, and that there is a journal") {
  CHECK(dir.lives() == 0);
  CHECK_FALSE(dir.begun());
  live();
  CHECK(dir.lives() == 1);
  CHECK(dir.begun());
  CHECK(dir.next_incarnation().value() == Incarnation{2});
  CHECK(dir.begun());
  REQUIRE(dir.skip_lives(Incarnation{40}).ok());
  REQUIRE(dir.skip_lives(Incarnation{7}).ok());
  CHECK(dir.next_incarnation().value() == Incarnation{41});
  CHECK(dir.begun());
}

TEST_CASE_FIXTURE(Fixture, "a journal that has gone is missed, one that never was is not") {
  REQUIRE(dir.next_incarnation().ok());  // a life that ended before it had a journal
  REQUIRE(dir.next_incarnation().ok());
  CHECK(opening().empty());
  live();
  for (const char* file : {"journal.db", "journal.db.head"}) fs::remove(dir.path() / file);
  CHECK(opening().find("an earlier life of this node wrote to it") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "what a node was told keeps it from starting until a newer state is there") {
  const std::uint64_t written = live();
  REQUIRE(write_told(dir, {Incarnation{4}, written + 3, "executor-1"}).ok());
  const auto told = read_told(dir);
  REQUIRE(told.value().has_value());
  CHECK(told.value()->life == Incarnation{4});
  CHECK(told.value()->written == written + 3);
  CHECK(told.value()->by == "executor-1");
  CHECK_FALSE(told.value()->restored);
  CHECK(
      opening() ==
      "the state of agent-0 (life 1, " + std::to_string(written) +
          " records) is an old copy: executor-1 knows its life 4, with " +
          std::to_string(written + 3) +
          " records; the jobs that were accepted since would be lost, and how those that are open "
          "in it ended (they would fail, with an unknown outcome); put the newer state back, or go "
          "on without it: starling accept-loss agent-0 --flock " +
          folder.path.string());
  {
    auto opened = SqliteJournal::open(dir.path() / "journal.db");
    REQUIRE(opened.value()->append(batch(2)).ok());
  }
  CHECK(opening().empty());
  CHECK_FALSE(read_told(dir).value().has_value());
}

TEST_CASE_FIXTURE(
    Fixture,
    "a copy that has written more than it lacked since is still old, and a newer one is not") {
  const std::uint64_t written = live();
  Told told{Incarnation{4}, written - 1, "executor-1"};
  told.at = written;
  REQUIRE(write_told(dir, told).ok());
  CHECK(read_told(dir).value()->at == written);
  CHECK(opening().find("is an old copy: executor-1 knows its life 4") != std::string::npos);
  CHECK(opening().find("is an old copy") != std::string::npos);  // and not once only
  {
    auto opened = SqliteJournal::open(dir.path() / "journal.db");
    REQUIRE(opened.value()->append(batch(2)).ok());
  }
  CHECK(opening().empty());
  CHECK(parse_told("life 4\nwritten 7\ntold\nexecutor-1\n")->at == 0);
}

TEST_CASE_FIXTURE(Fixture, "of a restored backup it is not known what happened since") {
  live();
  REQUIRE(write_told(dir, {Incarnation{1}, 0, "the backup of Monday", true}).ok());
  CHECK(opening().find("is an old copy: it is the backup of Monday, and it is not known what "
                       "happened since; ") != std::string::npos);
  REQUIRE(forget_told(dir).ok());
  CHECK(opening().empty());
}

}  // namespace
}  // namespace starling
