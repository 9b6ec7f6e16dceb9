// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_copy.h"

#include <fstream>

#include "store/etcd/etcd_entries.h"
#include "store/etcd/etcd_journal.h"
#include "store/etcd/test_etcd.h"

using namespace starling;

namespace {

std::vector<Record> life(std::uint64_t n) { return {LifeBegan{Incarnation{n}, Epoch{1}}}; }

std::unique_ptr<Journal> open_or_fail(const EtcdAddress& flock) {
  auto journal = EtcdJournal::open(flock, next_epoch(flock));
  if (!journal) FAIL(journal.error().message);
  return std::move(journal).value();
}

}  // namespace

TEST_CASE("a flock in etcd is copied as of one moment, checked, and put into an empty place") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const TestFolder folder("copy");
  const auto file = folder.path / "etcd.copy";
  const EtcdAddress flock = etcd->flock("copied");
  EtcdClient client(flock);
  REQUIRE(client.erase_prefix(etcd_root(flock)).ok());
  std::uint64_t position = 0;
  {
    const auto journal = open_or_fail(flock);
    REQUIRE(journal->recover().ok());
    REQUIRE(journal->append(life(1)).ok());
    REQUIRE(journal->compact(life(2)).ok());
    for (std::uint64_t n = 3; n <= 200; ++n) REQUIRE(journal->append(life(n)).ok());
    REQUIRE(journal->archive(1, life(50)).ok());
    position = journal->position();
    REQUIRE(copy_from_etcd(flock, file).ok());
    REQUIRE(journal->append(life(999)).ok());
  }
  const auto copy = check_etcd_copy(file);
  if (!copy) FAIL(copy.error().message);
  REQUIRE(copy.value().partitions.size() == 1);
  CHECK(copy.value().partitions.at(PartitionId{0}).position == position);
  CHECK(copy.value().partitions.at(PartitionId{0}).life == 200);
  CHECK_FALSE(copy_from_etcd(flock, file).ok());

  INFO("where there is a flock it is not put");
  CHECK(copy_to_etcd(flock, file, {}).error().code == Errc::conflict);
  REQUIRE(client.erase_prefix(etcd_root(flock)).ok());
  INFO("what an earlier try left unfinished is no flock");
  REQUIRE(client
              .txn({{},
                    {EtcdOp::put(etcd_root(flock) + "restoring", ""),
                     EtcdOp::put(etcd_root(flock) + "x", "")},
                    {}})
              .ok());
  const std::string told = etcd_told_key(EtcdKeys(flock, PartitionId{0}));
  const Status put = copy_to_etcd(flock, file, {EtcdOp::put(told, "old")});
  if (!put.ok()) FAIL(put.error().message);
  CHECK(client.get(told).value().value().value == "old");
  CHECK(client.range(etcd_root(flock) + "x", etcd_root(flock) + "y", 1).value().entries.empty());
  const auto journal = open_or_fail(flock);
  CHECK(journal->recover().value().size() == 199);
  CHECK(journal->position() == position);
  CHECK(journal->archived(1).value().size() == 1);

  INFO("damage is found");
  std::ifstream in(file, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(file, std::ios::binary) << bad;
    CHECK_FALSE_MESSAGE(check_etcd_copy(file).ok(), at);
  }
  std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() - 1);
  CHECK_FALSE(check_etcd_copy(file).ok());
}
