// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/journal_place.h"

#include <unistd.h>

#include <string>

#include "store/sqlite/sqlite_statement.h"

namespace starling {

Status keep_owner(sqlite3* db, std::uint32_t node) {
  if (node == 0) return done();
  const Statement asked = prepare(db, "SELECT ifnull(max(value), 0) FROM meta WHERE name='node'");
  if (!asked || sqlite3_step(asked.get()) != SQLITE_ROW)
    return {Errc::io, std::string("cannot read it: ") + sqlite3_errmsg(db)};
  const std::int64_t known = sqlite3_column_int64(asked.get(), 0);
  if (known == node) return done();
  if (known != 0) {
    return {Errc::invalid, "it is of node " + std::to_string(known) + ", not of node " +
                               std::to_string(node) +
                               ": put each node's state back where it belongs"};
  }
  sqlite3_reset(asked.get());
  const std::string sql = "INSERT INTO meta VALUES ('node', " + std::to_string(node) + ")";
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return done();
  return {Errc::io, std::string("cannot set it up: ") + sqlite3_errmsg(db)};
}

bool has_gone(sqlite3* db, const std::filesystem::path& path) {
  int moved = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0 && ::access(path.parent_path().c_str(), F_OK) == 0;
}

}  // namespace starling
