// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/journal_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/sync.h"

namespace starling {
namespace {

/// One line, always as long, within one sector: writing it is never half done.
constexpr std::size_t kBytes = 64;
constexpr const char* kFormat = "starling journal head, last %020" PRIu64 " ";
using Line = std::array<char, kBytes + 1>;

Line line_of(std::uint64_t last) {
  Line line{};
  const int size = std::snprintf(line.data(), line.size(), kFormat, last);
  TraceHash hash;
  hash.add(std::string_view(line.data(), static_cast<std::size_t>(size)));
  std::snprintf(line.data() + size, line.size() - static_cast<std::size_t>(size), "%08x\n",
                static_cast<unsigned>(hash.value()));
  return line;
}

std::string_view text_of(const Line& line) { return line.data(); }

Error refused(const std::filesystem::path& path, const char* doing) {
  return {Errc::io,
          std::string("cannot ") + doing + " '" + path.string() + "': " + std::strerror(errno)};
}

}  // namespace

std::filesystem::path JournalHead::beside(const std::filesystem::path& journal) {
  return journal.string() + ".head";
}

Result<std::optional<std::uint64_t>> JournalHead::read(const std::filesystem::path& journal) {
  const std::filesystem::path path = beside(journal);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<std::uint64_t>();
  if (fd < 0) return refused(path, "open");
  Line line{};
  const ssize_t size = ::pread(fd, line.data(), kBytes, 0);
  ::close(fd);
  if (size < 0) return refused(path, "read");
  std::uint64_t last = 0;
  if (std::sscanf(line.data(), kFormat, &last) != 1 || text_of(line) != text_of(line_of(last))) {
    return {Errc::invalid, "'" + path.string() +
                               "', which says how far the journal has come, is "
                               "damaged"};
  }
  return std::optional<std::uint64_t>(last);
}

Result<JournalHead> JournalHead::open(const std::filesystem::path& journal, std::uint64_t last) {
  JournalHead head;
  head.path_ = beside(journal);
  const bool there = ::access(head.path_.c_str(), F_OK) == 0;
  head.fd_ = ::open(head.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (head.fd_ < 0) return refused(head.path_, "open");
  if (there) return head;
  if (const Status noted = head.note(last); !noted.ok()) return noted.error();
  if (::fsync(head.fd_) != 0 || !sync_folder_of(head.path_)) return refused(head.path_, "sync");
  return head;
}

Status JournalHead::note(std::uint64_t last) {
  const Line line = line_of(last);
  const std::string_view text = text_of(line);
  if (::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
    return done();
  return refused(path_, "write");
}

bool JournalHead::is_removed() const {
  struct stat info {};
  return fd_ >= 0 && ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

JournalHead::~JournalHead() {
  if (fd_ >= 0) ::close(fd_);
}
JournalHead::JournalHead(JournalHead&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
JournalHead& JournalHead::operator=(JournalHead&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace starling
