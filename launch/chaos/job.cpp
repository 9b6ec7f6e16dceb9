// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "launch/chaos/machine/misbehave.h"
#include "launch/jobs/split.h"
#include "launch/system/text.h"

namespace starling::chaos_live {
namespace {

constexpr int kLockTaken = 3, kFails = 7, kOneFails = 9;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Worker {
  std::filesystem::path dir;
  std::string job = variable("STARLING_JOB"), attempt = variable("STARLING_ATTEMPT");
  unsigned rank = static_cast<unsigned>(std::atoi(variable("RANK").c_str()));
  unsigned world = static_cast<unsigned>(std::atoi(variable("WORLD_SIZE").c_str()));
  std::string server, gpus;

  /// One line in one write: lines of many processes never mix.
  void record(const char* what, const std::string& other = {}) const {
    char head[64];
    std::snprintf(head, sizeof head, "%s %.6f ", what, now_s());
    std::ostringstream line;
    line << head << job << ' ' << attempt << ' ' << rank << ' ' << world << ' ' << server << ' '
         << gpus << ' ' << getpid() << (other.empty() ? "" : " ") << other << '\n';
    const std::string text = line.str();
    const int fd =
        ::open((dir / "records").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      std::perror("records");
    if (fd >= 0) ::close(fd);
  }
  [[nodiscard]] std::string me() const {
    return job + " " + attempt + " " + std::to_string(getpid()) + "\n";
  }
};

std::string content(int fd) {
  char text[256] = {};
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  std::string all(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!all.empty() && all.back() == '\n') all.pop_back();
  return all.empty() ? "?" : all;
}

void write_content(int fd, const std::string& text) {
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) std::perror("lock");
}

struct flock whole(short type) {
  struct flock all = {};
  all.l_type = type;
  all.l_whence = SEEK_SET;
  return all;
}

/// Of the open file, so what inherits that has it, too: held until all of them are gone.
bool lock(int fd) {
  struct flock mine = whole(F_WRLCK);
  return ::fcntl(fd, F_OFD_SETLK, &mine) == 0;
}

bool lock_gpu(const Worker& w, const std::string& gpu) {
  const auto file = w.dir / "gpus" / ("server-" + w.server + ".gpu-" + gpu);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || !lock(fd)) {
    w.record("taken", fd < 0 ? "?" : content(fd));
    return false;
  }
  write_content(fd, w.me());
  return true;
}

bool lock_rank(const Worker& w) {
  const int fd =
      ::open(rank_lock(w.dir, w.job, w.rank).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || !lock(fd)) {
    w.record("twice", fd < 0 ? "?" : content(fd));
    return false;
  }
  write_content(fd, w.me());
  for (unsigned other = 0; other < w.world; ++other) {
    if (other == w.rank) continue;
    // Between its lock and its line a worker's file tells of the attempt before.
    for (int look = 0;; ++look) {
      const std::string holder = holder_of(rank_lock(w.dir, w.job, other));
      if (holder.empty() || holder.find(" " + w.attempt + " ") != std::string::npos) break;
      if (look == 25) {
        w.record("twice", holder);
        return false;
      }
      ::usleep(20'000);
    }
  }
  return true;
}

void sleep_for(double seconds) {
  const auto whole_s = static_cast<time_t>(seconds);
  const timespec t{whole_s, static_cast<long>((seconds - static_cast<double>(whole_s)) * 1e9)};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
}

int work(const Worker& w, const std::vector<std::string>& gpus, double seconds, Manner manner) {
  for (const std::string& gpu : gpus) {
    if (!lock_gpu(w, gpu)) return kLockTaken;
  }
  if (!lock_rank(w)) return kLockTaken;
  w.record("start");
  misbehave(manner);
  const bool fails = manner == Manner::fail_one && (w.world == 1 || w.rank == 1);
  sleep_for(fails ? seconds / 2 : seconds);
  if (fails) return kOneFails;
  if (manner == Manner::fail) return kFails;
  w.record("end");
  return 0;
}

}  // namespace

std::filesystem::path rank_lock(const std::filesystem::path& dir, const std::string& job,
                                unsigned rank) {
  return dir / "ranks" / (job + "." + std::to_string(rank));
}

std::string holder_of(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return {};
  struct flock theirs = whole(F_WRLCK);
  const bool held = ::fcntl(fd, F_OFD_GETLK, &theirs) == 0 && theirs.l_type != F_UNLCK;
  std::string who = held ? content(fd) : "";
  ::close(fd);
  return who;
}

int run_chaos_job(const std::filesystem::path& dir, double seconds, Manner manner) {
  Worker w;
  w.dir = dir;
  const std::string mark = variable("STARLING_RUN");
  w.server = mark.substr(mark.rfind(':') + 1);
  const std::vector<std::string> visible = split(variable("CUDA_VISIBLE_DEVICES"), ',');
  std::vector<std::string> mine;
  for (const std::string& index : split(variable("STARLING_WORKER_GPUS"), ',')) {
    const auto i = parse_whole(index);
    if (i && *i < visible.size()) mine.push_back(visible[*i]);
  }
  for (const std::string& gpu : mine) w.gpus += (w.gpus.empty() ? "" : ",") + gpu;
  if (w.gpus.empty()) w.gpus = "-";
  if (manner != Manner::wait) return work(w, mine, seconds, manner);
  const pid_t child = ::fork();
  if (child < 0) return kFails;
  if (child == 0) ::_exit(work(w, mine, seconds, manner));
  int status = 0;
  while (::waitpid(child, &status, 0) != child) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace starling::chaos_live
