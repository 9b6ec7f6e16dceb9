// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/disk_reserve.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

#include "agents/limited_room.h"
#include "base/test_folder.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

/// A disk of 16 MiB; only root can have one.
struct SmallDisk : TestFolder {
  SmallDisk() : TestFolder("reserve") {
    mounted = ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=16m,mode=700") == 0;
    if (!mounted) MESSAGE("left out: a small disk cannot be mounted here");
  }
  ~SmallDisk() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// To the last byte.
  void fill() const {
    const std::string block(4096, 'x');
    const int fd = ::open((path / "filler").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    REQUIRE(fd >= 0);
    while (::write(fd, block.data(), block.size()) > 0) {
    }
    ::close(fd);
  }
  void empty() const { fs::remove(path / "filler"); }
  [[nodiscard]] fs::path journal() const { return path / "journal.db"; }

  bool mounted = false;
};

bool is_short(Journal& journal) { return dynamic_cast<LimitedRoom&>(journal).short_of_room(); }

std::unique_ptr<Journal> open_on(const SmallDisk& disk, bool reserve) {
  StoreOptions options;
  options.reserve = reserve;
  auto journal = SqliteJournal::open(disk.journal(), options);
  if (!journal) FAIL(journal.error().message);
  return std::move(journal).value();
}

}  // namespace

TEST_CASE("a reserve is taken while there is room, given back in pieces, and taken again") {
  const SmallDisk disk;
  if (!disk.mounted) return;
  DiskReserve reserve(disk.path / "reserve");
  CHECK(reserve.refill());
  CHECK_FALSE(reserve.is_short());
  CHECK(fs::file_size(disk.path / "reserve") == (16U << 20U) / DiskReserve::kShare);
  disk.fill();
  CHECK_FALSE(reserve.refill());  // it has all, and others write there, too
  int pieces = 0;
  while (reserve.release()) {
    ++pieces;
    CHECK_FALSE(reserve.refill());
    disk.fill();
  }
  CHECK(pieces == 8);
  CHECK(reserve.is_short());
  disk.empty();
  CHECK(reserve.refill());
  CHECK_FALSE(reserve.is_short());
  disk.empty();
  CHECK_FALSE(DiskReserve().release());
  CHECK(DiskReserve().refill());
}

TEST_CASE("a journal goes on, and is opened, on a disk that is full") {
  const SmallDisk disk;
  if (!disk.mounted) return;
  std::uint64_t n = 0;
  {
    const auto journal = open_on(disk, true);
    REQUIRE(journal->recover().ok());
    CHECK(journal->append(batch(++n)).ok());
    CHECK_FALSE(is_short(*journal));
    disk.fill();
    for (int i = 0; i < 300; ++i) {
      REQUIRE(journal->append(batch(++n)).ok());
      if (i % 10 == 0) disk.fill();  // others write there, too
    }
    CHECK(is_short(*journal));
  }
  {
    disk.fill();
    const auto journal = open_on(disk, true);
    CHECK(last_batch(journal->recover().value()) == n);
    for (int i = 0; i < 20; ++i) REQUIRE(journal->append(batch(++n)).ok());
    CHECK(is_short(*journal));
    disk.empty();
    CHECK_FALSE(is_short(*journal));
    CHECK(journal->append(batch(++n)).ok());
  }
  CHECK(last_batch(open_on(disk, true)->recover().value()) == n);
}

TEST_CASE("a compaction that meets a full disk is done in the reserve, or not at all") {
  const SmallDisk disk;
  if (!disk.mounted) return;
  auto journal = open_on(disk, true);
  REQUIRE(journal->recover().ok());
  std::vector<Record> all;
  std::uint64_t n = 0;
  while (n < 60) {
    const std::vector<Record> next = batch(++n);
    all.insert(all.end(), next.begin(), next.end());
    REQUIRE(journal->append(next).ok());
  }
  disk.fill();
  CHECK(journal->compact(all).ok());
  CHECK(journal->append(batch(++n)).ok());
  journal.reset();
  CHECK(last_batch(open_on(disk, true)->recover().value()) == n);
}

TEST_CASE("a reserve that is used up: the write is refused, for good") {
  const SmallDisk disk;
  if (!disk.mounted) return;
  for (const bool reserve : {false, true}) {
    CAPTURE(reserve);
    const auto journal = open_on(disk, reserve);
    const std::uint64_t before = last_batch(journal->recover().value());
    std::uint64_t n = before;
    disk.fill();
    while (journal->append(batch(n + 1)).ok()) {
      ++n;
      disk.fill();
      REQUIRE(n < before + 100'000);
    }
    CHECK((n > before + 100) == reserve);
    disk.empty();
    CHECK(journal->append(batch(n + 1)).error().code == Errc::io);
  }
}
