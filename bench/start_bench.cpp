// SPDX-License-Identifier: Apache-2.0
// How long it takes until a job's first instruction runs: started directly, as a launcher without
// guardians would, and by the process launcher with a guardian per part, without and with cgroups.
//
//   build/bench/bench/start_bench
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/machine_clock.h"
#include "base/test_folder.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/process_launcher.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

/// What a job says first.
class Sign {
 public:
  explicit Sign(const TestFolder& folder) : path_((folder.path / "sign").string()) {
    if (::mkfifo(path_.c_str(), 0600) == 0) fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Sign() { ::close(fd_); }
  Sign(const Sign&) = delete;
  Sign& operator=(const Sign&) = delete;
  [[nodiscard]] std::vector<std::string> command() const {
    return {"/bin/sh", "-c", "echo > '" + path_ + "'"};
  }
  void wait() const {
    char byte = 0;
    benchmark::DoNotOptimize(::read(fd_, &byte, 1));
  }

 private:
  std::string path_;
  int fd_ = -1;
};

void directly(benchmark::State& state) {
  const TestFolder folder("start");
  const Sign sign(folder);
  const std::vector<std::string> words = sign.command();
  std::array<char*, 4> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = const_cast<char*>(words[i].c_str());
  for (auto _ : state) {
    pid_t pid = 0;
    if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) std::abort();
    sign.wait();
    state.PauseTiming();
    ::waitpid(pid, nullptr, 0);
    state.ResumeTiming();
  }
}
BENCHMARK(directly)->Unit(benchmark::kMillisecond)->UseRealTime();

void by_a_guardian(benchmark::State& state, bool cgroups) {
  const TestFolder folder("start");
  const Sign sign(folder);
  const MachineClock clock;
  GeneratorOptions flat;
  flat.servers = 1;
  flat.gpus_per_server = 4;
  const Topology topology = generate_flat(flat).value();
  ProcessOptions options;
  options.logs = folder.path / "jobs";
  options.gpu_locks = folder.path / "gpus";
  options.gpus = {0, 4};
  options.cgroups = cgroups;
  auto launcher = ProcessLauncher::open(options, topology, clock).value();
  std::uint64_t job = 0;
  for (auto _ : state) {
    LaunchSpec s;
    s.attempt = {{0, ++job}, Epoch{1}, (1ULL << 32U) | 1U};
    s.server = ServerId{0};
    s.gpus = {GpuId{0}};
    s.gang = {{PartitionId{0}, s.gpus}};
    s.spec.command = sign.command();
    if (!launcher->start(s).ok()) std::abort();
    sign.wait();
    state.PauseTiming();
    while (launcher->reap().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    state.ResumeTiming();
  }
}
BENCHMARK_CAPTURE(by_a_guardian, by_descent, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(by_a_guardian, in_a_cgroup, true)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace starling
