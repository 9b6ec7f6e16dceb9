// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_journal.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

#include "base/rng.h"
#include "base/test_folder.h"
#include "store/journal_battery.h"
#include "store/test_batches.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

struct Folder : TestFolder {
  Folder() : TestFolder("store") {}
  [[nodiscard]] fs::path journal() const { return path / "journal.sqlite"; }
};

std::unique_ptr<Journal> open_or_fail(const fs::path& path) {
  auto journal = SqliteJournal::open(path);
  if (!journal) FAIL(journal.error().message);
  return std::move(journal).value();
}

void tamper(const fs::path& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

/// Appends batches for ever, telling how many are durable; ends by a signal, or with 0 when the
/// disk refuses.
[[noreturn]] void append_until_stopped(const fs::path& path, int acknowledge, std::uint64_t first) {
  auto journal = SqliteJournal::open(path);
  if (!journal) ::_exit(2);
  const auto recovered = journal.value()->recover();
  if (!recovered) ::_exit(3);
  for (std::uint64_t n = first;; ++n) {
    const std::vector<Record> whole = batch(n);
    const Status appended = journal.value()->append(whole);
    if (!appended.ok()) {
      const bool final = journal.value()->append(whole).error().code == Errc::io;
      ::_exit(appended.error().code == Errc::io && final ? 0 : 4);
    }
    if (::write(acknowledge, &n, sizeof n) != sizeof n) ::_exit(5);
  }
}

std::uint64_t last_acknowledged(int fd, std::uint64_t before) {
  std::uint64_t n = before;
  for (std::uint64_t next = 0; ::read(fd, &next, sizeof next) == sizeof next;) n = next;
  return n;
}

}  // namespace

TEST_CASE("a journal in SQLite compacts in steps and has an archive") {
  Folder folder;
  steps_battery([&](std::unique_ptr<Journal> old) {
    old.reset();
    return open_or_fail(folder.journal());
  });
}

TEST_CASE("a journal in SQLite passes the battery") {
  Folder folder;
  journal_battery([&](std::unique_ptr<Journal> old) {
    old.reset();
    return open_or_fail(folder.journal());
  });
}

