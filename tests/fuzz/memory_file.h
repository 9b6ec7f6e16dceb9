// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "tests/fuzz/targets.h"

namespace starling::fuzz {

/// Bytes under a file name, for readers that want one. Gone with this object.
class MemoryFile {
 public:
  explicit MemoryFile(FuzzBytes bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::filesystem::path path() const;

 private:
  int fd_;
};

}  // namespace starling::fuzz
