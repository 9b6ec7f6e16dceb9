// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/loss.h"
#include "store/sqlite/disk_reserve.h"
#include "store/sqlite/journal_head.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/sqlite_journal.h"
#include "store/sqlite/sqlite_statement.h"

namespace starling {

/// What a SqliteJournal has open, and how it writes.
struct SqliteJournal::Database {
  std::filesystem::path path;
  LockFile lock;
  sqlite3* db = nullptr;
  Statement insert;
  std::int64_t next_seq = 1;
  JournalHead head;
  DiskReserve reserve;
  std::uint64_t bytes = 0;  // of the rows that count
  std::size_t step_bytes = 0;
  std::optional<Error> failed;
  std::vector<std::byte> buffer;

  /// Rows behind those that count, from the one that meta calls `next`, until they do; then what is
  /// left of the old ones.
  struct Compaction {
    std::vector<Record> records;
    std::size_t written = 0;  // of `records`
    std::int64_t first = 0, seq = 0;
    std::uint64_t bytes = 0;
    bool counts = false;
    std::int64_t removed = 0, old_end = 0;
  };
  std::optional<Compaction> compaction;

  ~Database() {
    insert.reset();
    sqlite3_close(db);
  }

  [[nodiscard]] Error error(Errc code, const std::string& what) const {
    return {code, "journal '" + path.string() + "': " + what};
  }
  [[nodiscard]] Error refused(const char* doing) const {
    return error(Errc::io, std::string("cannot ") + doing + ": " + sqlite3_errmsg(db));
  }
  bool run(const char* sql) {
    return sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] Statement prepare(const char* sql) const { return starling::prepare(db, sql); }
  /// The one number that a query answers; none if it fails.
  [[nodiscard]] std::optional<std::int64_t> number(const char* sql) const {
    const Statement statement = prepare(sql);
    if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return std::nullopt;
    return sqlite3_column_int64(statement.get(), 0);
  }
  /// The last call failed because the disk has no room.
  [[nodiscard]] bool is_full() const {
    if (db == nullptr) return false;
    const int code = sqlite3_extended_errcode(db);
    return code == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE;
  }

  /// Locks, opens and checks the file at `path`.
  Status open(const StoreOptions& options);
  Status prepare_file(const StoreOptions& options);
  bool write(const Record& record, std::int64_t seq);
  /// One transaction, or nothing. Where the disk is full `what` is done again from its beginning,
  /// in room that was made for it.
  Status transact(const std::function<bool()>& what);
  /// Some of the compaction that is not written yet, and with the last of it the switch.
  bool write_next();
  /// So far it is durable.
  Status note();
  [[nodiscard]] Error lost(const std::string& what) const {
    return error(Errc::invalid, what + kAfterLoss);
  }
  /// Of a file that is to be opened: damage stays, however often it is tried again.
  [[nodiscard]] Error unusable(const char* doing) const {
    const int code = sqlite3_errcode(db);
    if (code != SQLITE_NOTADB && code != SQLITE_CORRUPT) return refused(doing);
    return lost(std::string("this is not a readable journal: ") + sqlite3_errmsg(db));
  }
  /// Compares the journal with what is known of its end, and opens its head for the appends to
  /// come.
  Status check_head(bool fresh);
};

}  // namespace starling
