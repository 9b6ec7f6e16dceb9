// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>

namespace starling {

/// A folder that goes away with the object, with all that is in it, if `remove` says so.
class WorkFolder {
 public:
  WorkFolder(std::filesystem::path path, bool remove) : path_(std::move(path)), remove_(remove) {}
  ~WorkFolder() {
    std::error_code ignored;
    if (remove_) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  bool remove_;
};

}  // namespace starling