TEST_CASE("a second opener is refused and told which process has it") {
  Folder folder;
  const auto first = open_or_fail(folder.journal());
  const auto second = SqliteJournal::open(folder.journal());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == Errc::conflict);
  CHECK(second.error().message.find("process " + std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("damaged, missing and misplaced rows are named; foreign files are refused untouched") {
  Folder folder;
  REQUIRE(open_or_fail(folder.journal())->append(sample_records()).ok());
  const auto recover_error = [&] {
    const auto records = open_or_fail(folder.journal())->recover();
    REQUIRE_FALSE(records.ok());
    CHECK(records.error().code == Errc::invalid);
    return records.error().message;
  };
  SUBCASE("damaged") {
    tamper(folder.journal(), "UPDATE record SET body = x'0501' WHERE seq = 4");
    CHECK(recover_error().find("row 4 does not match its checksum") != std::string::npos);
  }
  SUBCASE("missing in the middle") {
    tamper(folder.journal(), "DELETE FROM record WHERE seq = 5");
    CHECK(recover_error().find("row 5 is missing") != std::string::npos);
  }
  SUBCASE("missing at the front") {
    tamper(folder.journal(), "DELETE FROM record WHERE seq = 1");
    CHECK(recover_error().find("row 1 is missing") != std::string::npos);
  }
  SUBCASE("another format") {
    tamper(folder.journal(), "PRAGMA user_version = 99");
    CHECK(SqliteJournal::open(folder.journal()).error().message.find("format is 99") !=
          std::string::npos);
  }
  SUBCASE("another program's database") {
    tamper(folder.path / "other", "CREATE TABLE t (x)");
    CHECK(SqliteJournal::open(folder.path / "other").error().code == Errc::invalid);
  }
  SUBCASE("not a database") {
    std::ofstream(folder.path / "text") << std::string(5000, 'x');
    CHECK(SqliteJournal::open(folder.path / "text").error().code == Errc::invalid);
  }
  SUBCASE("damaged pages, noticed when it is opened") {
    // Every page but the first, which says that it is a journal: what is opened removes the rows of
    // a compaction that was broken off.
    const auto size = static_cast<std::streamoff>(fs::file_size(folder.journal()));
    std::fstream file(folder.journal(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::streamoff page = 4096; page < size; page += 4096) {
      file.seekp(page);
      file.write("\xff\xff\xff\xff", 4);
    }
    file.close();
    const auto opened = SqliteJournal::open(folder.journal());
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == Errc::invalid);
    CHECK(opened.error().message.find("this is not a readable journal") != std::string::npos);
  }
  SUBCASE("no such folder") {
    CHECK(SqliteJournal::open(folder.path / "no" / "where").error().code == Errc::io);
  }
}

TEST_CASE("a journal is one node's, and a copy in another's folder is refused") {
  const Folder folder;
  StoreOptions options;
  const auto open_as = [&](std::uint32_t node) {
    options.node = node;
    return SqliteJournal::open(folder.journal(), options);
  };
  CHECK(open_or_fail(folder.journal())->append(batch(1)).ok());  // of an earlier version
  CHECK(open_as(3).value()->append(batch(2)).ok());
  const auto other = open_as(4);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Errc::invalid);
  CHECK(other.error().message.find("it is of node 3, not of node 4") != std::string::npos);
  CHECK(open_as(3).ok());
  CHECK(open_as(0).value()->recover().value().size() == batch(1).size() + batch(2).size());
}

TEST_CASE("what goes to a file that was removed is not acknowledged") {
  const Folder folder;
  const fs::path state = folder.path / "state", file = state / "journal.sqlite";
  fs::create_directory(state);
  auto journal = open_or_fail(file);
  REQUIRE(journal->append(batch(1)).ok());
  SUBCASE("the whole folder") { fs::remove_all(state); }
  SUBCASE("the journal alone") { fs::remove(file); }
  SUBCASE("another one in its place") {
    fs::copy_file(file, state / "copy");
    fs::rename(state / "copy", file);
  }
  SUBCASE("a folder that was moved has it still") {
    fs::rename(state, folder.path / "moved");
    CHECK(journal->append(batch(2)).ok());
    journal.reset();
    CHECK(open_or_fail(folder.path / "moved" / "journal.sqlite")->recover().value().size() ==
          batch(1).size() + batch(2).size());
    return;
  }
  const Status refused = journal->append(batch(2));
  CHECK(refused.error().code == Errc::io);
  CHECK(refused.error().message.find("was removed or replaced") != std::string::npos);
  CHECK_FALSE(journal->append(batch(3)).ok());
}

TEST_CASE("killed at any moment: everything acknowledged is there, whole batches only") {
  Folder folder;
  Rng rng(3);
  std::uint64_t acknowledged = 0;
  std::uint64_t durable = 0;
  for (int round = 0; round < 20; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe2(pipe_ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) append_until_stopped(folder.journal(), pipe_ends[1], durable + 1);
    ::close(pipe_ends[1]);
    ::usleep(2'000 + rng.below(40'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    // What an earlier life made durable without a word is known to this one.
    acknowledged = last_acknowledged(pipe_ends[0], durable);
    ::close(pipe_ends[0]);
    durable = last_batch(open_or_fail(folder.journal())->recover().value());
    CHECK(durable >= acknowledged);
    CHECK(durable <= acknowledged + 1);
  }
  CHECK(acknowledged > 20);
}

TEST_CASE("a full disk refuses the append for good; what was acknowledged is there afterwards") {
  Folder folder;
  int pipe_ends[2];
  REQUIRE(::pipe2(pipe_ends, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(pipe_ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a writer that does not notice goes on for ever
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(6);
    append_until_stopped(folder.journal(), pipe_ends[1], 1);
  }
  ::close(pipe_ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const std::uint64_t acknowledged = last_acknowledged(pipe_ends[0], 0);
  ::close(pipe_ends[0]);
  CHECK(acknowledged > 10);
  const auto journal = open_or_fail(folder.journal());
  CHECK(last_batch(journal->recover().value()) == acknowledged);
  CHECK(journal->append(sample_records()).ok());
}
