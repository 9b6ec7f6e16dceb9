// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "launch/chaos/machine/reaper.h"

namespace starling::chaos_live {

/// A file system of its own for each of some folders, which can be full without this machine being
/// so: a tmpfs, which takes root. What is in a folder is there afterwards, and stays when the file
/// system is taken away again.
class SmallDisks {
 public:
  /// `unsupported` if this machine does not let us mount.
  [[nodiscard]] static Result<std::unique_ptr<SmallDisks>> make(
      const std::vector<std::filesystem::path>& folders, std::uint32_t mib, const Reaper& reaper);
  ~SmallDisks();
  SmallDisks(const SmallDisks&) = delete;
  SmallDisks& operator=(const SmallDisks&) = delete;

 private:
  SmallDisks() = default;
  std::vector<std::filesystem::path> mounted_;
};

}  // namespace starling::chaos_live
