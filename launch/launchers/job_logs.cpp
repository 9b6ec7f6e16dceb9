// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/job_logs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <vector>

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Log {
  fs::file_time_type written;
  std::uint64_t bytes;
  fs::path file;
};

/// The log that a file belongs to: FILE.log.1 and FILE.log.from are of FILE.log, as is FILE.steps.
fs::path log_of(fs::path file) {
  if (file.extension() == ".1" || file.extension() == ".from") file.replace_extension();
  if (file.extension() == ".steps") file.replace_extension(".log");
  return file;
}

std::uint64_t spare_in(const fs::path& folder, std::uint64_t (*spare)(int fd)) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t bytes = spare(fd);
  ::close(fd);
  return bytes;
}

}  // namespace

void JobLogs::tidy(Instant now, const std::set<fs::path>& kept) {
  next_ = later(now, limits_.every);
  std::error_code error;
  std::vector<Log> logs;
  std::uint64_t bytes = 0;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const fs::path log = log_of(at->path());
    if (log.extension() != ".log" || kept.contains(log)) continue;
    if (at->symlink_status(gone).type() == fs::file_type::directory) continue;
    const bool plain = at->is_regular_file(gone) && !at->is_symlink(gone);
    Log entry{plain ? at->last_write_time(gone) : fs::file_time_type::min(),
              plain ? at->file_size(gone) : 0, at->path()};
    if (gone) continue;
    bytes += entry.bytes;
    logs.push_back(std::move(entry));
  }
  std::sort(logs.begin(), logs.end(),
            [](const Log& a, const Log& b) { return a.written < b.written; });
  const auto oldest = fs::file_time_type::clock::now() -
                      std::chrono::duration_cast<fs::file_time_type::duration>(limits_.age);
  const std::uint64_t spare = spare_in(folder_, limits_.spare);
  std::uint64_t lacking = limits_.spare_at_least - std::min(limits_.spare_at_least, spare);
  for (const Log& log : logs) {
    if (log.written >= oldest && bytes <= limits_.all_bytes && lacking == 0) break;
    std::error_code ignored;
    fs::remove(log.file, ignored);
    bytes -= log.bytes;
    lacking -= std::min(lacking, log.bytes);
  }
}

}  // namespace starling
