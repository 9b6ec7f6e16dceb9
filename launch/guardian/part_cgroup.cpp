#include "launch/guardian/part_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

namespace starling {
namespace {

/// Where cgroup v2 is mounted.
std::string mount_point() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    return word;
  }
  return {};
}

/// The cgroup of this process, below the mount point.
std::string own_path() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  }
  return {};
}

std::string content(int fd) {
  char text[4096];
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

std::string PartCgroup::base() {
  const std::string mount = mount_point();
  const std::string own = own_path();
  if (mount.empty() || own.empty() || own.find("/..") != std::string::npos) return {};
  std::string folder = own == "/" ? mount : mount + own;
  // Whoever may make one there may still be forbidden to put processes in.
  const bool allowed = ::access(folder.c_str(), W_OK) == 0 &&
                       ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
  return allowed ? folder : std::string();
}

bool PartCgroup::make(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return false;
  return open(folder);
}

bool PartCgroup::open(const std::string& folder) {
  close();
  events_ = ::open((folder + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
  procs_ = ::open((folder + "/cgroup.procs").c_str(), O_RDWR | O_CLOEXEC);
  kill_ = ::open((folder + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);  // since Linux 5.14
  folder_ = folder;
  if (events_ >= 0 && procs_ >= 0) return true;
  close();
  return false;
}

void PartCgroup::close() {
  for (int* const fd : {&procs_, &events_, &kill_}) {
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
