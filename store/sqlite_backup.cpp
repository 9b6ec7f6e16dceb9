#include "store/sqlite_backup.h"

#include <sqlite3.h>

#include <memory>
#include <string>

#include "store/journal_head.h"

namespace starling {
namespace {

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Database = std::unique_ptr<sqlite3, Close>;

Database open(const std::filesystem::path& path, int flags) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  if (db != nullptr) sqlite3_busy_timeout(db, 5000);
  return Database(db);
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
  const Database source = open(from, SQLITE_OPEN_READONLY);
  const Database copy = open(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // One step: the whole as of one moment. Who writes meanwhile does not wait for it.
  sqlite3_backup* backup = sqlite3_backup_init(copy.get(), "main", source.get(), "main");
  if (backup == nullptr) return refused(to, copy.get());
  const int stepped = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) return refused(from, copy.get());
  // Without a log of its own it is one file.
  sqlite3_exec(copy.get(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(copy.get(),
                     "SELECT max((SELECT value - 1 FROM meta WHERE name = 'first'),"
                     " (SELECT coalesce(max(seq), 0) FROM record))",
                     -1, &statement, nullptr);
  const bool read = statement != nullptr && sqlite3_step(statement) == SQLITE_ROW;
  const auto last = read ? static_cast<std::uint64_t>(sqlite3_column_int64(statement, 0)) : 0;
  sqlite3_finalize(statement);
  if (!read) return Error{Errc::invalid, "'" + from.string() + "' is not a journal"};
  if (auto head = JournalHead::open(to, last); !head) return head.error();
  return last;
}

}  // namespace starling
