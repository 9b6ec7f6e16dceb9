// SPDX-License-Identifier: Apache-2.0
#include "launch/profile/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "launch/guardian/spawn.h"

namespace starling {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

long long nanos(Clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

/// One thread each: a workload is pinned to one core, and more would only wait for one another.
std::vector<std::string> worker_environment() {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text = *at;
    if (!text.starts_with("OMP_NUM_THREADS=") && !text.starts_with("OPENBLAS_NUM_THREADS="))
      all.emplace_back(text);
  }
  all.insert(all.end(), {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"});
  return all;
}

}  // namespace

ProfileWorker::ProfileWorker(Options options) : options_(std::move(options)) {}

ProfileWorker::~ProfileWorker() {
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);  // it leads a group: the second rank of an exchange too
    ::kill(process_, SIGKILL);   // or it was started just now, and leads none yet
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0) ::close(output_);
}

Status ProfileWorker::start() {
  int orders[2] = {-1, -1}, answers[2] = {-1, -1};
  if (::pipe2(orders, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0)
    return {Errc::io, std::string("no pipe to a workload: ") + std::strerror(errno)};
  input_ = orders[1];
  output_ = answers[0];
  SpawnSpec spec;
  spec.command = {options_.program,
                  "--workload",
                  options_.spec.kind,
                  "--batch",
                  std::to_string(options_.spec.batch),
                  "--seed",
                  std::to_string(options_.seed)};
  if (options_.gpu) spec.command.push_back("--gpu");
  if (options_.first) spec.command.push_back("--first");
  spec.environment = worker_environment();
  spec.cpus = {options_.core};
  spec.input = orders[0];
  spec.output = answers[1];
  const auto started = spawn(spec);
  ::close(orders[0]);
  ::close(answers[1]);
  if (!started) return started.error();
  process_ = started.value();
  return done();
}

Error ProfileWorker::broken(const std::string& what) const {
  return {Errc::io, "workload " + to_text(options_.spec) + " " + what +
                        (noise_.empty() ? "" : ": " + noise_)};
}

Result<std::string> ProfileWorker::line(Clock::time_point until) {
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string text = read_.substr(0, end);
      read_.erase(0, end + 1);
      if (text.rfind("profile ", 0) == 0) return text.substr(8);
      noise_ = std::move(text);
      continue;
    }
    if (options_.stop && options_.stop()) return {Errc::busy, "stopped"};
    if (Clock::now() >= until) return broken("does not answer");
    pollfd poll_for{output_, POLLIN, 0};
    if (::poll(&poll_for, 1, 100) <= 0) continue;  // nothing yet, or a signal: look at stop() again
    char bytes[4096];
    const ssize_t n = ::read(output_, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return broken("ended");
    read_.append(bytes, static_cast<std::size_t>(n));
  }
}

Status ProfileWorker::wait_ready() {
  const auto text = line(Clock::now() + 120s);
  if (!text) return text.error();
  if (text.value() == "ready") return done();
  return Error{Errc::unsupported, "workload " + to_text(options_.spec) + ": " + text.value()};
}

Status ProfileWorker::order(const Order& order) {
  char text[128];
  const int size = std::snprintf(text, sizeof text, "%d %d %lld %lld %lld %lld\n",
                                 order.run ? 1 : 0, order.hold ? 1 : 0, nanos(order.start),
                                 nanos(order.from), nanos(order.to), nanos(order.end));
  if (::write(input_, text, static_cast<std::size_t>(size)) != size)
    return broken("takes no order");
  return done();
}

Result<ProfileWorker::Answer> ProfileWorker::answer(const Order& order) {
  const auto text = line(order.end + 60s);
  if (!text) return text.error();
  unsigned long long steps = 0, wall = 0, cpu = 0, held = 0;
  if (std::sscanf(text.value().c_str(), "did %llu %llu %llu %llu", &steps, &wall, &cpu, &held) != 4)
    return broken("says '" + text.value() + "'");
  if (wall == 0 || (order.run && (steps == 0 || cpu == 0)))
    return broken("did no step within its window; give more --seconds");
  const auto per_s = [&](unsigned long long count) {
    return static_cast<double>(count) / static_cast<double>(wall);
  };
  return Answer{per_s(steps) * 1e9, per_s(cpu), per_s(held)};
}

Result<WorkerProbe> probe_worker(const std::string& program) {
  FILE* pipe = ::popen(("'" + program + "' --probe 2>&1").c_str(), "r");
  if (pipe == nullptr) return {Errc::io, program + ": " + std::strerror(errno)};
  char line[256] = {};
  char last[256] = {};
  int gpu = -1;
  char torch[64] = {};
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::memcpy(last, line, sizeof last);
    if (std::sscanf(line, "profile gpu=%d torch=%63s", &gpu, torch) == 2) break;
  }
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
  }
  ::pclose(pipe);
  if (gpu < 0) {
    std::string why = last;
    if (!why.empty() && why.back() == '\n') why.pop_back();
    return {Errc::io, program + " does not work: " + why};
  }
  return WorkerProbe{gpu == 1, torch};
}

Result<std::string> find_worker_program() {
  namespace fs = std::filesystem;
  constexpr const char* kName = "starling-profile";
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / kName;
  if (!error && ::access(beside.c_str(), X_OK) == 0) return beside.string();
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t colon = std::min(folders.find(':', at), folders.size());
    const fs::path file = fs::path(folders.substr(at, colon - at)) / kName;
    if (colon > at && ::access(file.c_str(), X_OK) == 0) return file.string();
    at = colon + 1;
  }
  return {Errc::unsupported,
          std::string(kName) +
              " is neither beside this program nor in PATH; it links libtorch and "
              "is built with -DSTARLING_TORCH=ON"};
}

}  // namespace starling
