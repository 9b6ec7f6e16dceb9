// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_claims.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of a process here, in ticks since the boot; empty: there is none, or it is dead already.
std::string start_of_process(const std::string& pid) {
  const std::string stat = read_all("/proc/" + pid + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string word;
  for (int field = 3; field <= 22 && words >> word; ++field) {
    if (field == 3 && (word == "Z" || word == "X")) return {};
  }
  return words ? word : std::string();
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

RunClaims::RunClaims(fs::path folder, std::chrono::milliseconds stale)
    : folder_(std::move(folder)), stale_(stale) {
  const std::string pid = std::to_string(::getpid());
  me_ = host_name() + " " + this_place() + " " + pid + " " + start_of_process(pid) + "\n";
  toucher_ = std::thread([this] { touch_all(); });
}

RunClaims::~RunClaims() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  over_.notify_all();
  toucher_.join();
  std::error_code ignored;
  for (const std::string& id : held_) fs::remove(file_of(id), ignored);
}

fs::path RunClaims::file_of(const std::string& id) const { return folder_ / (id + ".lock"); }

void RunClaims::touch_all() {
  std::unique_lock lock(mutex_);
  const auto every = std::min<std::chrono::milliseconds>(kTouched, stale_ / 4);
  while (!over_.wait_for(lock, every, [this] { return ends_; })) {
    // By the clock of the file system's host, as all see it.
    for (const std::string& id : held_)
      static_cast<void>(::utimensat(AT_FDCWD, file_of(id).c_str(), nullptr, 0));
  }
}

Result<bool> RunClaims::take(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const fs::path file = file_of(id);
  for (int tries = 0; tries < 2; ++tries) {
    // A link to a whole file: nobody sees a lock that does not say yet whose it is.
    const fs::path fresh =
        folder_ / (id + ".lock." + host_name() + "." + std::to_string(::getpid()));
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << me_;
    out.close();
    if (!out) return {Errc::io, "cannot write " + fresh.string()};
    const bool mine = ::link(fresh.c_str(), file.c_str()) == 0;
    const int why = errno;
    std::error_code ignored;
    fs::remove(fresh, ignored);
    if (mine) {
      held_.insert(id);
      seen_.erase(id);
      return true;
    }
    if (why != EEXIST)
      return {Errc::io, "cannot write " + file.string() + ": " + std::strerror(why)};
    if (held_.contains(id)) return false;  // another thread's
    const std::string text = read_all(file);
    if (text.empty() || !dead(id, text)) return false;
    // Only one of those who find it dead moves it away; what was moved must be what was read, or a
    // lock that has just been taken goes back.
    const fs::path gone =
        folder_ / (id + ".gone." + host_name() + "." + std::to_string(::getpid()));
    if (::rename(file.c_str(), gone.c_str()) != 0) return false;
    const bool same = read_all(gone) == text;
    if (!same) static_cast<void>(::link(gone.c_str(), file.c_str()));
    fs::remove(gone, ignored);
    if (!same) return false;
  }
  return false;
}

bool RunClaims::dead(const std::string& id, const std::string& text) {
  const Holder holder = read_holder(text), mine = read_holder(me_);
  if (holder.place == mine.place) return start_of_process(holder.pid) != holder.start;
  std::error_code error;
  const auto touched = fs::last_write_time(file_of(id), error);
  if (error) return false;
  const auto now = std::chrono::steady_clock::now();
  const auto [at, fresh] = seen_.try_emplace(id, Sight{text, touched, now});
  if (!fresh && (at->second.text != text || at->second.touched != touched))
    at->second = {text, touched, now};
  return now - at->second.since >= stale_;
}

void RunClaims::release(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (held_.erase(id) == 0) return;
  std::error_code ignored;
  if (read_all(file_of(id)) == me_) fs::remove(file_of(id), ignored);
}

std::string RunClaims::holder(const std::string& id) const {
  const Holder holder = read_holder(read_all(file_of(id)));
  return holder.host.empty() ? std::string() : holder.host + " (process " + holder.pid + ")";
}

}  // namespace starling
