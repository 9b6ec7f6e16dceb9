// SPDX-License-Identifier: Apache-2.0
// Damage in a write-ahead log that SQLite would take for its end, told before SQLite drops it.
#include "store/sqlite/wal_check.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/test_folder.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeader = 32, kFrameHeader = 24;

/// A database and its log of six batches, as a killed writer leaves them.
struct Log {
  Log() : folder("wal") {
    TestFolder written("wal_written");
    const fs::path from = written.path / "journal.sqlite";
    const auto journal = std::move(SqliteJournal::open(from).value());
    for (std::uint64_t n = 1; n <= 6; ++n) REQUIRE(journal->append(batch(n)).ok());
    fs::copy_file(from, database());
    std::ifstream in(from.string() + "-wal", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    REQUIRE(frames() > 4);
  }
  [[nodiscard]] fs::path database() const { return folder.path / "journal.sqlite"; }
  [[nodiscard]] std::size_t frame() const {
    std::size_t page = 0;
    for (std::size_t i = 8; i < 12; ++i) page = page << 8U | static_cast<unsigned char>(bytes[i]);
    return kFrameHeader + page;
  }
  [[nodiscard]] std::size_t frames() const { return (bytes.size() - kHeader) / frame(); }
  /// The first byte behind the header of frame `n`, from 0.
  [[nodiscard]] std::size_t page_of(std::size_t n) const {
    return kHeader + n * frame() + kFrameHeader;
  }
  void flip(std::size_t at) { bytes[at] = static_cast<char>(bytes[at] ^ 1); }
  /// What is said of the log as it is now; empty: nothing.
  [[nodiscard]] std::string said() const {
    std::ofstream(database().string() + "-wal", std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const Status checked = check_write_ahead_log(database());
    if (checked.ok()) return {};
    CHECK(checked.error().code == Errc::invalid);
    return checked.error().message;
  }
  TestFolder folder;
  std::string bytes;
};

TEST_CASE("a log that is whole, missing, empty or torn at its end is as a crash leaves it") {
  Log log;
  CHECK(check_write_ahead_log(log.database()).ok());
  CHECK(log.said() == "");
  SUBCASE("the last frame is damaged") { log.flip(log.page_of(log.frames() - 1)); }
  SUBCASE("in the middle of a frame") { log.bytes.resize(log.bytes.size() - 100); }
  SUBCASE("before the end of the first frame") { log.bytes.resize(log.page_of(0)); }
  SUBCASE("nothing is there") { log.bytes.clear(); }
  CHECK(log.said() == "");
}

TEST_CASE("damage in front of a transaction that was synced later is told") {
  Log log;
  SUBCASE("in a page") {
    log.flip(log.page_of(1));
    CHECK(log.said().find("frame 2 is damaged, and ") != std::string::npos);
  }
  SUBCASE("in a frame's checksum") {
    log.flip(log.page_of(0) - 1);
    CHECK(log.said().find("frame 1 is damaged, and ") != std::string::npos);
  }
  SUBCASE("in the log's header") {
    log.flip(16);
    CHECK(log.said().find("its header is damaged") != std::string::npos);
  }
  SUBCASE("its database is gone") {
    fs::remove(log.database());
    CHECK(log.said().find("its database is gone") != std::string::npos);
  }
}

}  // namespace
}  // namespace starling
