// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/record.h"

namespace starling {

/// A journal without a disk, for the simulator: it outlives the node that writes to it, and
/// recover() may be called at the start of each of the node's lives. Fails on demand.
class MemoryJournal final : public Journal {
 public:
  enum class Keep : std::uint8_t {
    counts,   ///< nothing but the number of records: for worlds in which no node restarts
    records,  ///< copies
    bytes     ///< encoded, so that recover() gives what a disk would
  };
  explicit MemoryJournal(Keep keep = Keep::records) : keep_(keep) {}

  Status append(std::span<const Record> records) override;
  Result<std::vector<Record>> recover() override;
  Status compact(std::span<const Record> records) override;
  Status begin_compaction(std::vector<Record> records) override;
  /// A hundred records each.
  Result<bool> step_compaction() override;
  Status archive(std::uint64_t chunk, std::span<const Record> records) override;
  Result<std::vector<Record>> archived(std::uint64_t chunk) override;
  Status forget(std::uint64_t chunk) override;
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  /// The next record has a number beyond that one.
  void go_beyond(std::uint64_t position) { position_ = std::max(position_, position); }

  /// After that many further appends every append and compaction is `io` and changes nothing; no
  /// value: never.
  void fail_after(std::optional<std::uint64_t> appends) { until_failure_ = appends; }
  [[nodiscard]] std::uint64_t appends() const noexcept { return appends_; }  ///< successful
  [[nodiscard]] std::uint64_t records() const noexcept {
    return records_;
  }  ///< appended since compaction

 private:
  [[nodiscard]] bool refused();
  void keep(std::span<const Record> records);

  Keep keep_;
  std::vector<Record> kept_;
  std::vector<std::vector<std::byte>> encoded_;
  std::map<std::uint64_t, std::string> archive_;  // packed: worlds without restarts have large ones
  /// What a compaction will leave, and how much of it is written.
  std::optional<std::vector<Record>> next_;
  std::size_t next_written_ = 0;
  std::uint64_t appends_ = 0;
  std::uint64_t records_ = 0, position_ = 0;
  std::optional<std::uint64_t> until_failure_;
};

}  // namespace starling
