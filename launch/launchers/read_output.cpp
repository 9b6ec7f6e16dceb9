// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/read_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"
#include "launch/guardian/log_starts.h"

namespace starling {
namespace {

/// An open file of a log; none if there is no such file, or it is not ours.
class Piece {
 public:
  explicit Piece(const std::string& file)
      : fd_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)) {
    struct statx info {};
    const bool plain =
        fd_ >= 0 && ::statx(fd_, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &info) == 0 &&
        S_ISREG(info.stx_mode) && info.stx_uid == ::geteuid();
    if (!plain) return;
    size_ = info.stx_size;
    inode_ = info.stx_ino;
    // Numbers of inodes come again; together with the time of birth they do not.
    std::uint64_t birth = 0;
    if ((info.stx_mask & STATX_BTIME) != 0) {
      birth = mix64(static_cast<std::uint64_t>(info.stx_btime.tv_sec) * 1'000'000'000ULL +
                    info.stx_btime.tv_nsec);
    }
    number_ = std::max<std::uint64_t>(mix64(info.stx_ino ^ birth), 1);
  }
  ~Piece() {
    if (fd_ >= 0) ::close(fd_);
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  [[nodiscard]] bool there() const { return number_ != 0; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t inode() const { return inode_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::size_t most) const {
    std::string bytes(std::min<std::uint64_t>(size_ - std::min(size_, offset), most), '\0');
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  int fd_;
  std::uint64_t number_ = 0, size_ = 0, inode_ = 0;
};

}  // namespace

OutputPage read_output(const std::filesystem::path& log, const ReadOutput& read) {
  OutputPage page = Launcher::page_for(read);
  // In this order: a file that is renamed in between is found under both names, and none is missed.
  const Piece newest(log.string());
  const Piece before(log.string() + ".1");
  if (!newest.there() && !before.there()) {
    page.trouble = "there is no output of it, or none any more";
    return page;
  }
  const bool two = before.there() && newest.there() && before.number() != newest.number();
  // Where it is not written down how much was printed before them, files begin at 0 each.
  const LogStarts starts = LogStarts::read(log.string());
  const auto said_before = starts.of_before(before.inode());
  const auto said_newest = starts.of_newest(newest.inode());
  const std::uint64_t before_from = said_before.value_or(0);
  const std::uint64_t newest_from =
      said_newest.value_or(two && said_before ? *said_before + before.size() : 0);
  const Piece* at = before.there() ? &before : &newest;
  std::uint64_t from = at == &before ? before_from : newest_from;
  const auto turn_to_newest = [&] { at = &newest, from = newest_from; };
  std::uint64_t offset = 0;  // in the file
  if (read.file == 0) {
    const std::uint64_t all = at->size() + (two ? newest.size() : 0);
    offset = read.from_end == 0 ? 0 : all - std::min<std::uint64_t>(all, read.from_end);
    if (two && offset >= before.size()) offset -= before.size(), turn_to_newest();
  } else {
    if (newest.there() && read.file == newest.number()) {
      turn_to_newest();
    } else if (!before.there() || read.file != before.number()) {
      page.gap = true;
    }
    // Out of the file: it was cut, or what it began with has become known.
    if (read.offset < from || read.offset - from > at->size()) page.gap = true;
    if (!page.gap) offset = read.offset - from;
  }
  if (two && at == &before && offset == before.size()) offset = 0, turn_to_newest();
  page.bytes = at->bytes(offset, OutputPage::kMost);
  page.file = at->number();
  page.next = from + offset + page.bytes.size();
  page.more = offset + page.bytes.size() < at->size() || (two && at == &before);
  return page;
}

}  // namespace starling
