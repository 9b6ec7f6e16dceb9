#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace starling {

/// For tests: a file of the published data sets, or nothing where the folder is absent. The folder is
/// $STARLING_DATA, else shared/data beside the source tree. A test that gets nothing says so and ends.
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
  if (!fs::exists(folder / name, ignored)) return std::nullopt;
  return folder / name;
}

}  // namespace starling
