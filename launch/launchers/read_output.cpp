#include "launch/launchers/read_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"

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
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::size_t most) const {
    std::string bytes(std::min<std::uint64_t>(size_ - std::min(size_, offset), most), '\0');
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  int fd_;
  std::uint64_t number_ = 0, size_ = 0;
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
  const Piece* at = before.there() ? &before : &newest;
  std::uint64_t offset = read.offset;
  if (read.file == 0) {
    const std::uint64_t all = at->size() + (two ? newest.size() : 0);
    offset = read.from_end == 0 ? 0 : all - std::min<std::uint64_t>(all, read.from_end);
    if (two && offset >= before.size()) offset -= std::exchange(at, &newest)->size();
  } else if (newest.there() && read.file == newest.number()) {
    at = &newest;
  } else if (!before.there() || read.file != before.number()) {
    page.gap = true;
    offset = 0;
  }
  if (offset > at->size()) page.gap = true, offset = 0;  // it was cut
  if (two && at == &before && offset == before.size()) at = &newest, offset = 0;
  page.bytes = at->bytes(offset, OutputPage::kMost);
  page.file = at->number();
  page.next = offset + page.bytes.size();
  page.more = page.next < at->size() || (two && at == &before);
  return page;
}

}  // namespace starling
