// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_journal.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/planted.h"
#include "store/record_batch.h"
#include "store/record_codec.h"
#include "store/sqlite/row_checksum.h"
#include "store/sqlite/sqlite_database.h"
#include "store/sqlite/wal_check.h"

namespace starling {
namespace {

constexpr std::int64_t kStepRows = 256;                // old ones, removed in a step of compaction
constexpr std::int64_t kGap = std::int64_t{1} << 24U;  // before the rows of a compaction

}  // namespace

SqliteJournal::SqliteJournal(std::unique_ptr<Database> database) : database_(std::move(database)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<Journal>> SqliteJournal::open(const std::filesystem::path& path,
                                                     const StoreOptions& options) {
  DiskReserve reserve = options.reserve ? DiskReserve(reserve_beside(path)) : DiskReserve();
  for (;;) {
    auto database = std::make_unique<Database>();
    database->path = path;
    database->step_bytes = options.step_bytes;
    const Status opened = database->open(options);
    if (opened.ok()) {
      database->reserve = std::move(reserve);
      database->reserve.refill();
      return std::unique_ptr<Journal>(new SqliteJournal(std::move(database)));
    }
    if (!database->is_full() || !reserve.release()) return opened.error();
  }
}

std::filesystem::path SqliteJournal::reserve_beside(const std::filesystem::path& path) {
  return path.parent_path() / "reserve";
}

bool SqliteJournal::short_of_room() { return !database_->reserve.refill(); }

Status SqliteJournal::append(std::span<const Record> records) {
  Database& db = *database_;
  if (records.empty() && !db.failed) return done();
  std::uint64_t bytes = 0;
  Status written = db.transact([&] {
    std::int64_t seq = db.next_seq;
    bytes = 0;
    for (const Record& record : records) {
      if (!db.write(record, seq++)) return false;
      bytes += db.buffer.size();
    }
    return true;
  });
  if (written.ok()) {
    db.next_seq += static_cast<std::int64_t>(records.size());
    db.bytes += bytes;
    written = db.note();
  }
  if (db.compaction && !db.compaction->counts) {
    auto& next = db.compaction->records;
    next.insert(next.end(), records.begin(), records.end());
  }
  return written;
}

Status SqliteJournal::compact(std::span<const Record> records) {
  if (Status begun = begin_compaction({records.begin(), records.end()}); !begun.ok()) return begun;
  for (;;) {
    const Result<bool> more = step_compaction();
    if (!more) return more.error();
    if (!more.value()) return done();
  }
}

Status SqliteJournal::begin_compaction(std::vector<Record> records) {
  Database& db = *database_;
  STARLING_CHECK(!db.compaction);
  if (db.failed) return *db.failed;
  const auto first = db.number("SELECT value FROM meta WHERE name = 'first'");
  if (!first) return *(db.failed = db.refused("read"));
  db.compaction = Database::Compaction();
  auto& c = *db.compaction;
  c.records = std::move(records);
  c.removed = *first;
  c.first = c.seq = db.next_seq + kGap;
  return done();
}

Result<bool> SqliteJournal::step_compaction() {
  Database& db = *database_;
  if (db.failed) return *db.failed;
  if (!db.compaction) return false;
  auto& c = *db.compaction;
  if (!c.counts) {
    const std::size_t before = c.written;
    const std::int64_t seq = c.seq;
    const std::uint64_t bytes = c.bytes;
    const Status step = db.transact([&] {
      c.written = before, c.seq = seq, c.bytes = bytes, c.counts = false;
      return db.write_next();
    });
    if (!step.ok()) return step.error();
    for (std::size_t i = before; i < c.written; ++i) c.records[i] = Record{};
    if (!c.counts) return true;
    c.records.clear();
    c.old_end = std::exchange(db.next_seq, c.seq);
    db.bytes = c.bytes;
    if (Status noted = db.note(); !noted.ok()) return noted.error();
    return true;
  }
  c.removed = std::min(c.removed + kStepRows, c.old_end);
  const std::string removal = "DELETE FROM record WHERE seq < " + std::to_string(c.removed);
  if (Status step = db.transact([&] { return db.run(removal.c_str()); }); !step.ok())
    return step.error();
  if (c.removed < c.old_end) return true;
  db.compaction.reset();
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");  // gives space back; where that fails nothing is lost
  return false;
}

std::uint64_t SqliteJournal::bytes() const { return database_->bytes; }

Status SqliteJournal::archive(std::uint64_t chunk, std::span<const Record> records) {
  Database& db = *database_;
  const std::string body = pack_records(records);
  const auto number = static_cast<std::int64_t>(chunk);
  return db.transact([&] {
    const Statement put = db.prepare("INSERT OR REPLACE INTO archive VALUES (?1, ?2, ?3)");
    if (!put) return false;
    sqlite3_bind_int64(put.get(), 1, number);
    sqlite3_bind_int64(put.get(), 2, row_checksum(number, std::as_bytes(std::span(body))));
    sqlite3_bind_blob64(put.get(), 3, body.data(), body.size(), SQLITE_STATIC);
    return sqlite3_step(put.get()) == SQLITE_DONE;
  });
}

Result<std::vector<Record>> SqliteJournal::archived(std::uint64_t chunk) {
  Database& db = *database_;
  const auto number = static_cast<std::int64_t>(chunk);
  const std::string name = "chunk " + std::to_string(chunk) + " of the archive";
  const Statement get = db.prepare("SELECT checksum, body FROM archive WHERE chunk = ?1");
  if (!get) return db.refused("read");
  sqlite3_bind_int64(get.get(), 1, number);
  const int code = sqlite3_step(get.get());
  if (code == SQLITE_DONE) return db.error(Errc::not_found, "there is no " + name);
  if (code != SQLITE_ROW) return db.refused("read");
  const std::string_view body(static_cast<const char*>(sqlite3_column_blob(get.get(), 1)),
                              static_cast<std::size_t>(sqlite3_column_bytes(get.get(), 1)));
  if (sqlite3_column_int64(get.get(), 0) != row_checksum(number, std::as_bytes(std::span(body))))
    return db.error(Errc::invalid, name + " does not match its checksum");
  std::vector<Record> records;
  if (const Status read = unpack_records(body, records); !read.ok())
    return db.error(Errc::invalid, name + " is " + read.error().message);
  return records;
}

Status SqliteJournal::forget(std::uint64_t chunk) {
  const std::string removal = "DELETE FROM archive WHERE chunk <= " + std::to_string(chunk);
  return database_->transact([&] { return database_->run(removal.c_str()); });
}

Result<std::vector<Record>> SqliteJournal::recover() {
  const auto damaged = [&](std::int64_t seq, const std::string& what) {
    return database_->error(Errc::invalid, "row " + std::to_string(seq) + " " + what + kAfterLoss);
  };
  // Rows that a damaged page no longer shows would not be missed.
  if (const Statement pages = database_->prepare("PRAGMA quick_check('record')");
      !pages || sqlite3_step(pages.get()) != SQLITE_ROW ||
      std::string(reinterpret_cast<const char*>(sqlite3_column_text(pages.get(), 0))) != "ok") {
    return database_->lost("its pages are damaged");
  }
  auto expected = database_->number("SELECT value FROM meta WHERE name = 'first'");
  const Statement rows = database_->prepare("SELECT seq, checksum, body FROM record ORDER BY seq");
  if (!rows || !expected) return database_->refused("read");
  std::vector<Record> records;
  int code = SQLITE_ROW;
  for (; (code = sqlite3_step(rows.get())) == SQLITE_ROW; ++*expected) {
    const std::int64_t seq = sqlite3_column_int64(rows.get(), 0);
    if (seq != *expected) return damaged(*expected, "is missing");
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(rows.get(), 2));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), 2));
    const std::span<const std::byte> body(data, size);
    const bool same = sqlite3_column_int64(rows.get(), 1) == row_checksum(seq, body);
    if (!same && !planted(Bug::checksum_ignored)) {
      return damaged(seq, "does not match its checksum");
    }
    Result<Record> record = decode_record(body);
    if (!record) return damaged(seq, "is " + record.error().message);
    records.push_back(std::move(record).value());
    database_->bytes += size;
  }
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return damaged(*expected,
                   std::string("cannot be read (") + sqlite3_errmsg(database_->db) + ")");
  }
  if (code != SQLITE_DONE) return database_->refused("read");
  return records;
}

std::uint64_t SqliteJournal::position() const {
  return static_cast<std::uint64_t>(database_->next_seq - 1);
}

}  // namespace starling
