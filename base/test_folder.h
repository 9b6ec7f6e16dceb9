// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace starling {

/// For tests: a new folder that goes away with the object.
struct TestFolder {
  /// `name` is part of its own name, for those who find it left behind.
  explicit TestFolder(const std::string& name, const std::filesystem::path& parent =
                                                   std::filesystem::temp_directory_path()) {
    std::string own = (parent / ("starling-" + name + "-XXXXXX")).string();
    STARLING_CHECK(::mkdtemp(own.data()) != nullptr);
    path = own;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path path;
};

}  // namespace starling
