#pragma once

#include <filesystem>
#include <memory>

#include "agents/record.h"
#include "base/result.h"

namespace starling {

struct StoreOptions {
  bool sync =
      true;  ///< false: survives a killed process, not a power cut; for tests and throw-away runs
};

/// A journal in one SQLite file (WAL, synchronous=FULL); operators may read it while it is in use.
/// One transaction per append. A failed write is `io` and final: from then on every append is
/// refused.
class SqliteJournal final : public Journal {
 public:
  /// Creates the file where it is missing; its folder must exist. `conflict` names the process that
  /// has it open; `invalid`: not a journal, or of another format; `io`: the operating system
  /// refused.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& path,
                                               const StoreOptions& options = {});
  ~SqliteJournal() override;

  Status append(std::span<const Record> records) override;
  /// `invalid` names the first row that is damaged or missing.
  Result<std::vector<Record>> recover() override;
  Status compact(std::span<const Record> records) override;

 private:
  struct Database;
  explicit SqliteJournal(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace starling
