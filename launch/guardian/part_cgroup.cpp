// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/part_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>

#include "launch/guardian/own_cgroup.h"

namespace starling {
namespace {

/// The root, or a cgroup without processes of its own. Another one takes `cpu` all the same, and
/// then no process can be moved into its children ("domain invalid").
bool takes_controllers(const std::string& cgroup) {
  if (::access((cgroup + "/cgroup.type").c_str(), F_OK) != 0) return true;
  std::ifstream procs(cgroup + "/cgroup.procs");
  std::string first;
  return procs.is_open() && !(procs >> first);
}

std::string content(int fd) {
  char text[4096];
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

std::string PartCgroup::base() {
  std::string folder = cgroup_of_jobs();
  if (folder.empty()) return {};
  // A user that may make one there may still be forbidden to put processes in.
  const bool allowed = ::access(folder.c_str(), W_OK) == 0 &&
                       ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
  return allowed ? folder : std::string();
}

PartCgroup::Limited PartCgroup::limit(const std::string& folder, const PartLimits& limits,
                                      bool make) {
  const std::string above = folder.substr(0, folder.rfind('/'));
  const auto put = [](const std::string& file, const std::string& text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return written;
  };
  for (const char* controller : {"+cpu", "+memory"})
    if (takes_controllers(above)) (void)put(above + "/cgroup.subtree_control", controller);
  const bool made = !make || ::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST;
  Limited got;
  if (limits.cpus > 0) {
    constexpr long long kPeriod_us = 100'000;
    const auto quota = std::max(std::llround(limits.cpus * kPeriod_us), 1000LL);
    const auto weight = std::clamp(std::llround(limits.cpus * 100), 1LL, 10'000LL);
    got.cpus =
        made && put(folder + "/cpu.max", std::to_string(quota) + " " + std::to_string(kPeriod_us));
    (void)put(folder + "/cpu.weight", std::to_string(weight));
  }
  if (limits.memory_gib > 0) {
    const auto bytes = std::llround(limits.memory_gib * 1024 * 1024 * 1024);
    got.memory = made && put(folder + "/memory.max", std::to_string(bytes));
    (void)put(folder + "/memory.swap.max", "0");
    (void)put(folder + "/memory.oom.group", "1");
  }
  return got;
}

std::uint64_t PartCgroup::killed_for_memory() const {
  std::string events = content(memory_);
  if (events.empty()) {  // the controller came later, or has come back
    const int fd = ::open((folder_ + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC);
    events = content(fd);
    if (fd >= 0) ::close(fd);
  }
  std::istringstream words(events);
  std::string name;
  for (std::uint64_t n = 0; words >> name >> n;) {
    if (name == "oom_kill") return n;
  }
  return 0;
}

bool PartCgroup::make(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return false;
  return open(folder);
}

bool PartCgroup::open(const std::string& folder) {
  close();
  place_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  events_ = ::open((folder + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
  procs_ = ::open((folder + "/cgroup.procs").c_str(), O_RDWR | O_CLOEXEC);
  kill_ = ::open((folder + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);  // since Linux 5.14
  memory_ = ::open((folder + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC);
  folder_ = folder;
  if (events_ >= 0 && procs_ >= 0) return true;
  close();
  return false;
}

void PartCgroup::close() {
  for (int* const fd : {&place_, &procs_, &events_, &kill_, &memory_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void PartCgroup::kill() {
  if (kill_ >= 0 && ::write(kill_, "1", 1) == 1) return;
  std::istringstream pids(content(procs_));
  for (pid_t pid = 0; pids >> pid;) {
    if (pid > 1) ::kill(pid, SIGKILL);
  }
}

bool PartCgroup::populated() const {
  return is_open() && content(events_).find("populated 0") == std::string::npos;
}

void PartCgroup::remove() {
  close();
  if (!folder_.empty()) ::rmdir(folder_.c_str());
  folder_.clear();
}

}  // namespace starling
