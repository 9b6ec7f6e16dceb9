// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "launch/guardian/process_stat.h"
#include "launch/launchers/launcher_battery.h"
#include "launch/launchers/log_tail.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/process_launcher.h"
#include "topology/generate/generate.h"

// For tests: a ProcessLauncher on two servers of four GPUs, and jobs for it.

namespace starling {

using namespace std::chrono_literals;

/// The steady clock, and `ahead` of it.
class RigClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return Instant(std::chrono::steady_clock::now().time_since_epoch()) + ahead;
  }
  Duration ahead{0};
};

struct ProcessRig {
  Topology topology;
  RigClock clock;
  TestFolder folder{"launch"};
  std::filesystem::path logs = folder.path / "jobs";
  ProcessOptions options;
  std::unique_ptr<ProcessLauncher> launcher;

  explicit ProcessRig(bool cgroups = true) : topology(two_servers()) {
    options.logs = logs;
    options.parts = folder.path / "parts";
    options.gpu_locks = folder.path / "gpus";
    options.gpus = {0, 8};
    options.jobs_per_gpu = 4;
    options.poll = 5ms;
    options.cgroups = cgroups;
    options.pauses = {20ms, 100ms};
    open();
  }
  ~ProcessRig() {
    launcher.reset();
    (void)end_parts(options.parts, Duration{0});
  }
  static Topology two_servers() {
    GeneratorOptions flat;
    flat.servers = 2;
    flat.gpus_per_server = 4;
    return generate_flat(flat).value();
  }
  void open() {
    launcher.reset();
    launcher = ProcessLauncher::open(options, topology, clock).value();
  }
  LauncherRig rig() {
    return {*launcher, {}, {}, [] { ::usleep(2000); }, [this] { return clock.now(); }};
  }
  /// The end of the only thing that ends.
  Exit end() {
    LauncherRig r = rig();
    const auto ended = exits_of(r, 1);
    REQUIRE(ended.size() == 1);
    return ended[0];
  }
  Exit run(const LaunchSpec& spec) {
    REQUIRE(launcher->start(spec).ok());
    return end();
  }
  /// The guardian of a part; 0: none has begun.
  [[nodiscard]] pid_t guardian_of(const LaunchSpec& spec) const {
    const auto id =
        taken_by(options.parts / (name_of(spec) + ".s" + std::to_string(spec.server.value)));
    return id ? id->pid : 0;
  }
  static std::string name_of(const LaunchSpec& spec) {
    std::string name = to_string(spec.attempt);
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
  }
  /// As an executor that is killed: what `work` does is all that is left of it.
  template <class Work>
  void in_an_earlier_life(const Work& work) {
    launcher.reset();
    const pid_t earlier = ::fork();
    if (earlier == 0) {
      open();
      work();
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(earlier, nullptr, 0);
  }
  /// Waits until the job has said something.
  std::string hear(const LaunchSpec& spec) {
    std::string text;
    for (int i = 0; i < 1000 && (text.empty() || text.back() != '\n'); ++i) {
      ::usleep(2000);
      text = log_tail(launcher->log_file(spec.attempt, spec.server), 4096);
    }
    return text;
  }
};

inline LaunchSpec spec(std::uint64_t job, std::uint32_t server, std::vector<std::string> command) {
  LaunchSpec s;
  s.attempt = {{0, job}, Epoch{1}, (1ULL << 32U) | 1U};
  s.server = ServerId{server};
  s.gpus = {GpuId{server * 4}};
  s.gang = {{PartitionId{0}, s.gpus}};
  s.spec.id = s.attempt.job;
  s.spec.command = std::move(command);
  return s;
}
inline LaunchSpec shell(std::uint64_t job, const std::string& script) {
  return spec(job, 0, {"sh", "-c", script});
}

inline bool alive(const std::string& pid) {
  const auto stat = process_stat(static_cast<pid_t>(std::atol(pid.c_str())));
  return !pid.empty() && stat && stat->state != 'Z' && stat->state != 'X';
}

/// What stands in a file once a line was written there.
inline std::string line_in(const std::filesystem::path& file) {
  for (int i = 0; i < 1500; ++i) {
    std::ifstream in(file);
    std::string line;
    if (std::getline(in, line) && !in.eof()) return line;
    ::usleep(2000);
  }
  return {};
}
/// Within a few seconds, at most.
template <class What>
bool soon(const What& what) {
  for (int i = 0; i < 2500; ++i) {
    if (what()) return true;
    ::usleep(2000);
  }
  return false;
}

}  // namespace starling
