// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_journal.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "store/epoch_battery.h"
#include "store/etcd/etcd_entries.h"
#include "store/etcd/test_etcd.h"
#include "store/journal_battery.h"

using namespace starling;
using std::chrono::milliseconds;

namespace {

std::unique_ptr<Journal> open_or_fail(const EtcdAddress& flock, const Ownership& mine,
                                      const EtcdOptions& options = {}) {
  auto journal = EtcdJournal::open(flock, mine, options);
  if (!journal) FAIL(journal.error().message);
  return std::move(journal).value();
}

std::vector<Record> life(std::uint64_t n) { return {LifeBegan{Incarnation{n}, Epoch{1}}}; }

/// The numbers that a journal of life(n) gives.
std::vector<std::uint64_t> numbers(Journal& journal) {
  const auto records = journal.recover();
  if (!records) FAIL(records.error().message);
  std::vector<std::uint64_t> all;
  for (const Record& r : records.value()) all.push_back(std::get<LifeBegan>(r).incarnation.value);
  return all;
}

std::string entry_key(const EtcdAddress& flock, int seq) {
  return EtcdKeys(flock, PartitionId{0}).journal + "0000000000000000/000000000000000" +
         std::to_string(seq);
}

/// A job whose command takes `size` bytes in a record.
Record large(std::uint64_t n, std::size_t size) {
  JobSpec spec = sample_spec(n);
  spec.command = {std::string(size, static_cast<char>('a' + n))};
  return JobAccepted{{spec, NodeId{1}, Duration(0), Duration(0), 0}, n};
}

}  // namespace

TEST_CASE("a journal in etcd passes the battery") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("journal-battery");
  journal_battery([&](std::unique_ptr<Journal> old) {
    old.reset();
    return open_or_fail(flock, next_epoch(flock));
  });
}

TEST_CASE("a journal in etcd compacts in steps and has an archive") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("journal-steps");
  steps_battery([&](std::unique_ptr<Journal> old) {
    old.reset();
    return open_or_fail(flock, next_epoch(flock));
  });
  EtcdClient client(flock);
  const EtcdKeys keys(flock, PartitionId{0});
  const auto entries = client.range(keys.journal, behind(keys.journal), 1000).value().entries;
  const auto here = [&](const EtcdEntry& entry) {
    return entry.key.substr(0, keys.journal.size() + 17) ==
           entries.front().key.substr(0, keys.journal.size() + 17);
  };
  CHECK(std::all_of(entries.begin(), entries.end(), here));
}

TEST_CASE("a journal in etcd that is long to read: its owner shows that it is there") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("long-to-read");
  EtcdAuthorityOptions options;
  options.ttl = std::chrono::seconds(2);
  EtcdAuthority first(flock, options), second(flock, options);
  const auto taken = [&](EtcdAuthority& by, Epoch seen, AgentId me) {
    by.acquire(PartitionId{0}, seen, me);
    return expect_event<EpochGranted>(by).mine;
  };
  const Ownership mine = taken(first, Epoch{}, AgentId{0});
  {
    const auto journal = open_or_fail(flock, mine);
    CHECK(journal->recover().value().empty());
    for (std::uint64_t n = 0; n < 200; ++n) {
      REQUIRE(journal->append(ended_jobs(n * 100, 100, 600)).ok());
      first.renew(mine);  // on a busy machine this alone outlasts the lease
    }
  }
  INFO("it takes longer than the lease, and the rival does not get it");
  std::size_t pages = 0, refused = 0;
  const auto journal = EtcdJournal::open(flock, mine, {}, [&] {
    ++pages;
    first.renew(mine);
    second.acquire(PartitionId{0}, mine.epoch, AgentId{1});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    for (const EpochEvent& event : second.poll()) {
      CHECK(std::holds_alternative<EpochRefused>(event));
      ++refused;
    }
  });
  REQUIRE(journal.ok());
  CHECK(journal.value()->recover().value().size() == 20'000);
  CHECK(pages > 5);
  CHECK(refused > 4);
  CHECK(first.holds_for(mine) > Duration{0});

  INFO("one that is stuck loses it");
  std::optional<Ownership> rival;
  const auto stuck = EtcdJournal::open(flock, mine, {}, [&] {
    if (rival) return;
    std::this_thread::sleep_for(std::chrono::seconds(3));
    rival = taken(second, mine.epoch, AgentId{1});
  });
  REQUIRE(stuck.ok());
  CHECK(stuck.value()->recover().error().code == Errc::fenced);
  CHECK(first.holds_for(mine) <= Duration{0});
}

