#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace starling {

/// For tests: a new folder that goes away with the object.
struct TestFolder {
  explicit TestFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("starling-" + name + '-' + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
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
