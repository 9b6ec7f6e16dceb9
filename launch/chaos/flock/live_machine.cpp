// SPDX-License-Identifier: Apache-2.0
// What befalls the machine of a daemon: memory, wall clock, GPUs, file system, all of it.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "launch/chaos/flock/live_flock.h"
#include "launch/system/files.h"

namespace starling::chaos_live {
namespace {

namespace fs = std::filesystem;

/// Of `file` in /proc/PID.
std::string proc(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<pid_t> processes_here() {
  std::vector<pid_t> all;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return all;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") == std::string::npos) all.push_back(std::stoi(name));
  }
  ::closedir(folder);
  return all;
}

}  // namespace

void LiveFlock::limit_memory(const Process& p, double spare_mib) const {
  if (p.pid == 0) return;
  rlimit limit{};
  if (prlimit(p.pid, RLIMIT_AS, nullptr, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (spare_mib >= 0) {
    const auto pages = std::strtoull(proc(p.pid, "statm").c_str(), nullptr, 10);
    limit.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) +
                     static_cast<rlim_t>(spare_mib * (1 << 20));
  }
  prlimit(p.pid, RLIMIT_AS, &limit, nullptr);
}

void LiveFlock::set_clock(const Process& p) const {
  const auto text =
      "jump_s " + std::to_string(p.clock_jump_s) + " rate " + std::to_string(p.clock_rate) + "\n";
  const Status written = write_text(dir_ / "faults" / (p.name + ".clock"), text);
  (void)written;  // a fault that does not come about
}

void LiveFlock::set_health(const Process& p) const {
  std::string text = "# chaos\n";
  for (const std::uint32_t gpu : p.sick) text += std::to_string(gpu) + "\n";
  const Status written = write_text(deployment_.node_dir(p.name) / "health", text);
  (void)written;
}

void LiveFlock::fill_disk(const Process& p, bool full) const {
  const fs::path filler = deployment_.node_dir(p.name) / "filler";
  std::error_code ignored;
  if (!full) {
    fs::remove(filler, ignored);
    return;
  }
  const int fd = ::open(filler.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  for (std::size_t block = std::size_t{1} << 20; block > 0;) {
    const std::string zeros(block, '\0');
    if (::write(fd, zeros.data(), zeros.size()) != static_cast<ssize_t>(zeros.size())) block /= 16;
  }
  ::close(fd);
}

void LiveFlock::lose(Process& p) {
  p.lost = true;
  p.start_at = -1;
  kill(p, -1);
  // Whatever has grown there: its environment or command names the executor's folder.
  const std::string folder = deployment_.node_dir(p.name).string() + "/";
  for (int pass = 0; pass < 3; ++pass) {
    for (const pid_t pid : processes_here()) {
      if (pid == getpid()) continue;
      if (proc(pid, "environ").find(folder) != std::string::npos ||
          proc(pid, "cmdline").find(folder) != std::string::npos)
        ::kill(pid, SIGKILL);
    }
  }
}

std::uint32_t LiveFlock::lost_gpus(std::uint32_t partition) const {
  std::uint32_t gpus = 0;
  for (const Process& p : processes_) {
    if (!p.lost || p.rack != partition) continue;
    const DeployedNode* node = deployment_.find(p.name);
    for (std::uint32_t s = node->servers.first; s < node->servers.last; ++s) {
      const IndexRange there = topology_->server(ServerId{s}).gpus;
      gpus += there.last - there.first;
    }
  }
  return gpus;
}

}  // namespace starling::chaos_live
