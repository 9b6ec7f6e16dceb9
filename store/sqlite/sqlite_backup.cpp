// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_backup.h"

#include <string>

#include "store/sqlite/journal_head.h"
#include "store/sqlite/sqlite_statement.h"

namespace starling {
namespace {

SqliteFile open(const std::filesystem::path& path, int flags) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  if (db != nullptr) sqlite3_busy_timeout(db, 5000);
  return SqliteFile(db);
}

Error refused(const std::filesystem::path& path, sqlite3* db) {
  const int code = sqlite3_errcode(db);
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return {damaged ? Errc::invalid : Errc::io,
          "cannot copy the journal '" + path.string() + "': " + sqlite3_errmsg(db)};
}

}  // namespace

Result<std::uint64_t> back_up_journal(const std::filesystem::path& from,
                                      const std::filesystem::path& to) {
  const SqliteFile source = open(from, SQLITE_OPEN_READONLY);
  const SqliteFile copy = open(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // One step: the whole as of one moment. A writer does not wait for it meanwhile.
  sqlite3_backup* backup = sqlite3_backup_init(copy.get(), "main", source.get(), "main");
  if (backup == nullptr) return refused(to, copy.get());
  const int stepped = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) return refused(from, copy.get());
  // Without a log of its own it is one file.
  sqlite3_exec(copy.get(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  const Statement number = prepare(copy.get(), kLastRecord);
  if (!number || sqlite3_step(number.get()) != SQLITE_ROW)
    return Error{Errc::invalid, "'" + from.string() + "' is not a journal"};
  const auto last = static_cast<std::uint64_t>(sqlite3_column_int64(number.get(), 0));
  if (auto head = JournalHead::open(to, last); !head) return head.error();
  return last;
}

}  // namespace starling
