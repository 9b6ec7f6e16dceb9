// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "agents/record.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/sqlite/lock_file.h"

namespace starling {

/// A directory that one process uses at a time. Held until destroyed, or until the process ends in
/// any way.
class StateDir {
 public:
  /// Makes the directory if need be, for this user alone. `conflict` names the process that has it,
  /// `io` if the disk refuses, `invalid` where it holds files and none of Starling's.
  static Result<StateDir> take(const std::filesystem::path& dir);

  /// The process that took `dir` last, whether or not it has it still, or lives. Asked without the
  /// lock, which a process that begins just now would find taken.
  [[nodiscard]] static std::optional<pid_t> holder(const std::filesystem::path& dir);

  /// One more than at the last call, durable before it returns: no two lives have the same.
  [[nodiscard]] Result<Incarnation> next_incarnation() const;
  /// The number of the last life that began here, 0: none has.
  [[nodiscard]] std::uint64_t lives() const;
  /// The next life's number is above `life`, durably.
  [[nodiscard]] Status skip_lives(Incarnation life) const;
  /// A journal has been written here, by this or an earlier life; durable with note_begun().
  [[nodiscard]] bool begun() const;
  [[nodiscard]] Status note_begun() const;
  /// Names this directory, and no other, from its first use on; not to be guessed.
  [[nodiscard]] Result<std::string> name() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return dir_; }

 private:
  StateDir(std::filesystem::path dir, LockFile lock)
      : dir_(std::move(dir)), lock_(std::move(lock)) {}
  /// The file `incarnation`: the number of the last life, and whether there is a journal.
  struct Lives {
    std::uint64_t last = 0;
    bool begun = false;
  };
  [[nodiscard]] Result<Lives> read_lives() const;
  [[nodiscard]] Status write_lives(const Lives& lives) const;

  std::filesystem::path dir_;
  LockFile lock_;
};

/// `counted`, or the one after the last life in the journal if that is larger: the journal stands
/// where the counter was removed or set back, and attempts of two lives must never share a name.
[[nodiscard]] Incarnation after_last_life(Incarnation counted, std::span<const Record> recovered);

}  // namespace starling
