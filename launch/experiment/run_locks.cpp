// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_locks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "launch/experiment/run_record.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Process {
  bool ended = false;  ///< it is certain that it does nothing any more
  std::string start;   ///< in ticks since the boot; empty: it cannot be seen
};

/// A process here.
Process look_at(const std::string& pid) {
  const std::string stat = read_all("/proc/" + pid + "/stat");
  if (stat.empty()) {
    // /proc may hide processes of other users; a signal tells whether there is one.
    const int number = std::atoi(pid.c_str());
    return {number <= 0 || (::kill(number, 0) != 0 && errno == ESRCH), {}};
  }
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string word;
  for (int field = 3; field <= 22 && words >> word; ++field) {
    if (field == 3 && (word == "Z" || word == "X")) return {true, {}};
  }
  return {false, words ? word : std::string()};
}

/// Processes with equal places see each other by their numbers, as long as the machine is up.
std::string this_place() {
  std::error_code error;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string();
  return read_all("/proc/sys/kernel/random/boot_id").substr(0, 36) + "/" +
         (error ? std::string("-") : space);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "unnamed";
}

/// What stands in a lock.
struct Holder {
  std::string host, place, pid, start;
};

Holder read_holder(const std::string& text) {
  Holder holder;
  std::istringstream words(text);
  words >> holder.host >> holder.place >> holder.pid >> holder.start;
  return holder;
}

}  // namespace

RunLocks::RunLocks(fs::path folder, std::chrono::milliseconds stale)
    : folder_(std::move(folder)), stale_(stale) {
  const std::string pid = std::to_string(::getpid());
  me_ = host_name() + " " + this_place() + " " + pid + " " + look_at(pid).start + "\n";
  toucher_ = std::thread([this] { touch_all(); });
}

RunLocks::~RunLocks() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  over_.notify_all();
  toucher_.join();
  for (const std::string& id : held_) remove_ours(id);
}

/// It may be another's since, if this process slept.
void RunLocks::remove_ours(const std::string& id) {
  std::error_code ignored;
  if (read_all(file_of(id)) == me_) fs::remove(file_of(id), ignored);
}

fs::path RunLocks::file_of(const std::string& id) const { return folder_ / (id + ".lock"); }

void RunLocks::touch_all() {
  std::unique_lock lock(mutex_);
  const auto every = std::min<std::chrono::milliseconds>(kTouched, stale_ / 4);
  while (!over_.wait_for(lock, every, [this] { return ends_; })) {
    // By the clock of the file system's host, as all see it.
    for (const std::string& id : held_)
      static_cast<void>(::utimensat(AT_FDCWD, file_of(id).c_str(), nullptr, 0));
  }
}

Result<bool> RunLocks::take(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (held_.contains(id)) return false;  // another thread's
  const fs::path file = file_of(id);
  std::error_code ignored;
  // Most that are asked for have a lock: a look costs a folder on the network less than a try.
  if (fs::exists(file, ignored) && !remove_dead(id)) return false;
  auto mine = write_first(file, me_);
  if (!mine || !mine.value()) return mine;
  held_.insert(id);
  seen_.erase(id);
  return true;
}

/// True: a lock that was a dead process's is gone.
bool RunLocks::remove_dead(const std::string& id) {
  const fs::path file = file_of(id);
  const std::string text = read_all(file);
  if (!dead(id, text)) return false;
  // Of several that find it dead one moves it away; what was moved must be what was read, or a lock
  // that has just been taken goes back.
  const fs::path gone = fresh_name(file);
  if (::rename(file.c_str(), gone.c_str()) != 0) return false;
  const bool same = read_all(gone) == text;
  if (!same) static_cast<void>(::link(gone.c_str(), file.c_str()));
  std::error_code ignored;
  fs::remove(gone, ignored);
  return same;
}

/// An empty one, as a host leaves it that lost its power, is like another host's.
bool RunLocks::dead(const std::string& id, const std::string& text) {
  const Holder holder = read_holder(text), mine = read_holder(me_);
  if (holder.place == mine.place) {
    const Process process = look_at(holder.pid);
    if (process.ended) return true;
    if (!process.start.empty()) return process.start != holder.start;
  }
  std::error_code error;
  const auto touched = fs::last_write_time(file_of(id), error);
  if (error) return false;
  const auto now = std::chrono::steady_clock::now();
  const auto [at, fresh] = seen_.try_emplace(id, Sight{text, touched, now});
  if (!fresh && (at->second.text != text || at->second.touched != touched))
    at->second = {text, touched, now};
  return now - at->second.since >= stale_;
}

void RunLocks::release(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (held_.erase(id) > 0) remove_ours(id);
}

std::string RunLocks::holder(const std::string& id) const {
  const Holder holder = read_holder(read_all(file_of(id)));
  return holder.host.empty() ? std::string() : holder.host + " (process " + holder.pid + ")";
}

}  // namespace starling
