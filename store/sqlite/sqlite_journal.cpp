// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_journal.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/planted.h"
#include "base/sync.h"
#include "store/loss.h"
#include "store/record_batch.h"
#include "store/record_codec.h"
#include "store/sqlite/journal_head.h"
#include "store/sqlite/journal_place.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/row_checksum.h"
#include "store/sqlite/sqlite_schema.h"
#include "store/sqlite/sqlite_statement.h"
#include "store/sqlite/wal_check.h"

namespace starling {
namespace {

constexpr std::int64_t kStepRows = 256;                // old ones, removed in a step of compaction
constexpr std::int64_t kGap = std::int64_t{1} << 24U;  // before the rows of a compaction

}  // namespace

struct SqliteJournal::Database {
  std::filesystem::path path;
  LockFile lock;
  sqlite3* db = nullptr;
  Statement insert;
  std::int64_t next_seq = 1;
  JournalHead head;
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

  Status prepare_file(const StoreOptions& options);
  bool write(const Record& record, std::int64_t seq);
  Status transact(const std::function<bool()>& what);
  bool write_next();
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
  Status check_head(bool fresh);
};

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

/// Compares the journal with what is known of its end, and opens its head for the appends to come.
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
                "' is gone, so nobody can say whether records are missing");
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

Status SqliteJournal::Database::transact(const std::function<bool()>& what) {
  if (failed) return *failed;
  if (run("BEGIN IMMEDIATE") && what() && run("COMMIT")) {
    if (!head.is_removed() && !has_gone(db, path)) return done();
    failed = error(Errc::io, "it was removed or replaced while it was open");
    return *failed;
  }
  failed = refused("write");
  run("ROLLBACK");
  if (planted(Bug::full_disk_ignored)) return failed.reset(), done();
  return *failed;
}

/// So far it is durable.
Status SqliteJournal::Database::note() {
  Status noted = head.note(static_cast<std::uint64_t>(next_seq - 1));
  if (!noted.ok()) failed = noted.error();
  return noted;
}

/// Some of what is not written yet, and with the last of it the switch.
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
    c.records[c.written++] = Record{};
  }
  if (c.written < c.records.size()) return true;
  if (!set("first", c.first) || !run("DELETE FROM meta WHERE name = 'next'")) return false;
  c.counts = true;
  return true;
}

SqliteJournal::SqliteJournal(std::unique_ptr<Database> database) : database_(std::move(database)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<Journal>> SqliteJournal::open(const std::filesystem::path& path,
                                                     const StoreOptions& options) {
  auto database = std::make_unique<Database>();
  database->path = path;
  database->step_bytes = options.step_bytes;
  Result<LockFile> lock = LockFile::acquire(path.string() + ".lock");
  if (!lock) return lock.error();
  database->lock = std::move(lock).value();
  if (const Status whole = check_write_ahead_log(path); !whole.ok()) return whole.error();
  if (sqlite3_open_v2(path.c_str(), &database->db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    return database->refused("open it");
  }
  // People may be reading; they hold the file for moments only.
  sqlite3_busy_timeout(database->db, 5000);
  if (const Status prepared = database->prepare_file(options); !prepared.ok()) {
    return prepared.error();
  }
  return std::unique_ptr<Journal>(new SqliteJournal(std::move(database)));
}

Status SqliteJournal::append(std::span<const Record> records) {
  Database& db = *database_;
  if (records.empty() && !db.failed) return done();
  Status written = db.transact([&] {
    for (const Record& record : records) {
      if (!db.write(record, db.next_seq)) return false;
      ++db.next_seq;
      db.bytes += db.buffer.size();
    }
    return true;
  });
  if (written.ok()) written = db.note();
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
    if (Status step = db.transact([&] { return db.write_next(); }); !step.ok()) return step.error();
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
