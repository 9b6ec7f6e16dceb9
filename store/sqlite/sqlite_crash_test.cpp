// SPDX-License-Identifier: Apache-2.0
// A journal after every way in which its disk can let it down: what was acknowledged is there, or
// recovery says that it is not.
//
// STARLING_EVERY=1 tries every byte and every bit; otherwise one in so many, for a test of seconds.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/test_folder.h"
#include "store/sqlite/crash_vfs.h"
#include "store/sqlite/journal_head.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/test_batches.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBatches = 12;

/// In memory where there is such a folder: only what SQLite is told counts here, not the real disk.
struct Folder : TestFolder {
  Folder() : TestFolder("crash", fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) {}
  [[nodiscard]] fs::path journal() const { return path / "journal.sqlite"; }
  [[nodiscard]] fs::path log() const { return path / "journal.sqlite-wal"; }
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::size_t stride(std::size_t otherwise) {
  const char* every = std::getenv("STARLING_EVERY");
  return every == nullptr ? otherwise : static_cast<std::size_t>(std::atoi(every));
}

/// The files as a killed writer leaves them: half of the batches in the database, half in the log.
struct Left {
  std::string journal, log;
  std::vector<std::size_t> log_sizes;  ///< after each batch of the log
};

Left leave() {
  Folder folder;
  for (std::uint64_t n = 1; n <= kBatches / 2; ++n) {
    REQUIRE(SqliteJournal::open(folder.journal()).value()->append(batch(n)).ok());
  }
  const auto journal = std::move(SqliteJournal::open(folder.journal()).value());
  Left left;
  for (std::uint64_t n = kBatches / 2 + 1; n <= kBatches; ++n) {
    REQUIRE(journal->append(batch(n)).ok());
    left.log_sizes.push_back(fs::file_size(folder.log()));
  }
  left.journal = read(folder.journal());
  left.log = read(folder.log());
  return left;
}

/// The last batch there; none: an error that says why.
std::optional<std::uint64_t> recovered(const Folder& folder) {
  const auto opened = SqliteJournal::open(folder.journal(), {.sync = false});
  if (!opened.ok()) {
    CHECK_FALSE(opened.error().message.empty());
    return std::nullopt;
  }
  const auto records = opened.value()->recover();
  if (!records.ok()) {
    CHECK_FALSE(records.error().message.empty());
    return std::nullopt;
  }
  return last_batch(records.value());
}

/// The same of these files, and a head that says that `durable` batches were written.
std::optional<std::uint64_t> recovered(const Folder& folder, const std::string& journal,
                                       const std::string& log, std::uint64_t durable = kBatches) {
  for (const auto& entry : fs::directory_iterator(folder.path)) fs::remove(entry.path());
  std::uint64_t records = 0;
  for (std::uint64_t n = 1; n <= durable; ++n) records += batch(n).size();
  REQUIRE(JournalHead::open(folder.journal(), records).ok());
  write(folder.journal(), journal);
  if (!log.empty()) write(folder.log(), log);
  return recovered(folder);
}

/// Appends, also between the steps of a compaction, telling what is durable, on a disk whose power
/// fails.
[[noreturn]] void write_until_dark(const fs::path& path, int acknowledge, const PowerCut& cut) {
  install(cut);
  StoreOptions options;
  options.step_bytes = 1;
  auto opened = SqliteJournal::open(path, options);
  if (!opened.ok() || !opened.value()->recover().ok()) ::_exit(2);
  Journal& journal = *opened.value();
  std::vector<Record> all;
  for (std::uint64_t n = 1; n <= 6; ++n) {
    const std::vector<Record> next = batch(n);
    if (!journal.append(next).ok()) ::_exit(3);
    if (::write(acknowledge, &n, sizeof n) != sizeof n) ::_exit(4);
    all.insert(all.end(), next.begin(), next.end());
    if (n == 3 && !journal.begin_compaction(all).ok()) ::_exit(5);
    if (n > 3 && !journal.step_compaction().ok()) ::_exit(6);
  }
  for (Result<bool> more = true; more.value();) {
    more = journal.step_compaction();
    if (!more.ok()) ::_exit(7);
  }
  opened.value().reset();
  ::_exit(0);
}

}  // namespace

TEST_CASE("power is lost at any call of the disk: all that was acknowledged is there") {
  std::uint64_t cuts = 0;
  for (std::uint64_t call = 1;; ++call) {
    bool dark = false;
    for (std::uint32_t kept = 0; kept < 12; ++kept) {
      for (const bool torn : {false, true}) {
        CAPTURE(call);
        CAPTURE(kept);
        CAPTURE(torn);
        Folder folder;
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        const pid_t child = ::fork();
        if (child == 0) write_until_dark(folder.journal(), ends[1], {call, kept, torn});
        ::close(ends[1]);
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFEXITED(status));
        dark = WEXITSTATUS(status) == 9;
        REQUIRE((dark || WEXITSTATUS(status) == 0));
        std::uint64_t acknowledged = 0;
        for (std::uint64_t n = 0; ::read(ends[0], &n, sizeof n) == sizeof n;) acknowledged = n;
        ::close(ends[0]);
        const auto last = recovered(folder);
        REQUIRE(last.has_value());
        CHECK(*last >= acknowledged);
        CHECK(*last <= acknowledged + 1);
        ++cuts;
        if (!dark) break;
      }
      if (!dark) break;
    }
    if (!dark) break;
  }
  MESSAGE(cuts << " power cuts");
  CHECK(cuts > 200);
}

