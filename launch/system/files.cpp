// SPDX-License-Identifier: Apache-2.0
#include "launch/system/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/sync.h"

namespace starling {
namespace fs = std::filesystem;

Result<std::string> read_text(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {Errc::not_found, file.string() + ": no such file"};
  if (fs::is_directory(file, ignored)) return {Errc::io, file.string() + ": is a folder"};
  std::ifstream in(file, std::ios::binary);
  if (!in) return {Errc::io, file.string() + ": cannot be read: " + std::strerror(errno)};
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || !text) return {Errc::io, file.string() + ": cannot be read"};
  return text.str();
}

Status write_text(const fs::path& file, const std::string& text, unsigned mode) {
  const std::string fresh = file.string() + ".new";
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return {Errc::io, file.string() + ": " + std::strerror(errno)};
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  const bool whole = written == text.size();
  const bool ok = close(fd) == 0 && whole && rename(fresh.c_str(), file.c_str()) == 0;
  if (!ok) return {Errc::io, file.string() + ": " + std::strerror(errno)};
  return done();
}

Status make_folder(const fs::path& dir, unsigned mode) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return {Errc::io, dir.string() + ": " + error.message()};
  if (mode != 0755) chmod(dir.c_str(), mode);
  return done();
}

Status make_durable(const fs::path& path) {
  if (sync_path(path)) return done();
  return {Errc::io, path.string() + ": cannot be synced: " + std::strerror(errno)};
}

Status durably(const fs::path& file, const Status& written) {
  return written.ok() ? make_durable(file) : written;
}

Status rename_durably(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  return failed ? Status(cannot("rename", from, failed)) : make_durable(to.parent_path());
}

fs::path unused_path(const std::string& before, const std::string& after) {
  std::error_code ignored;
  for (int n = 1;; ++n) {
    const fs::path path = before + std::to_string(n) + after;
    if (!fs::exists(path, ignored)) return path;
  }
}

Error cannot(const char* what, const fs::path& file, const std::error_code& why) {
  return {Errc::io, std::string("cannot ") + what + " '" + file.string() + "': " + why.message()};
}

}  // namespace starling
