// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <memory>

namespace starling {

struct SqliteClose {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteFile = std::unique_ptr<sqlite3, SqliteClose>;
using Statement = std::unique_ptr<sqlite3_stmt, SqliteClose>;

/// Null if SQLite does not take it.
[[nodiscard]] inline Statement prepare(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  return Statement(statement);
}

/// Answers the number of a journal's last record.
inline constexpr const char* kLastRecord =
    "SELECT max((SELECT value - 1 FROM meta WHERE name = 'first'),"
    " (SELECT coalesce(max(seq), 0) FROM record))";

}  // namespace starling
