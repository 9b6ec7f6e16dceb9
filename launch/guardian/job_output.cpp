// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/job_output.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launch/guardian/log_starts.h"

namespace starling {
namespace {

constexpr std::size_t kChunk = 1U << 16U;
constexpr int kChunksAtOnce = 8;
constexpr std::size_t kLongestLine = 4096;

int open_log(const std::string& file, int more) {
  return ::open(file.c_str(),
                O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | more, 0644);
}

std::uint64_t inode_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

JobOutput::~JobOutput() {
  if (thread_.joinable()) {
    finish(std::chrono::milliseconds(0));
    thread_.join();
  }
  for (const Voice& voice : voices_) {
    for (const int fd : {voice.door, voice.ear}) {
      if (fd >= 0) ::close(fd);
    }
  }
  if (file_ >= 0) ::close(file_);
}

Status JobOutput::open() {
  for (const std::string& rank : options_.ranks) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return {Errc::io, std::string("no pipe for its output: ") + std::strerror(errno)};
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    voices_.push_back({ends[1], ends[0], options_.ranks.size() > 1 ? "[" + rank + "] " : "", {}});
  }
  file_ = open_log(options_.file, 0);
  struct stat info {};
  if (file_ < 0 || ::fstat(file_, &info) != 0 || !S_ISREG(info.st_mode)) {
    const char* const why = file_ < 0 ? std::strerror(errno) : "it is no file";
    return {Errc::io, "cannot write '" + options_.file + "': " + why};
  }
  written_ = static_cast<std::uint64_t>(info.st_size);
  took_ = std::chrono::steady_clock::now();
  niceness_ = ::getpriority(PRIO_PROCESS, 0);
  return done();
}

void JobOutput::close_doors() {
  for (Voice& voice : voices_) {
    if (voice.door >= 0) ::close(std::exchange(voice.door, -1));
  }
}

bool JobOutput::has_room() {
  const std::unique_lock lock(mutex_);
  const bool stuck = std::chrono::steady_clock::now() - took_ > options_.patience;
  return waiting_.size() < options_.waiting_bytes || stuck;
}

std::vector<int> JobOutput::ears() {
  std::vector<int> open;
  if (!has_room()) return open;
  for (const Voice& voice : voices_) {
    if (voice.ear >= 0) open.push_back(voice.ear);
  }
  return open;
}

void JobOutput::take() {
  char chunk[kChunk];
  for (Voice& voice : voices_) {
    for (int i = 0; i < kChunksAtOnce && voice.ear >= 0 && has_room(); ++i) {
      const ssize_t got = ::read(voice.ear, chunk, sizeof chunk);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (got <= 0) {
        ::close(std::exchange(voice.ear, -1));
        end_line(voice);
        break;
      }
      hear(voice, chunk, static_cast<std::size_t>(got));
    }
  }
}

void JobOutput::hear(Voice& voice, const char* bytes, std::size_t size) {
  if (voice.mark.empty()) return say(bytes, size);
  std::string lines;
  for (std::size_t i = 0; i < size; ++i) {
    voice.begun += bytes[i];
    if (bytes[i] != '\n' && voice.begun.size() < kLongestLine) continue;
    lines += voice.mark + std::exchange(voice.begun, {});
    if (lines.back() != '\n') lines += '\n';
  }
  if (!lines.empty()) say(lines.data(), lines.size());
}

void JobOutput::end_line(Voice& voice) {
  if (voice.begun.empty()) return;
  const std::string line = voice.mark + std::exchange(voice.begun, {}) + "\n";
  say(line.data(), line.size());
}

void JobOutput::say(const char* bytes, std::size_t size) {
  tail_.append(bytes, size);
  if (tail_.size() > 2 * options_.tail_bytes + kChunk)
    tail_.erase(0, tail_.size() - options_.tail_bytes);
  const std::unique_lock lock(mutex_);
  if (waiting_.size() < options_.waiting_bytes) {
    waiting_.append(bytes, size);
  } else {
    dropped_ += size;
  }
  begin_to_write();
  changed_.notify_all();
}

/// Where no thread can be had now, the next words try again.
void JobOutput::begin_to_write() {
  if (thread_.joinable()) return;
  took_ = std::chrono::steady_clock::now();
  try {
    thread_ = std::thread([this] { write_all(); });
  } catch (const std::system_error&) {
    errno = 0;
  }
}

bool JobOutput::finish(std::chrono::milliseconds patience) {
  for (Voice& voice : voices_) end_line(voice);
  std::unique_lock lock(mutex_);
  over_ = true;
  if (waiting_.empty() && !thread_.joinable()) return true;
  begin_to_write();
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void JobOutput::write_all() {
  (void)::setpriority(PRIO_PROCESS, 0, niceness_);  // of this thread alone
  std::unique_lock lock(mutex_);
  std::uint64_t lost = 0;  // since the last line that said so
  while (!over_ || !waiting_.empty()) {
    took_ = std::chrono::steady_clock::now();
    if (waiting_.empty()) {
      // One with nothing to do is not stuck.
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
  if (options_.spare(file_) < bytes.size()) return false;
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
  const std::uint64_t old = inode_of(file_);
  const bool moved = ::rename(options_.file.c_str(), (options_.file + ".1").c_str()) == 0;
  const int next = moved ? open_log(options_.file, O_EXCL) : -1;
  if (next >= 0) {
    ::close(std::exchange(file_, next));
  } else if (::ftruncate(file_, 0) != 0) {
    return;
  }
  LogStarts starts;
  if (next >= 0) starts.before = {old, before_};
  before_ += std::exchange(written_, 0);
  starts.newest = {inode_of(file_), before_};
  starts.write(options_.file);
}

}  // namespace starling
