// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/own_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace starling {
namespace {

const std::string kDaemons = "/daemons";

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

bool is_delegated(const std::string& folder) {
  // Others than root see the second one alone.
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value[8] = {};
    if (::getxattr(folder.c_str(), name, value, sizeof value - 1) > 0 && value[0] == '1')
      return true;
  }
  return false;
}

}  // namespace

std::string own_cgroup() {
  const std::string mount = mount_point();
  const std::string own = own_path();
  if (mount.empty() || own.empty() || own.find("/..") != std::string::npos) return {};
  return own == "/" ? mount : mount + own;
}

void leave_delegated_cgroup() {
  const std::string own = own_cgroup();
  if (own.empty() || !is_delegated(own)) return;
  const std::string daemons = own + kDaemons;
  if (::mkdir(daemons.c_str(), 0755) != 0 && errno != EEXIST) return;
  const int procs = ::open((daemons + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  if (procs < 0) return;
  if (::write(procs, "0", 1) < 0) errno = 0;  // jobs have no limits then, which their executors say
  ::close(procs);
}

std::string cgroup_of_jobs() {
  const std::string own = own_cgroup();
  if (!own.ends_with(kDaemons)) return own;
  const std::string above = own.substr(0, own.size() - kDaemons.size());
  return is_delegated(above) ? above : own;  // others may call a cgroup of theirs so
}

}  // namespace starling
