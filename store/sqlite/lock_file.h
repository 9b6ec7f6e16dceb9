// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"

namespace starling {

/// Keeps a second process away from a state folder for as long as this object, and this process,
/// lives. The file stays behind; it is the lock on it that counts, so a killed holder blocks
/// no other.
class LockFile {
 public:
  /// `conflict` names the process that holds it. Where that one is gone and what it had just forked
  /// still has the lock, it is waited for, 5 s at most: that lets go when it becomes its program,
  /// or dies.
  static Result<LockFile> acquire(const std::filesystem::path& path);

  LockFile() = default;
  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;

 private:
  explicit LockFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace starling
