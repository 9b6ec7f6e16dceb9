// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/salvage.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

#include "store/record_batch.h"
#include "store/record_codec.h"
#include "store/sqlite/journal_head.h"
#include "store/sqlite/row_checksum.h"
#include "store/sqlite/sqlite_statement.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Where a chunk of the archive cannot be read, what another home had given away is not run again.
void add_chunk(sqlite3* db, const JobsArchived& archived, std::vector<Record>& out) {
  const auto chunk = static_cast<std::int64_t>(archived.chunk);
  const Statement row = prepare(db, "SELECT checksum, body FROM archive WHERE chunk = ?1");
  std::vector<Record> jobs;
  if (row && sqlite3_bind_int64(row.get(), 1, chunk) == SQLITE_OK &&
      sqlite3_step(row.get()) == SQLITE_ROW) {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(row.get(), 1));
    const std::string_view body(data, static_cast<std::size_t>(sqlite3_column_bytes(row.get(), 1)));
    const bool whole =
        sqlite3_column_int64(row.get(), 0) == row_checksum(chunk, std::as_bytes(std::span(body)));
    if (!whole || !unpack_records(body, jobs).ok()) jobs.clear();
  }
  if (jobs.empty()) out.push_back(OffersOwed{archived.jobs});
  for (Record& job : jobs) out.push_back(std::move(job));
}

void read_rows(const fs::path& path, Salvaged& out) {
  sqlite3* opened = nullptr;
  sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const SqliteFile db(opened);
  const Statement first = prepare(opened, "SELECT value FROM meta WHERE name = 'first'");
  if (!first || sqlite3_step(first.get()) != SQLITE_ROW) return;
  std::int64_t next = sqlite3_column_int64(first.get(), 0);
  if (next < 1) return;
  out.last = static_cast<std::uint64_t>(next - 1);
  // Rows before it are of a compaction that had not come to removing them.
  const Statement rows = prepare(opened,
                                 "SELECT seq, checksum, body FROM record WHERE seq >="
                                 " (SELECT value FROM meta WHERE name = 'first') ORDER BY seq");
  for (; rows && sqlite3_step(rows.get()) == SQLITE_ROW; ++next) {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(rows.get(), 2));
    const std::span body(data, static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), 2)));
    if (sqlite3_column_int64(rows.get(), 0) != next) return;
    if (sqlite3_column_int64(rows.get(), 1) != row_checksum(next, body)) return;
    Result<Record> record = decode_record(body);
    if (!record) return;
    if (const auto* archived = std::get_if<JobsArchived>(&record.value())) {
      add_chunk(opened, *archived, out.records);
    } else {
      out.records.push_back(std::move(record).value());
    }
    out.last = static_cast<std::uint64_t>(next);
  }
}

}  // namespace

std::vector<fs::path> journal_files(const fs::path& journal) {
  std::vector<fs::path> files;
  for (const char* part : {"", "-wal", ".head"}) {
    const fs::path file = journal.string() + part;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) files.push_back(file);
  }
  return files;
}

Result<Salvaged> salvage_journal(const fs::path& journal, const fs::path& room) {
  const fs::path copy = room / "salvage.db";
  std::error_code failed;
  const auto clear = [&] {
    for (const char* part : {"", "-wal", "-shm", ".head"}) {
      std::error_code ignored;
      fs::remove(copy.string() + part, ignored);
    }
  };
  for (const fs::path& file : journal_files(journal)) {
    fs::copy_file(file, copy.string() + file.string().substr(journal.string().size()), failed);
    if (failed) {
      clear();
      return {Errc::io, "cannot copy '" + file.string() + "': " + failed.message()};
    }
  }
  Salvaged found;
  read_rows(copy, found);
  clear();
  found.known = found.last;
  if (const auto head = JournalHead::read(journal); head.ok() && head.value())
    found.known = std::max(found.known, *head.value());
  return found;
}

}  // namespace starling
