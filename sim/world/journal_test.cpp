// SPDX-License-Identifier: Apache-2.0
#include "sim/world/journal.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

const std::vector<Record> kTwo{LifeBegan{Incarnation{1}, Epoch{1}}, ShareReleased{}};

WatchedJournal disk(std::uint64_t* seen) {
  return {MemoryJournal::Keep::bytes, [seen](std::span<const Record> r) { *seen += r.size(); },
          Rng(1)};
}

TEST_CASE("a disk is full after so many records, and takes them again when freed") {
  std::uint64_t seen = 0;
  WatchedJournal journal = disk(&seen);
  journal.faults().room = 3;
  CHECK(journal.append(kTwo).ok());
  CHECK(journal.append(kTwo).error().code == Errc::io);
  CHECK(journal.refused());
  journal.faults().room.reset();
  journal.start();
  CHECK_FALSE(journal.refused());
  CHECK(journal.append(kTwo).ok());
  CHECK(seen == 4);
  CHECK(journal.recover().value().size() == 4);
}

TEST_CASE("a machine that stops in a write leaves all of it or nothing") {
  using Stop = DiskFaults::Stop;
  for (const auto& [stop, kept] :
       {std::pair{Stop::before, 0U}, {Stop::torn, 0U}, {Stop::after, 2U}}) {
    std::uint64_t seen = 0;
    WatchedJournal journal = disk(&seen);
    journal.faults().stop = stop;
    CHECK_FALSE(journal.append(kTwo).ok());
    CHECK(seen == kept);
    CHECK(journal.recover().value().size() == kept);
    CHECK(journal.append(kTwo).ok());
  }
}

TEST_CASE("a damaged journal is refused with a word of advice until it is restored") {
  std::uint64_t seen = 0;
  WatchedJournal journal = disk(&seen);
  CHECK_FALSE(journal.damage(7));
  CHECK(journal.append(kTwo).ok());
  CHECK(journal.damage(7));
  CHECK(journal.recover().error().message.find("record 1") != std::string::npos);
  const auto next = journal.succeed();
  CHECK_FALSE(next->recover().ok());
  next->repair();
  CHECK(next->recover().value().size() == 2);
  CHECK(journal.append(kTwo).error().code == Errc::conflict);
}

TEST_CASE("an owner that was deposed writes nothing more, and reads the archive as before") {
  std::uint64_t seen = 0;
  WatchedJournal old = disk(&seen);
  REQUIRE(old.archive(1, kTwo).ok());
  const auto next = old.succeed();
  CHECK(old.archived(1).value().size() == 2);
  CHECK(next->archived(1).value().size() == 2);
  CHECK(old.archive(2, kTwo).error().code == Errc::conflict);
  CHECK(next->archive(2, kTwo).ok());
}

TEST_CASE("an owner that was deposed does not know how far its successor writes") {
  std::uint64_t seen = 0;
  WatchedJournal old = disk(&seen);
  REQUIRE(old.append(kTwo).ok());
  const auto next = old.succeed();
  REQUIRE(next->append(kTwo).ok());
  const auto last = next->succeed();
  REQUIRE(last->append(kTwo).ok());
  CHECK(old.position() == 2);
  CHECK(next->position() == 4);
  CHECK(last->position() == 6);
}

TEST_CASE("slow writes say how slow they are") {
  std::uint64_t seen = 0;
  WatchedJournal journal = disk(&seen);
  journal.faults().slow_chance = 1;
  journal.faults().slow_most = std::chrono::seconds(5);
  Duration slow{0};
  journal.on_slow([&](Duration d) { slow = d; });
  CHECK(journal.append(kTwo).ok());
  CHECK(slow > Duration{0});
  CHECK(slow <= std::chrono::seconds(5));
}

}  // namespace
}  // namespace starling
