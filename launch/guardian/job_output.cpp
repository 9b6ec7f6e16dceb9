#include "launch/guardian/job_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace starling {
namespace {

constexpr std::size_t kChunk = 1U << 16U;
constexpr int kChunksAtOnce = 8;

int open_log(const std::string& file, int more) {
  return ::open(file.c_str(),
                O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | more, 0644);
}

}  // namespace

JobOutput::~JobOutput() {
  if (thread_.joinable()) {
    finish(std::chrono::milliseconds(0));
    thread_.join();
  }
  for (const int fd : {door_, ear_, file_}) {
    if (fd >= 0) ::close(fd);
  }
}

Status JobOutput::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {Errc::io, std::string("no pipe for its output: ") + std::strerror(errno)};
  ear_ = ends[0];
  door_ = ends[1];
  ::fcntl(ear_, F_SETFL, O_NONBLOCK);
  file_ = open_log(options_.file, 0);
  struct stat info {};
  if (file_ < 0 || ::fstat(file_, &info) != 0 || !S_ISREG(info.st_mode)) {
    const char* const why = file_ < 0 ? std::strerror(errno) : "it is no file";
    return {Errc::io, "cannot write '" + options_.file + "': " + why};
  }
  written_ = static_cast<std::uint64_t>(info.st_size);
  took_ = std::chrono::steady_clock::now();
  thread_ = std::thread([this] { write_all(); });
  return done();
}

void JobOutput::close_door() {
  if (door_ >= 0) ::close(std::exchange(door_, -1));
}

int JobOutput::ear() {
  const std::unique_lock lock(mutex_);
  const bool stuck = std::chrono::steady_clock::now() - took_ > options_.patience;
  return waiting_.size() < options_.waiting_bytes || stuck ? ear_ : -1;
}

void JobOutput::take() {
  char chunk[kChunk];
  for (int i = 0; i < kChunksAtOnce && ear() >= 0; ++i) {
    const ssize_t got = ::read(ear_, chunk, sizeof chunk);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      ::close(std::exchange(ear_, -1));
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    tail_.append(chunk, size);
    if (tail_.size() > 2 * options_.tail_bytes + kChunk)
      tail_.erase(0, tail_.size() - options_.tail_bytes);
    const std::unique_lock lock(mutex_);
    if (waiting_.size() < options_.waiting_bytes) {
      waiting_.append(chunk, size);
    } else {
      dropped_ += size;
    }
    changed_.notify_all();
  }
}

bool JobOutput::finish(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void JobOutput::write_all() {
  std::unique_lock lock(mutex_);
  std::uint64_t lost = 0;  // since the last line that said so
  while (!over_ || !waiting_.empty()) {
    took_ = std::chrono::steady_clock::now();
    if (waiting_.empty()) {
      // Who has nothing to do is not stuck.
      changed_.wait_for(lock, options_.patience / 2);
      continue;
    }
    const std::string bytes = std::exchange(waiting_, {});
    lost += std::exchange(dropped_, 0);
    lock.unlock();
    if (lost > 0 && put("\nstarling: " + std::to_string(lost) + " bytes of output left out\n"))
      lost = 0;
    if (!put(bytes)) lost += bytes.size();
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
}

/// False: it was not written, or not wholly.
bool JobOutput::put(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t half = std::max<std::uint64_t>(options_.file_bytes / 2, 1);
    if (written_ >= half) rotate();
    const std::size_t size =
        std::min<std::size_t>(bytes.size() - done, half > written_ ? half - written_ : 1);
    const ssize_t put = ::write(file_, bytes.data() + done, size);
    if (put <= 0) return false;
    done += static_cast<std::size_t>(put);
    written_ += static_cast<std::uint64_t>(put);
  }
  return true;
}

/// Whatever stands in the way of a new file: the bound holds.
void JobOutput::rotate() {
  const bool moved = ::rename(options_.file.c_str(), (options_.file + ".1").c_str()) == 0;
  const int next = moved ? open_log(options_.file, O_EXCL) : -1;
  if (next >= 0) {
    ::close(std::exchange(file_, next));
  } else if (::ftruncate(file_, 0) != 0) {
    return;
  }
  written_ = 0;
}

}  // namespace starling
