// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace starling {

/// How far a journal has come, in a small file of its own beside it ("journal.db.head"), so that a
/// journal which lost records is told from one that never had them.
///
/// Written in place after each append, when the append is durable, and left to the operating system
/// to sync: a killed process leaves the number of its last append, a power cut perhaps one that is
/// half a minute old. It is never ahead of what was durable.
class JournalHead {
 public:
  /// The number in the file beside `journal`; none where there is no file. `invalid`: damaged;
  /// `io`: the operating system refused.
  static Result<std::optional<std::uint64_t>> read(const std::filesystem::path& journal);
  /// Opens the file for note(); makes it, with `last`, where there is none.
  static Result<JournalHead> open(const std::filesystem::path& journal, std::uint64_t last);
  [[nodiscard]] static std::filesystem::path beside(const std::filesystem::path& journal);

  /// The journal's last record is number `last`, and durable.
  Status note(std::uint64_t last);
  /// The open file has no name any more.
  [[nodiscard]] bool is_removed() const;

  JournalHead() = default;
  ~JournalHead();
  JournalHead(JournalHead&& other) noexcept;
  JournalHead& operator=(JournalHead&& other) noexcept;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace starling
