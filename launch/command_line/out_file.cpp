// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/out_file.h"

#include <unistd.h>

#include <filesystem>

namespace starling {

Status check_out_file(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path = file;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::invalid, file + ": " + what + ", or give another name"};
  };
  if (!fs::exists(folder, ignored))
    return wrong("there is no folder " + folder.string() + "; make it");
  if (!fs::is_directory(folder, ignored)) return wrong(folder.string() + " is no folder; move it");
  if (fs::is_directory(path, ignored)) return wrong("this is a folder; name a file in it");
  if (access(folder.c_str(), W_OK) != 0)
    return wrong("the folder " + folder.string() + " cannot be written to; change its rights");
  return done();
}

}  // namespace starling
