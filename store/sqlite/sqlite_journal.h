// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "agents/limited_room.h"
#include "agents/record.h"
#include "base/result.h"

namespace starling {

struct StoreOptions {
  bool sync =
      true;  ///< false: survives a killed process, not a power cut; for tests and throw-away runs
  std::size_t step_bytes = 256 * 1024;  ///< written by one step of a compaction
  bool begun = false;       ///< an earlier life has written to it: an empty one is refused
  std::uint64_t first = 1;  ///< number of the first record, where the journal is new
  /// Whose it is, from the first time on that this is said; another node's is refused. 0: not said.
  std::uint32_t node = 0;
  /// Room is taken on the disk, in the file `reserve` beside it, to write in when that is full.
  bool reserve = false;
};

/// A journal in one SQLite file (WAL, synchronous=FULL); operators may read it while it is in use.
/// One transaction per append, step of a compaction and chunk of the archive, which is a table of
/// its own that recover() does not read. A failed write is `io` and final: from then on every
/// append is refused. (A full disk with a reserve fails no write before that is used up; it also
/// opens a journal on such a disk.) So is what went to files that were removed or replaced while
/// they were open: no later life would find it. (A folder that was moved has them still.)
///
/// Beside it stands its head (journal_head.h): a journal that lost its end, its log or everything
/// is `invalid`, and the message says how many records are missing. Not told: the loss of records
/// of the last seconds before a power cut together with what the operating system had not yet
/// written of the head, and a file that was set back together with its head.
class SqliteJournal final : public Journal, public LimitedRoom {
 public:
  /// Creates the file where it is missing; its folder must exist. `conflict` names the process that
  /// has it open; `invalid`: not a journal, of another node, or of another format; `io`: the
  /// operating system refused.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& path,
                                               const StoreOptions& options = {});
  ~SqliteJournal() override;

  Status append(std::span<const Record> records) override;
  /// `invalid` names the first row that is damaged or missing.
  Result<std::vector<Record>> recover() override;
  Status compact(std::span<const Record> records) override;
  Status begin_compaction(std::vector<Record> records) override;
  Result<bool> step_compaction() override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] bool short_of_room() override;
  [[nodiscard]] static std::filesystem::path reserve_beside(const std::filesystem::path& journal);
  Status archive(std::uint64_t chunk, std::span<const Record> records) override;
  Result<std::vector<Record>> archived(std::uint64_t chunk) override;
  Status forget(std::uint64_t chunk) override;
  [[nodiscard]] std::uint64_t position() const override;

 private:
  struct Database;
  explicit SqliteJournal(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace starling