TEST_CASE("a fenced writer is refused for good, and has changed nothing") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("fenced");
  REQUIRE(EtcdClient(flock).erase_prefix(etcd_root(flock)).ok());  // of the subcase before
  const Ownership first = next_epoch(flock);
  const auto zombie = open_or_fail(flock, first);
  CHECK(numbers(*zombie).empty());
  REQUIRE(zombie->append(life(1)).ok());

  const auto owner = open_or_fail(flock, next_epoch(flock));
  CHECK(numbers(*owner) == std::vector<std::uint64_t>{1});
  const auto refused = [&](const Status& status) {
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == Errc::fenced);
    CHECK(status.error().message.find("its epoch " + std::to_string(first.epoch.value)) !=
          std::string::npos);
  };
  SUBCASE("append") { refused(zombie->append(life(666))); }
  SUBCASE("compact") { refused(zombie->compact({})); }
  SUBCASE("append after compaction by the owner") {
    REQUIRE(owner->compact(life(1)).ok());
    refused(zombie->append(life(666)));
  }
  INFO("and again without asking");
  refused(zombie->append(life(667)));
  CHECK(EtcdJournal::open(flock, first).error().code == Errc::fenced);
  REQUIRE(owner->append(life(2)).ok());
  CHECK(numbers(*open_or_fail(flock, next_epoch(flock))) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a batch larger than an entry counts whole or not at all") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("large");
  std::vector<Record> batch;
  for (std::uint64_t n = 0; n < 9; ++n) batch.push_back(large(n, 60'000));
  {
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(journal->recover().value().empty());
    REQUIRE(journal->append(life(1)).ok());
    REQUIRE(journal->append(batch).ok());
  }
  std::vector<Record> all = life(1);
  all.insert(all.end(), batch.begin(), batch.end());
  {
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(same_records(journal->recover().value(), all));
    REQUIRE(journal->compact(all).ok());
    REQUIRE(journal->compact(life(1)).ok());
    REQUIRE(journal->append(batch).ok());
  }
  REQUIRE(open_or_fail(flock, next_epoch(flock))->recover().value().size() == 10);

  INFO(
      "the writer died before the last part: the batch is gone, and what comes next is in its "
      "place");
  EtcdClient client(flock);
  const std::string generation = EtcdKeys(flock, PartitionId{0}).journal + "0000000000000002/";
  const auto entries = client.range(generation, behind(generation), 100).value().entries;
  REQUIRE(entries.size() > 3);
  const std::string end = etcd_end_key(EtcdKeys(flock, PartitionId{0}));
  REQUIRE(client
              .txn({{},
                    {EtcdOp::erase(entries.back().key), EtcdOp::put(end, to_text(EtcdEnd{2, 1}))},
                    {}})
              .ok());
  const auto journal = open_or_fail(flock, next_epoch(flock));
  CHECK(numbers(*journal) == std::vector<std::uint64_t>{1});
  REQUIRE(journal->append(life(3)).ok());
  CHECK(numbers(*open_or_fail(flock, next_epoch(flock))) == std::vector<std::uint64_t>{1, 3});
  CHECK(client.range(generation, behind(generation), 100).value().entries.size() == 2);
}

TEST_CASE("a compaction that was broken off leaves nothing behind") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("broken-off");
  {
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(journal->recover().value().empty());
    REQUIRE(journal->append(life(1)).ok());
  }
  EtcdClient client(flock);
  const std::string begun =
      EtcdKeys(flock, PartitionId{0}).journal + "0000000000000001/0000000000000000";
  REQUIRE(client.txn({{}, {EtcdOp::put(begun, "half a snapshot")}, {}}).ok());
  const auto journal = open_or_fail(flock, next_epoch(flock));
  CHECK(numbers(*journal) == std::vector<std::uint64_t>{1});
  REQUIRE(journal->compact(life(7)).ok());
  CHECK(numbers(*open_or_fail(flock, next_epoch(flock))) == std::vector<std::uint64_t>{7});
}

namespace {

/// Four lives are in its journal, whose entries a test then spoils.
struct FourLives {
  explicit FourLives(TestEtcd& etcd, const char* name) : flock(etcd.flock(name)), client(flock) {
    REQUIRE(client.erase_prefix(etcd_root(flock)).ok());
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(numbers(*journal).empty());
    for (std::uint64_t n = 1; n <= 4; ++n) REQUIRE(journal->append(life(n)).ok());
  }
  std::string value(int seq) {
    return client.range(entry_key(flock, seq), behind(entry_key(flock, seq)), 1)
        .value()
        .entries.at(0)
        .value;
  }
  void put(const std::string& key, const std::string& bytes) {
    REQUIRE(client.txn({{}, {EtcdOp::put(key, bytes)}, {}}).ok());
  }
  void erase(const std::string& key) { REQUIRE(client.txn({{}, {EtcdOp::erase(key)}, {}}).ok()); }
  std::string recover_error() {
    const auto records = open_or_fail(flock, next_epoch(flock))->recover();
    REQUIRE_FALSE(records.ok());
    CHECK(records.error().code == Errc::invalid);
    return records.error().message;
  }

  EtcdAddress flock;
  EtcdClient client;
};

}  // namespace

TEST_CASE("damaged, missing and misplaced entries are named") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  FourLives four(*etcd, "damaged");
  SUBCASE("damaged") {
    std::string bytes = four.value(2);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    four.put(entry_key(four.flock, 2), bytes);
    CHECK(four.recover_error().find("02' does not match its checksum") != std::string::npos);
  }
  SUBCASE("cut off") {
    four.put(entry_key(four.flock, 2), "short");
    CHECK(four.recover_error().find("02' does not match its checksum") != std::string::npos);
  }
  SUBCASE("misplaced") {
    four.put(entry_key(four.flock, 2), four.value(1));
    CHECK(four.recover_error().find("02' does not match its checksum") != std::string::npos);
  }
  SUBCASE("missing") {
    four.erase(entry_key(four.flock, 1));
    CHECK(four.recover_error().find("01' is missing") != std::string::npos);
  }
  SUBCASE("the last one is missing") {
    four.erase(entry_key(four.flock, 3));
    CHECK(four.recover_error().find("1 entries are missing: ") != std::string::npos);
    CHECK(four.recover_error().find("03' was durable") != std::string::npos);
  }
  SUBCASE("the last one of a snapshot is missing") {
    const auto journal = open_or_fail(four.flock, next_epoch(four.flock));
    CHECK(numbers(*journal).size() == 4);
    std::vector<Record> snapshot;
    for (std::uint64_t n = 0; n < 9; ++n) snapshot.push_back(large(n, 60'000));
    REQUIRE(journal->compact(snapshot).ok());
    const std::string generation = etcd_generation(EtcdKeys(four.flock, PartitionId{0}), 1);
    const auto entries = four.client.range(generation, behind(generation), 100).value().entries;
    REQUIRE(entries.size() > 3);
    four.erase(entries.back().key);
    CHECK(four.recover_error().find(" entries are missing: ") != std::string::npos);
  }
}

TEST_CASE("what is missing can be gone without, on purpose") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  FourLives four(*etcd, "salvaged");
  four.erase(entry_key(four.flock, 2));
  auto opened = EtcdJournal::open(four.flock, next_epoch(four.flock));
  REQUIRE(opened.ok());
  auto& journal = dynamic_cast<EtcdJournal&>(*opened.value());
  auto found = journal.salvage();
  REQUIRE(found.ok());
  CHECK(found.value().lost.find("02' is missing") != std::string::npos);
  CHECK(found.value().records.size() == 2);
  INFO("until the rest is written anew it goes on to be missing");
  CHECK(four.recover_error().find("are missing") != std::string::npos);
  opened = EtcdJournal::open(four.flock, next_epoch(four.flock));
  auto& again = dynamic_cast<EtcdJournal&>(*opened.value());
  found = again.salvage();
  again.go_beyond(std::uint64_t{7} << 32U);
  REQUIRE(again.compact(found.value().records).ok());
  CHECK(again.position() > std::uint64_t{8} << 32U);
  CHECK(numbers(*open_or_fail(four.flock, next_epoch(four.flock))) ==
        std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("other formats are refused") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  FourLives four(*etcd, "formats");
  SUBCASE("another format") {
    four.put(EtcdKeys(four.flock, PartitionId{0}).head, "99 0");
    const auto opened = EtcdJournal::open(four.flock, next_epoch(four.flock));
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message.find("format is 99") != std::string::npos);
  }
  SUBCASE("not a head") {
    four.put(EtcdKeys(four.flock, PartitionId{0}).head, "hello");
    CHECK(EtcdJournal::open(four.flock, next_epoch(four.flock)).error().code == Errc::invalid);
  }
}

TEST_CASE("the position grows with every record, compaction and life") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("position");
  std::uint64_t last = 0;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(numbers(*journal).size() == round - 1);
    CHECK(journal->position() >= last);
    last = journal->position();
    REQUIRE(journal->append(life(100)).ok());
    CHECK(journal->position() == last + 1);
    std::vector<Record> snapshot;
    for (std::uint64_t n = 1; n <= round; ++n) snapshot.push_back(life(n).front());
    REQUIRE(journal->begin_compaction(snapshot).ok());
    CHECK(journal->position() == last + 1);
    while (journal->step_compaction().value()) {
    }
    CHECK(journal->position() > last + 1'000'000);
    last = journal->position();
  }
}

TEST_CASE("a long journal is read in pages") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("long");
  std::vector<std::uint64_t> expected;
  {
    const auto journal = open_or_fail(flock, next_epoch(flock));
    CHECK(numbers(*journal).empty());
    for (std::uint64_t n = 1; n <= 1100; ++n) {
      REQUIRE(journal->append(life(n)).ok());
      expected.push_back(n);
    }
  }
  CHECK(numbers(*open_or_fail(flock, next_epoch(flock))) == expected);

  INFO("a gap longer than a page is no end, also where it was not written down where that is");
  EtcdClient client(flock);
  const EtcdKeys keys(flock, PartitionId{0});
  REQUIRE(
      client
          .txn({{},
                {EtcdOp::erase(etcd_end_key(keys)),
                 EtcdOp::erase_range(etcd_entry_key(keys, 0, 50), etcd_entry_key(keys, 0, 1098))},
                {}})
          .ok());
  const auto broken = open_or_fail(flock, next_epoch(flock))->recover();
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().message.find("0032' is missing") != std::string::npos);
}
