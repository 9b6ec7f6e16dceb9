// SPDX-License-Identifier: Apache-2.0
#include "base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace starling {
namespace {

constexpr std::size_t kLargest = 1U << 20U;

/// Closed on every way out.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<std::string> read_secret(const std::filesystem::path& file) {
  const auto wrong = [&](const std::string& what) -> Result<std::string> {
    return {Errc::invalid, file.string() + ": " + what};
  };
  const auto unread = [&](int why) -> Result<std::string> {
    const bool path = why == ENOENT || why == ENOTDIR || why == EACCES || why == ENAMETOOLONG;
    return {path ? Errc::invalid : Errc::io,  // no waiting mends a path
            file.string() + ": cannot be read: " + std::strerror(why)};
  };
  // Not to wait for the other end of a pipe.
  const Descriptor in{::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (in.fd < 0 && errno == ELOOP) return wrong("is a link; a secret has to be a file itself");
  if (in.fd < 0) return unread(errno);
  struct stat info {};
  if (::fstat(in.fd, &info) != 0) return unread(errno);
  if (!S_ISREG(info.st_mode)) return wrong("is no file");
  const uid_t me = ::geteuid();
  if (info.st_uid != me && info.st_uid != 0 && me != 0) {
    return wrong("belongs to user " + std::to_string(info.st_uid) +
                 ", who could change this secret; it has to be yours or root's");
  }
  if ((info.st_mode & 077U) != 0) return wrong("others may read this secret; run chmod 600 on it");
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t n = ::read(in.fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unread(errno);
    if (n == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(n));
    if (text.size() > kLargest) return wrong("is larger than any secret");
  }
}

}  // namespace starling
