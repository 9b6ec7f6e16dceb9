// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "store/etcd/etcd_journal.h"
#include "store/etcd/test_etcd.h"
#include "store/sample_records.h"
#include "store/sqlite/sqlite_journal.h"

using namespace starling;

namespace {

/// Appends batches of `size` records for a second or so, and says how it went.
void measure(const std::string& name, Journal& journal, std::size_t size) {
  using Wall = std::chrono::steady_clock;
  const std::vector<Record> batch(size,
                                  Record(JobAccepted{{sample_spec(1), NodeId{1}, {}, {}, 0}, 1}));
  std::vector<double> ms;
  const auto begin = Wall::now();
  while (Wall::now() - begin < std::chrono::seconds(2)) {
    const auto sent = Wall::now();
    REQUIRE(journal.append(batch).ok());
    ms.push_back(std::chrono::duration<double, std::milli>(Wall::now() - sent).count());
  }
  const double seconds = std::chrono::duration<double>(Wall::now() - begin).count();
  std::sort(ms.begin(), ms.end());
  const auto rate = static_cast<double>(ms.size()) / seconds;
  MESSAGE(name, ", ", size, " records an append: ", rate, " appends/s, ",
          rate * static_cast<double>(size), " records/s, p50 ", ms[ms.size() / 2], " ms, p99 ",
          ms[ms.size() * 99 / 100], " ms");
}

}  // namespace

TEST_CASE("how fast journals are" * doctest::skip()) {
  {
    const TestFolder folder("speed");
    auto sqlite = SqliteJournal::open(folder.path / "journal.db");
    REQUIRE(sqlite.ok());
    for (const std::size_t size : {1, 10, 100}) measure("SQLite", *sqlite.value(), size);
  }
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("speed");
  {
    auto journal = EtcdJournal::open(flock, next_epoch(flock));
    REQUIRE(journal.ok());
    REQUIRE(journal.value()->recover().ok());
    for (const std::size_t size : {1, 10, 100}) measure("etcd", *journal.value(), size);
  }
  auto journal = EtcdJournal::open(flock, next_epoch(flock));
  REQUIRE(journal.ok());
  const auto begin = std::chrono::steady_clock::now();
  const auto records = journal.value()->recover();
  REQUIRE(records.ok());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MESSAGE("etcd: ", records.value().size(), " records read in ", seconds, " s");
}
