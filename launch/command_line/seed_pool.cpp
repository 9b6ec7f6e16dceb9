// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/seed_pool.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace starling {
namespace {

struct Header {
  std::uint64_t seed = 0;
  std::uint64_t bytes = 0;  // of the result that follows
  double wall_s = 0;
};

using Clock = std::chrono::steady_clock;
constexpr int kPoll_ms = 1000;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Worker {
  pid_t process = -1;
  int from = -1;  // its pipe's end here
  std::uint64_t seed = 0;
  std::string unread;
  Clock::time_point began;  // its seed
};

bool write_all(int to, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(to, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("ended by ") + strsignal(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

Status start(Worker& worker, const SeedPool& pool, std::uint64_t end) {
  int ends[2];
  if (pipe(ends) != 0) return {Errc::io, std::string("pipe: ") + std::strerror(errno)};
  std::fflush(nullptr);
  worker.process = fork();
  if (worker.process < 0) {
    close(ends[0]), close(ends[1]);
    return {Errc::io, std::string("fork: ") + std::strerror(errno)};
  }
  if (worker.process == 0) {
    close(ends[0]);
    for (std::uint64_t seed = worker.seed; seed < end; seed += pool.processes) {
      const Clock::time_point began = Clock::now();
      const std::string result = pool.work(seed);
      const Header header{seed, result.size(), since(began)};
      if (!write_all(ends[1], &header, sizeof header)) break;
      if (!write_all(ends[1], result.data(), result.size())) break;
    }
    _exit(0);
  }
  close(ends[1]);
  worker.from = ends[0];
  worker.unread.clear();
  worker.began = Clock::now();
  return done();
}

/// What has arrived as a whole.
void take(Worker& worker, const SeedPool& pool) {
  Header header;
  while (worker.unread.size() >= sizeof header) {
    std::memcpy(&header, worker.unread.data(), sizeof header);
    if (worker.unread.size() < sizeof header + header.bytes) return;
    pool.done(header.seed, worker.unread.substr(sizeof header, header.bytes), header.wall_s);
    worker.unread.erase(0, sizeof header + header.bytes);
    worker.seed = header.seed + pool.processes;
    worker.began = Clock::now();
  }
}

/// Of the seed that takes longest.
void tell(const std::vector<Worker>& workers, const SeedPool& pool) {
  const Worker* slowest = nullptr;
  for (const Worker& worker : workers) {
    if (worker.from >= 0 && (slowest == nullptr || worker.began < slowest->began))
      slowest = &worker;
  }
  if (slowest != nullptr) pool.waits(slowest->seed, since(slowest->began));
}

}  // namespace

Status SeedPool::run(std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t end = first + count;
  std::vector<Worker> workers(std::min<std::uint64_t>(processes, count));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    workers[w].seed = first + w;
    if (Status started = start(workers[w], *this, end); !started.ok()) return started;
  }
  std::vector<char> buffer(1U << 16U);
  for (std::size_t alive = workers.size(); alive > 0;) {
    std::vector<pollfd> fds;
    fds.reserve(workers.size());
    for (const Worker& worker : workers) fds.push_back({worker.from, POLLIN, 0});
    const int ready = poll(fds.data(), fds.size(), waits ? kPoll_ms : -1);
    if (ready < 0 && errno != EINTR)
      return {Errc::io, std::string("poll: ") + std::strerror(errno)};
    if (ready <= 0) {
      if (waits) tell(workers, *this);
      continue;
    }
    for (std::size_t w = 0; w < workers.size(); ++w) {
      Worker& worker = workers[w];
      if (worker.from < 0 || fds[w].revents == 0) continue;
      const ssize_t n = read(worker.from, buffer.data(), buffer.size());
      if (n < 0) continue;
      worker.unread.append(buffer.data(), static_cast<std::size_t>(n));
      take(worker, *this);
      if (n > 0) continue;
      close(worker.from);
      worker.from = -1;
      int status = 0;
      waitpid(worker.process, &status, 0);
      if (worker.seed < end) {
        died(worker.seed, how_it_ended(status), since(worker.began));
        worker.seed += processes;
      }
      if (worker.seed < end) {
        if (Status started = start(worker, *this, end); !started.ok()) return started;
      } else {
        --alive;
      }
    }
  }
  return starling::done();
}

}  // namespace starling
