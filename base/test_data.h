// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace starling {

/// The names that test_data() did not find. A test program that passes ends with 77 if there are
/// any, so that ctest counts it as skipped.
inline std::set<std::string>& absent_test_data() {
  static std::set<std::string> names;
  return names;
}

/// For tests: a file of the published data sets, or nothing where it is absent; the test ends then.
/// The folder is $STARLING_DATA, else shared/data beside the source tree. Such tests are of the
/// suite "published data", which is an entry of its own in ctest.
inline std::optional<std::filesystem::path> test_data(const std::string& name) {
  namespace fs = std::filesystem;
  const char* data = std::getenv("STARLING_DATA");
  const char* source = std::getenv("STARLING_SOURCE");
  fs::path folder;
  if (data != nullptr && *data != '\0') {
    folder = data;
  } else if (source != nullptr) {
    folder = fs::path(source).parent_path() / "shared" / "data";
  } else {
    folder = fs::path("..") / "shared" / "data";
  }
  std::error_code ignored;
  if (fs::exists(folder / name, ignored)) return folder / name;
  absent_test_data().insert(name);
  return std::nullopt;
}

}  // namespace starling
