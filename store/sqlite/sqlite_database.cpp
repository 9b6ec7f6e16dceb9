// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_database.h"

#include <string>
#include <utility>

#include "base/planted.h"
#include "base/sync.h"
#include "store/record_codec.h"
#include "store/sqlite/journal_place.h"
#include "store/sqlite/row_checksum.h"
#include "store/sqlite/sqlite_schema.h"
#include "store/sqlite/wal_check.h"

namespace starling {

Status SqliteJournal::Database::open(const StoreOptions& options) {
  Result<LockFile> acquired = LockFile::acquire(path.string() + ".lock");
  if (!acquired) return acquired.error();
  lock = std::move(acquired).value();
  if (const Status whole = check_write_ahead_log(path); !whole.ok()) return whole.error();
  if (sqlite3_open_v2(path.c_str(), &db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    return refused("open it");
  }
  // People may be reading; they hold the file for moments only.
  sqlite3_busy_timeout(db, 5000);
  return prepare_file(options);
}

Status SqliteJournal::Database::prepare_file(const StoreOptions& options) {
  const auto application = number("PRAGMA application_id");
  const auto format = number("PRAGMA user_version");
  const auto tables = number("SELECT count(*) FROM sqlite_master");
  if (!application || !format || !tables) return unusable("open it");
  const bool fresh = *tables == 0 && *application == 0;
  if (fresh && options.begun)
    return lost("it is empty or gone, and an earlier life of this node wrote to it");
  if (!fresh && *application != kApplicationId) {
    return error(Errc::invalid, "this is a database of another program");
  }
  if (!fresh && *format != kRecordFormat) {
    return error(Errc::invalid, "its format is " + std::to_string(*format) +
                                    ", this program reads format " + std::to_string(kRecordFormat));
  }
  if (!run("PRAGMA journal_mode=WAL") ||
      !run(options.sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF")) {
    return unusable("set it up");
  }
  // What a crash left unfinished in the log goes for good, so that the next look at it finds the
  // frames of one life only.
  if (!run("PRAGMA wal_checkpoint(TRUNCATE)")) return unusable("take over its log");
  if (fresh) {
    if (options.first > 1) next_seq = static_cast<std::int64_t>(options.first);
    if (Status fits = check_head(true); !fits.ok()) return fits;
    const std::string sql = std::string("BEGIN;") + kSchema +
                            "UPDATE meta SET value=" + std::to_string(next_seq) + ";" + kHasHead +
                            "PRAGMA application_id=" + std::to_string(kApplicationId) + ";" +
                            "PRAGMA user_version=" + std::to_string(kRecordFormat) + ";COMMIT;";
    if (!run(sql.c_str())) return refused("create its tables");
    if (!sync_folder_of(path)) return error(Errc::io, "cannot sync its folder");
  }
  // Of a compaction that was broken off, or had come to removing the old rows.
  if (!run("DELETE FROM record WHERE seq < (SELECT value FROM meta WHERE name = 'first');"
           "DELETE FROM record WHERE seq >= (SELECT value FROM meta WHERE name = 'next');"
           "DELETE FROM meta WHERE name = 'next'") ||
      !run(kArchiveTable)) {
    return unusable("set it up");
  }
  insert = prepare("INSERT INTO record VALUES (?1, ?2, ?3, ?4)");
  const auto last = number(kLastRecord);
  if (!insert || !last) return error(Errc::invalid, "its tables are not those of a journal");
  next_seq = *last + 1;
  if (Status whole = fresh ? done() : check_head(false); !whole.ok()) return whole;
  const Status own = keep_owner(db, options.node);
  return own.ok() ? own : error(own.error().code, own.error().message);
}

Status SqliteJournal::Database::check_head(bool fresh) {
  const auto known = JournalHead::read(path);
  if (!known) {
    return known.error().code == Errc::io ? known.error() : lost(known.error().message);
  }
  const auto last = static_cast<std::uint64_t>(next_seq - 1);
  const std::optional<std::uint64_t>& durable = known.value();
  if (durable && *durable > last) {
    return lost(std::to_string(*durable - last) + " records are missing: it ends with record " +
                std::to_string(last) + ", and record " + std::to_string(*durable) + " was durable");
  }
  const bool had_one = !fresh && number("SELECT count(*) FROM meta WHERE name='head'") == 1;
  if (!durable && had_one) {
    return lost("'" + JournalHead::beside(path).filename().string() +
                "' is gone, so it is not known whether records are missing");
  }
  auto opened = JournalHead::open(path, last);
  if (!opened) return opened.error();
  head = std::move(opened).value();
  if (!fresh && !had_one && !run(kHasHead)) return refused("set it up");
  return done();
}

bool SqliteJournal::Database::write(const Record& record, std::int64_t seq) {
  buffer.clear();
  encode_record(record, buffer);
  sqlite3_bind_int64(insert.get(), 1, seq);
  sqlite3_bind_int64(insert.get(), 2, static_cast<std::int64_t>(record.index()));
  sqlite3_bind_int64(insert.get(), 3, row_checksum(seq, buffer));
  sqlite3_bind_blob64(insert.get(), 4, buffer.data(), buffer.size(), SQLITE_STATIC);
  const bool written = sqlite3_step(insert.get()) == SQLITE_DONE;
  sqlite3_reset(insert.get());
  return written;
}

/// A write that found no room was not begun, so it may be done again: first in what the log gives
/// back when it is taken over, then piece by piece in the reserve.
Status SqliteJournal::Database::transact(const std::function<bool()>& what) {
  if (failed) return *failed;
  const bool reserved = reserve.is_there();
  for (bool taken_over = false;;) {
    if (run("BEGIN IMMEDIATE") && what() && run("COMMIT")) {
      if (!head.is_removed() && !has_gone(db, path)) return done();
      failed = error(Errc::io, "it was removed or replaced while it was open");
      return *failed;
    }
    const bool full = is_full();
    const Error why = refused("write");
    run("ROLLBACK");
    if (planted(Bug::full_disk_ignored)) return done();
    if (!full || !reserved || (std::exchange(taken_over, true) && !reserve.release())) {
      failed = why;
      return *failed;
    }
    reserve.note_short();
    run("PRAGMA wal_checkpoint(PASSIVE)");
  }
}

Status SqliteJournal::Database::note() {
  Status noted = head.note(static_cast<std::uint64_t>(next_seq - 1));
  if (!noted.ok()) failed = noted.error();
  return noted;
}

bool SqliteJournal::Database::write_next() {
  Compaction& c = *compaction;
  const auto set = [&](const char* name, std::int64_t value) {
    return run(("INSERT OR REPLACE INTO meta VALUES ('" + std::string(name) + "', " +
                std::to_string(value) + ")")
                   .c_str());
  };
  if (c.seq == c.first && !set("next", c.first)) return false;
  for (std::size_t now = 0; c.written < c.records.size() && now < step_bytes;) {
    if (!write(c.records[c.written], c.seq)) return false;
    ++c.seq;
    now += buffer.size();
    c.bytes += buffer.size();
    ++c.written;
  }
  if (c.written < c.records.size()) return true;
  if (!set("first", c.first) || !run("DELETE FROM meta WHERE name = 'next'")) return false;
  c.counts = true;
  return true;
}

}  // namespace starling
