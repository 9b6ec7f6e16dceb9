// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/salvage.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "store/sample_records.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  TestFolder folder{"salvage"};
  fs::path journal = folder.path / "journal.db";

  std::uint64_t fill(std::uint64_t batches) {
    auto opened = SqliteJournal::open(journal);
    REQUIRE(opened.ok());
    for (std::uint64_t n = 1; n <= batches; ++n) REQUIRE(opened.value()->append(batch(n)).ok());
    return opened.value()->position();
  }
  Salvaged salvage() { return salvage_journal(journal, folder.path).value(); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a whole journal is salvaged wholly, and left as it was") {
  const std::uint64_t written = fill(5);
  const Salvaged found = salvage();
  CHECK(found.last == written);
  CHECK(found.known == written);
  CHECK(last_batch(found.records) == 5);
  CHECK_FALSE(fs::exists(folder.path / "salvage.db"));
}

TEST_CASE_FIXTURE(Fixture, "records up to the first that is damaged") {
  const std::uint64_t written = fill(400);
  const auto middle = fs::file_size(journal) / 2;
  std::fstream file(journal, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(middle));
  file << std::string(200, '#');
  file.close();
  const Salvaged found = salvage();
  CHECK(found.known == written);
  CHECK(found.last < written);
  CHECK(found.last == found.records.size());
  CHECK(last_batch(found.records) > 20);
}

TEST_CASE_FIXTURE(Fixture, "nothing is left: no records, and how many there were") {
  const std::uint64_t written = fill(5);
  SUBCASE("removed") { fs::remove(journal); }
  SUBCASE("overwritten") { std::ofstream(journal) << std::string(9000, 'x'); }
  const Salvaged found = salvage();
  CHECK(found.records.empty());
  CHECK(found.known == written);
}

TEST_CASE_FIXTURE(Fixture, "a new journal may begin with any number") {
  StoreOptions options;
  options.first = 1'000;
  {
    auto opened = SqliteJournal::open(journal, options);
    REQUIRE(opened.ok());
    CHECK(opened.value()->position() == 999);
    REQUIRE(opened.value()->append(batch(1)).ok());
    CHECK(opened.value()->position() == 999 + batch(1).size());
  }
  auto again = SqliteJournal::open(journal);
  REQUIRE(again.ok());
  CHECK(last_batch(again.value()->recover().value()) == 1);
  REQUIRE(again.value()->compact(batch(2)).ok());
  CHECK(again.value()->position() >= 999 + batch(1).size() + batch(2).size());
}

TEST_CASE_FIXTURE(Fixture, "jobs in the archive are salvaged as jobs that ended") {
  const JobId one{1, 2}, two{3, 4};
  const auto ended = [](JobId id) { return Record(JobEnded{id, {}}); };
  {
    auto opened = SqliteJournal::open(journal);
    REQUIRE(opened.ok());
    Journal& written = *opened.value();
    REQUIRE(written.recover().ok());
    REQUIRE(written.append(batch(1)).ok());
    REQUIRE(written.archive(1, std::vector<Record>{ended(one)}).ok());
    REQUIRE(written.append(std::vector<Record>{JobsArchived{1, 9, Duration(-1), {one}, {}}}).ok());
    REQUIRE(written.append(std::vector<Record>{JobsArchived{2, 9, Duration(-1), {two}, {}}}).ok());
  }
  const std::vector<Record> found = salvage().records;
  REQUIRE(found.size() == batch(1).size() + 2);
  CHECK(std::get<JobEnded>(found[found.size() - 2]).job == one);
  INFO("whose chunk is gone is remembered as one that may be on offer somewhere");
  CHECK(std::get<OffersOwed>(found.back()).jobs == std::vector<JobId>{two});
}
