// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/part_folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "launch/launchers/guarded_part.h"

namespace starling {
namespace {

constexpr auto kPause = std::chrono::milliseconds(10);
constexpr int kTriesForLock = 100;  // a process that was just forked may still have it
constexpr auto kBeyondGrace = std::chrono::seconds(2);

}  // namespace

std::vector<std::filesystem::path> part_folders(const std::filesystem::path& parts) {
  std::vector<std::filesystem::path> all;
  std::error_code error;
  for (std::filesystem::directory_iterator at(parts, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->symlink_status(gone).type() == std::filesystem::file_type::directory)
      all.push_back(at->path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void forget_part(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

Result<int> lock_parts(const std::filesystem::path& parts) {
  const std::string file = parts / "in-use";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return {Errc::io, "cannot lock '" + file + "': " + std::strerror(errno)};
  for (int i = 0; i < kTriesForLock; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    std::this_thread::sleep_for(kPause);
  }
  ::close(fd);
  return {Errc::conflict, "another executor uses '" + parts.string() + "'"};
}

std::size_t clear_unguarded(const std::filesystem::path& parts) {
  if (!std::filesystem::is_directory(parts)) return 0;
  const Result<int> lock = lock_parts(parts);
  if (!lock) return 0;  // the process that has it does this
  std::size_t left = 0;
  for (const std::filesystem::path& folder : part_folders(parts)) {
    auto part = GuardedPart::find(folder);
    if (part && part->look() == GuardedPart::State::unguarded && !part->clear()) ++left;
  }
  ::close(lock.value());
  return left;
}

bool end_parts(const std::filesystem::path& parts, Duration grace) {
  std::vector<GuardedPart> all;
  for (const std::filesystem::path& folder : part_folders(parts)) {
    if (auto part = GuardedPart::find(folder)) all.push_back(std::move(*part));
  }
  const std::int64_t force = boot_ns() + grace.count();
  for (GuardedPart& part : all) part.say(ControlWord::Kind::quit, force);
  const auto gone = [](GuardedPart& part) {
    const GuardedPart::State state = part.look();
    return state == GuardedPart::State::ended ||
           (state == GuardedPart::State::unguarded && part.clear());
  };
  const std::int64_t patience = force + Duration(kBeyondGrace).count();
  for (;;) {
    std::erase_if(all, gone);
    if (all.empty() || boot_ns() > patience) return all.empty();
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace starling
