// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

// The tables of a journal in SQLite.

inline constexpr int kApplicationId = 0x5354524c;  // "STRL"
inline constexpr const char* kArchiveTable =
    "CREATE TABLE IF NOT EXISTS archive (chunk INTEGER PRIMARY KEY, checksum INTEGER NOT NULL,"
    " body BLOB NOT NULL)";
inline constexpr const char* kSchema =
    "CREATE TABLE record (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, checksum INTEGER NOT "
    "NULL,"
    " body BLOB NOT NULL);"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('first', 1);";
/// From now on there is a head beside it (journal_head.h). Journals of earlier versions have none.
inline constexpr const char* kHasHead = "INSERT INTO meta VALUES ('head', 1);";

}  // namespace starling
