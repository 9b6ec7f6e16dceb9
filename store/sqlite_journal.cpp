#include "store/sqlite_journal.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/planted.h"
#include "store/lock_file.h"
#include "store/record_codec.h"
#include "store/wal_check.h"

namespace starling {
namespace {

constexpr int kApplicationId = 0x5354524c;  // "STRL"
constexpr const char* kSchema =
    "CREATE TABLE record (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, checksum INTEGER NOT "
    "NULL,"
    " body BLOB NOT NULL);"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('first', 1);";

/// Covers the row's number, so that a row in the wrong place is noticed as well as a damaged one.
std::int64_t checksum(std::int64_t seq, std::span<const std::byte> body) {
  TraceHash hash;
  hash.add(static_cast<std::uint64_t>(seq));
  hash.add(body);
  return static_cast<std::int64_t>(hash.value());
}

struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

}  // namespace

struct SqliteJournal::Database {
  std::filesystem::path path;
  LockFile lock;
  sqlite3* db = nullptr;
  Statement insert;
  std::int64_t next_seq = 1;
  std::optional<Error> failed;
  std::vector<std::byte> buffer;

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
  [[nodiscard]] Statement prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
    return Statement(statement);
  }
  /// The one number that a query answers; none if it fails.
  [[nodiscard]] std::optional<std::int64_t> number(const char* sql) const {
    const Statement statement = prepare(sql);
    if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return std::nullopt;
    return sqlite3_column_int64(statement.get(), 0);
  }

  Status prepare_file(const StoreOptions& options);
  bool write(std::span<const Record> records);
  Status transact(std::span<const Record> records, bool replace);
  Status sync_folder() const;
};

Status SqliteJournal::Database::prepare_file(const StoreOptions& options) {
  const auto application = number("PRAGMA application_id");
  const auto format = number("PRAGMA user_version");
  const auto tables = number("SELECT count(*) FROM sqlite_master");
  if (!application || !format || !tables) {
    const int code = sqlite3_errcode(db);
    const bool foreign = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
    if (!foreign) return refused("open it");
    return error(Errc::invalid,
                 std::string("this is not a readable journal: ") + sqlite3_errmsg(db));
  }
  const bool fresh = *tables == 0 && *application == 0;
  if (!fresh && *application != kApplicationId) {
    return error(Errc::invalid, "this is a database of another program");
  }
  if (!fresh && *format != kRecordFormat) {
    return error(Errc::invalid, "its format is " + std::to_string(*format) +
                                    ", this program reads format " + std::to_string(kRecordFormat));
  }
  if (!run("PRAGMA journal_mode=WAL") ||
      !run(options.sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF")) {
    return refused("set it up");
  }
  // What a crash left unfinished in the log goes for good, so that the next look at it finds the
  // frames of one life only.
  if (!run("PRAGMA wal_checkpoint(TRUNCATE)")) return refused("take over its log");
  if (fresh) {
    const std::string sql = std::string("BEGIN;") + kSchema +
                            "PRAGMA application_id=" + std::to_string(kApplicationId) + ";" +
                            "PRAGMA user_version=" + std::to_string(kRecordFormat) + ";COMMIT;";
    if (!run(sql.c_str())) return refused("create its tables");
    if (const Status synced = sync_folder(); !synced.ok()) return synced;
  }
  insert = prepare("INSERT INTO record VALUES (?1, ?2, ?3, ?4)");
  const auto last = number(
      "SELECT max((SELECT value - 1 FROM meta WHERE name = 'first'),"
      " (SELECT coalesce(max(seq), 0) FROM record))");
  if (!insert || !last) return error(Errc::invalid, "its tables are not those of a journal");
  next_seq = *last + 1;
  return done();
}

/// A file that was created survives a power cut only once its folder is on disk too.
Status SqliteJournal::Database::sync_folder() const {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (synced) return done();
  return error(Errc::io, "cannot sync its folder");
}

bool SqliteJournal::Database::write(std::span<const Record> records) {
  for (const Record& record : records) {
    buffer.clear();
    encode_record(record, buffer);
    sqlite3_bind_int64(insert.get(), 1, next_seq);
    sqlite3_bind_int64(insert.get(), 2, static_cast<std::int64_t>(record.index()));
    sqlite3_bind_int64(insert.get(), 3, checksum(next_seq, buffer));
    sqlite3_bind_blob64(insert.get(), 4, buffer.data(), buffer.size(), SQLITE_STATIC);
    const bool written = sqlite3_step(insert.get()) == SQLITE_DONE;
    sqlite3_reset(insert.get());
    if (!written) return false;
    ++next_seq;
  }
  return true;
}

Status SqliteJournal::Database::transact(std::span<const Record> records, bool replace) {
  if (failed) return *failed;
  bool good = run("BEGIN IMMEDIATE");
  if (good && replace) {
    const std::string first =
        "DELETE FROM record; UPDATE meta SET value=" + std::to_string(next_seq) +
        " WHERE name='first';";
    good = run(first.c_str());
  }
  good = good && write(records) && run("COMMIT");
  if (good) return done();
  failed = refused("write");
  run("ROLLBACK");
  if (planted(Bug::full_disk_ignored)) return failed.reset(), done();
  return *failed;
}

SqliteJournal::SqliteJournal(std::unique_ptr<Database> database) : database_(std::move(database)) {}
SqliteJournal::~SqliteJournal() = default;

Result<std::unique_ptr<Journal>> SqliteJournal::open(const std::filesystem::path& path,
                                                     const StoreOptions& options) {
  auto database = std::make_unique<Database>();
  database->path = path;
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
  if (records.empty() && !database_->failed) return done();
  return database_->transact(records, false);
}

Status SqliteJournal::compact(std::span<const Record> records) {
  const Status replaced = database_->transact(records, true);
  // Gives the space back; where that fails nothing is lost.
  if (replaced.ok()) database_->run("PRAGMA wal_checkpoint(TRUNCATE)");
  return replaced;
}

Result<std::vector<Record>> SqliteJournal::recover() {
  const auto damaged = [&](std::int64_t seq, const std::string& what) {
    return database_->error(Errc::invalid,
                            "row " + std::to_string(seq) + " " + what +
                                ": restore the file from a copy, or move it away to start empty");
  };
  // Rows that a damaged page no longer shows would not be missed.
  if (const Statement pages = database_->prepare("PRAGMA quick_check(1)");
      !pages || sqlite3_step(pages.get()) != SQLITE_ROW ||
      std::string(reinterpret_cast<const char*>(sqlite3_column_text(pages.get(), 0))) != "ok") {
    return database_->error(Errc::invalid,
                            "its pages are damaged: restore the file from a copy, or move it away "
                            "to start empty");
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
    const bool same = sqlite3_column_int64(rows.get(), 1) == checksum(seq, body);
    if (!same && !planted(Bug::checksum_ignored)) {
      return damaged(seq, "does not match its checksum");
    }
    Result<Record> record = decode_record(body);
    if (!record) return damaged(seq, "is " + record.error().message);
    records.push_back(std::move(record).value());
  }
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return damaged(*expected,
                   std::string("cannot be read (") + sqlite3_errmsg(database_->db) + ")");
  }
  if (code != SQLITE_DONE) return database_->refused("read");
  return records;
}

}  // namespace starling
