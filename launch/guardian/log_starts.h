// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace starling {

/// How many bytes were written to a log that is rotated before its two files (FILE.1 and FILE), in
/// the file FILE.from. Files are named by their inodes, because a reader may find them renamed; a
/// log that was never rotated has none.
struct LogStarts {
  struct Start {
    std::uint64_t inode = 0, bytes = 0;
  };
  Start before, newest;

  /// What was written before FILE and FILE.1, with these inodes; nothing: it is not said. One that
  /// has just been renamed counts as FILE.1 already; inodes are given away again at once.
  [[nodiscard]] std::optional<std::uint64_t> of_newest(std::uint64_t inode) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> of_before(std::uint64_t inode) const noexcept;
  /// In one write of always as many bytes, so it needs no room on a full disk after the first time.
  /// Where the disk refuses all the same FILE.from is removed: no word rather than a wrong one.
  void write(const std::string& log) const;
  /// Zeros where there is no such file of ours, or it is not what write() wrote.
  static LogStarts read(const std::string& log);
};

}  // namespace starling