TEST_CASE("a log cut off at any byte: all that had been synced by then, or an error") {
  const Left left = leave();
  Folder folder;
  std::uint64_t tried = 0, told = 0;
  for (std::size_t size = 0; size <= left.log.size(); size += stride(97)) {
    CAPTURE(size);
    std::uint64_t synced = kBatches / 2;
    for (const std::size_t end : left.log_sizes) synced += end <= size ? 1 : 0;
    // Power was cut before more was durable: then no peer was told of more, nor was the head.
    const auto last = recovered(folder, left.journal, left.log.substr(0, size), synced);
    REQUIRE(last.has_value());
    CHECK(*last == synced);
    // Or it was durable, and was cut afterwards.
    const auto cut = recovered(folder, left.journal, left.log.substr(0, size));
    CHECK(cut.has_value() == (synced == kBatches));
    told += cut ? 0 : 1;
    ++tried;
  }
  MESSAGE(tried << " lengths, " << told << " of them told");
}

TEST_CASE("a database cut off at any byte: an error") {
  const Left left = leave();
  Folder folder;
  for (std::size_t size = 1; size < left.journal.size(); size += stride(131)) {
    CAPTURE(size);
    const auto last = recovered(folder, left.journal.substr(0, size), left.log);
    CHECK((!last || *last == kBatches));
  }
}

TEST_CASE("any bit flipped in the log: an error, or nothing is missing") {
  const Left left = leave();
  Folder folder;
  std::uint64_t tried = 0, errors = 0;
  for (std::size_t bit = 0; bit < left.log.size() * 8; bit += stride(797)) {
    CAPTURE(bit);
    std::string log = left.log;
    log[bit / 8] = static_cast<char>(log[bit / 8] ^ (1 << (bit % 8)));
    const auto last = recovered(folder, left.journal, log);
    ++tried;
    errors += last ? 0 : 1;
    CHECK((!last || *last == kBatches));
  }
  MESSAGE(tried << " bits: " << errors << " errors");
}

TEST_CASE("any bit flipped in the database: an error, or nothing is missing") {
  const Left left = leave();
  Folder folder;
  std::uint64_t tried = 0, errors = 0;
  for (const bool with_log : {true, false}) {
    // Without a log: all batches in the database.
    std::string journal = left.journal;
    if (!with_log) {
      REQUIRE(recovered(folder, left.journal, left.log) == kBatches);
      journal = read(folder.journal());
    }
    for (std::size_t bit = 0; bit < journal.size() * 8; bit += stride(797)) {
      CAPTURE(bit);
      std::string damaged = journal;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const auto last = recovered(folder, damaged, with_log ? left.log : std::string());
      ++tried;
      errors += last ? 0 : 1;
      CHECK((!last || *last == kBatches));
    }
  }
  MESSAGE(tried << " bits: " << errors << " errors");
}

TEST_CASE("what is gone as a whole is told") {
  const Left left = leave();
  Folder folder;
  const auto refusal = [&](const StoreOptions& options = {}) -> std::string {
    auto opened = SqliteJournal::open(folder.journal(), options);
    if (!opened) return opened.error().message;
    const auto records = opened.value()->recover();
    return records ? "" : records.error().message;
  };
  REQUIRE(recovered(folder, left.journal, left.log) == kBatches);
  SUBCASE("the log") {
    write(folder.journal(), left.journal);
    CHECK(refusal().find("records are missing: it ends with record") != std::string::npos);
  }
  SUBCASE("the database and its log") {
    fs::remove(folder.journal());
    CHECK(refusal().find("records are missing: it ends with record 0,") != std::string::npos);
  }
  SUBCASE("the database and its log, emptied") {
    write(folder.journal(), "");
    CHECK(refusal().find("it ends with record 0,") != std::string::npos);
  }
  SUBCASE("the head") {
    fs::remove(JournalHead::beside(folder.journal()));
    CHECK(refusal().find("it is not known whether records are missing") != std::string::npos);
  }
  SUBCASE("everything, and an earlier life had begun it") {
    fs::remove(folder.journal());
    fs::remove(JournalHead::beside(folder.journal()));
    CHECK(refusal({.begun = true}).find("an earlier life of this node wrote to it") !=
          std::string::npos);
    CHECK(refusal().empty());
  }
  SUBCASE("the head is damaged") {
    write(JournalHead::beside(folder.journal()), "starling journal head, last 12");
    CHECK(refusal().find("is damaged") != std::string::npos);
  }
}

TEST_CASE("a journal of an earlier version, which has no head, gets one") {
  Folder folder;
  REQUIRE(std::move(SqliteJournal::open(folder.journal()).value())->append(batch(1)).ok());
  fs::remove(JournalHead::beside(folder.journal()));
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(folder.journal().c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, "DELETE FROM meta WHERE name='head'", nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  sqlite3_close(db);
  CHECK(recovered(folder) == 1);
  CHECK(JournalHead::read(folder.journal()).value() == batch(1).size());
  fs::remove(JournalHead::beside(folder.journal()));
  CHECK_FALSE(recovered(folder).has_value());
}
