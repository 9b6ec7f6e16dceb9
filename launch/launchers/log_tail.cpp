// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/visible.h"

namespace starling {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

}  // namespace

std::string last_words(std::string text, std::size_t limit) {
  const bool cut = text.size() > limit;
  if (cut) text.erase(0, text.size() - limit);
  std::size_t i = 0;
  // The cut may have gone through a character.
  while (cut && i < std::min<std::size_t>(3, text.size()) && continues(text[i])) ++i;
  text.erase(0, i);
  return visible(text);
}

std::string log_tail(const std::filesystem::path& file, std::size_t limit) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat info {};
  std::string text;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid()) {
    const auto size = static_cast<std::size_t>(std::max<off_t>(info.st_size, 0));
    text.resize(std::min(size, limit + 1));  // one more, to see that it was cut
    const ssize_t got =
        ::pread(fd, text.data(), text.size(), static_cast<off_t>(size - text.size()));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::close(fd);
  return last_words(std::move(text), limit);
}

}  // namespace starling
