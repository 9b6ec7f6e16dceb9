// SPDX-License-Identifier: Apache-2.0
#include "store/memory_journal.h"

#include "store/journal_battery.h"

using namespace starling;

TEST_CASE("a journal in memory compacts in steps and has an archive") {
  for (const auto keep : {MemoryJournal::Keep::records, MemoryJournal::Keep::bytes}) {
    steps_battery([&](std::unique_ptr<Journal> old) {
      return old ? std::move(old) : std::make_unique<MemoryJournal>(keep);
    });
  }
}

TEST_CASE("a journal in memory passes the battery, copied and encoded") {
  for (const auto keep : {MemoryJournal::Keep::records, MemoryJournal::Keep::bytes}) {
    journal_battery([&](std::unique_ptr<Journal> old) {
      return old ? std::move(old) : std::make_unique<MemoryJournal>(keep);
    });
  }
}

TEST_CASE("it fails when told, and a failed append leaves nothing behind") {
  MemoryJournal journal;
  journal.fail_after(1);
  CHECK(journal.append(sample_records()).ok());
  CHECK(journal.append(sample_records()).error().code == Errc::io);
  CHECK(journal.compact({}).error().code == Errc::io);
  CHECK(journal.appends() == 1);
  journal.fail_after(std::nullopt);
  CHECK(same_records(journal.recover().value(), sample_records()));
}

TEST_CASE("a counting journal keeps the count alone") {
  MemoryJournal journal(MemoryJournal::Keep::counts);
  CHECK(journal.append(sample_records()).ok());
  CHECK(journal.records() == sample_records().size());
  CHECK(journal.recover().value().empty());
}
