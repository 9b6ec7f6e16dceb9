// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/process_launcher.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>

#include "launch/launchers/log_tail.h"
#include "launch/launchers/process_tree.h"
#include "launch/launchers/test_process_rig.h"
#include "launch/launchers/worker_environment.h"

using namespace starling;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Rig = ProcessRig;

}  // namespace

TEST_CASE("the process launcher passes the battery") {
  Rig r;
  LauncherRig rig = r.rig();
  rig.brief = [](auto job, auto server) { return spec(job, server, {"sleep", "0.05"}); };
  rig.endless = [](auto job, auto server) { return spec(job, server, {"/bin/sleep", "1000"}); };
  launcher_battery(rig);
}

TEST_CASE("exit codes, signals and last words come back") {
  Rig r;
  const Exit failed = r.run(shell(1, "echo out; echo err >&2; exit 3"));
  CHECK(failed.exit.code == 3);
  CHECK(failed.exit.log_tail == "out\nerr\n");
  CHECK(r.run(spec(2, 0, {"/bin/false"})).exit.code == 1);
  CHECK(r.run(shell(3, "kill -SEGV $$")).exit.code == -SIGSEGV);
  const Exit missing = r.run(spec(4, 0, {"/no/such/program"}));
  CHECK(missing.exit.code == 127);
  CHECK(missing.exit.log_tail == "starling: cannot run '/no/such/program': no such program\n");
  CHECK(r.run(shell(5, "i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done"))
            .exit.log_tail.size() == 4096);
  CHECK(r.launcher->start(spec(6, 0, {})).error().code == Errc::invalid);
}

TEST_CASE("a stop right after the start is not lost, whatever this process does about signals") {
  Rig r;
  const auto before = ::signal(SIGTERM, [](int) {});
  for (std::uint64_t job = 1; job <= 200; ++job) {
    const LaunchSpec endless = spec(job, 0, {"/bin/sleep", "1000"});
    REQUIRE(r.launcher->start(endless).ok());
    r.launcher->stop(endless.attempt, 1h);
    LauncherRig rig = r.rig();
    const auto ended = exits_of(rig, 1);
    REQUIRE(ended.size() == 1);
    REQUIRE(ended[0].exit.code == -SIGTERM);
  }
  ::signal(SIGTERM, before);
}

TEST_CASE("a job that ignores SIGTERM is killed after its grace, children too") {
  Rig r;
  const LaunchSpec job = shell(1, "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000");
  REQUIRE(r.launcher->start(job).ok());
  std::string child = r.hear(job);
  child.pop_back();
  CHECK(alive(child));
  const Instant asked = r.clock.now();
  r.launcher->stop(job.attempt, 300ms);
  LauncherRig rig = r.rig();
  const auto ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.code == -SIGKILL);
  CHECK(r.clock.now() - asked >= 300ms);
  CHECK_FALSE(alive(child));
}

TEST_CASE("a process that is told to stop may use the whole grace, even as an orphan") {
  Rig r;
  const LaunchSpec job =
      shell(1, "(trap 'sleep 0.2; echo saved; exit 0' TERM; echo ready; sleep 1000 & wait) & wait");
  REQUIRE(r.launcher->start(job).ok());
  CHECK(r.hear(job) == "ready\n");
  r.launcher->stop(job.attempt, 20s);
  LauncherRig rig = r.rig();
  const auto ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.code == -SIGTERM);
  CHECK(ended[0].exit.log_tail == "ready\nsaved\n");
}

TEST_CASE("a job is over only when what it left behind is gone, also outside its group") {
  Rig r;
  const LaunchSpec job = shell(1, "setsid sleep 1000 & sleep 1000 & echo $!; exit 0");
  const Exit ended = r.run(job);
  CHECK(ended.exit.code == 0);
  CHECK(kill_marked(fs::canonical(r.logs).string() + ":"));
}

TEST_CASE("one failing worker ends the others") {
  Rig r;
  LaunchSpec job = shell(1, "[ $LOCAL_RANK = 1 ] && exit 9; sleep 1000");
  job.gpus = {GpuId{0}, GpuId{1}, GpuId{2}};
  job.gang = {{PartitionId{0}, job.gpus}};
  job.local_workers = 3;
  CHECK(r.run(job).exit.code == 9);
}

TEST_CASE("no descriptor but the life lock is a job's too, and its CPUs are those it asked for") {
  Rig r;
  const int leak = ::fcntl(STDERR_FILENO, F_DUPFD, 300);
  REQUIRE(leak >= 300);
  LaunchSpec job = shell(1, "[ -e /proc/$$/fd/" + std::to_string(leak) +
                                " ] || echo closed; ls -l /proc/$$/fd | grep -c '/alive$'; nproc");
  job.spec.cpus_per_worker = 0.5;
  CHECK(r.run(job).exit.log_tail == "closed\n1\n1\n");
  ::close(leak);
}

TEST_CASE("every worker is told its place as torchrun would") {
  const Topology topology = Rig::two_servers();
  LaunchSpec job = spec(7, 1, {"true"});
  job.gpus = {GpuId{4}, GpuId{6}, GpuId{7}};
  job.gang = {{PartitionId{1}, job.gpus}, {PartitionId{0}, {GpuId{2}, GpuId{3}}}};
  job.first_rank = 2;
  job.local_workers = 3;
  job.served = 1500ms;
  job.spec.environment = {"MINE=1", "RANK=99"};
  const auto workers = worker_environments(
      job, topology,
      {"mark", "steps", [](ServerId s) { return "host" + std::to_string(s.value); }});
  REQUIRE(workers.size() == 3);
  std::map<std::string, std::string> names;
  for (const std::string& entry : workers[2])
    names[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
  const std::map<std::string, std::string> expected = {
      {"RANK", "4"},
      {"LOCAL_RANK", "2"},
      {"WORLD_SIZE", "5"},
      {"LOCAL_WORLD_SIZE", "3"},
      {"NODE_RANK", "1"},
      {"GROUP_RANK", "1"},
      {"NNODES", "2"},
      {"MASTER_ADDR", "host0"},
      {"CUDA_VISIBLE_DEVICES", "0,2,3"},
      {"STARLING_WORKER_GPUS", "2"},
      {"STARLING_SERVED_S", "1.500"},
      {"STARLING_RUN", "mark"},
      {"MINE", "1"},
      {"STARLING_JOB", to_string(job.spec.id)},
      {"STARLING_ATTEMPT", to_string(job.attempt)},
      {"MASTER_PORT", std::to_string(master_port(job.attempt))}};
  for (const auto& [name, value] : expected) {
    CAPTURE(name);
    CHECK(names[name] == value);
  }
  CHECK(!names.contains("STARLING_STEPS"));  // rank 0 alone counts
  CHECK(!names.contains("STARLING_WORKERS"));
  // A job that wants it sees no GPU of another worker.
  job.spec.environment.push_back("STARLING_VISIBLE_GPUS=own");
  const std::vector<std::string> own = worker_environments(job, topology, {"mark", "steps", {}})[2];
  for (const char* entry :
       {"CUDA_VISIBLE_DEVICES=3", "STARLING_WORKER_GPUS=0", "LOCAL_RANK=2", "WORLD_SIZE=5"})
    CHECK(std::ranges::count(own, entry) == 1);
  job.first_rank = 0;
  const auto first = worker_environments(job, topology, {"mark", "steps", {}}).front();
  CHECK(std::ranges::count(first, "STARLING_STEPS=steps") == 1);
}

TEST_CASE("workers are told how their attempt runs, and what its job says of that is not theirs") {
  const Topology topology = Rig::two_servers();
  LaunchSpec job = spec(7, 0, {"true"});
  job.spec.environment = {"STARLING_BATCH=8", "STARLING_SERVERS=9"};
  const auto told = [&] {
    std::map<std::string, std::string> names;
    const auto workers = worker_environments(job, topology, {"mark", "", {}});
    for (const std::string& entry : workers.front()) {
      const std::string name = entry.substr(0, entry.find('='));
      for (const char* of : {"WORKERS", "SERVERS", "BATCH", "ACCUMULATION", "AVERAGED"})
        if (name == std::string("STARLING_") + of) names[of] = entry.substr(entry.find('=') + 1);
    }
    return names;
  };
  using Names = std::map<std::string, std::string>;
  CHECK(told() == Names{{"BATCH", "8"}, {"SERVERS", "9"}});
  job.allocation = {4, 0, 64, 1, false};
  CHECK(told() == Names{{"WORKERS", "4"}, {"BATCH", "64"}, {"ACCUMULATION", "1"}});
  job.allocation = {4, 2, 0, 0, true};
  CHECK(told() == Names{{"WORKERS", "4"}, {"SERVERS", "2"}, {"AVERAGED", "1"}});
}

TEST_CASE("a command that counts its steps is measured, alone and beside others") {
  Rig r;
  const LaunchSpec job = shell(1, "echo 100 > $STARLING_STEPS; echo on; sleep 1000");
  REQUIRE(r.launcher->start(job).ok());
  REQUIRE(r.hear(job) == "on\n");
  const fs::path steps = r.launcher->log_file(job.attempt, job.server).replace_extension(".steps");
  REQUIRE(fs::exists(steps));
  const auto after = [&](double done) {  // twenty seconds later
    r.clock.ahead += 20s;
    std::ofstream(steps) << done << "\n";
    return r.launcher->measure().front().rate;
  };
  CHECK(r.launcher->measure().front().rate == 0);
  CHECK(after(300) == doctest::Approx(1));
  REQUIRE(r.launcher->start(shell(2, "sleep 1000")).ok());
  CHECK(after(400) == 0);  // from here on another is beside it
  CHECK(after(500) == doctest::Approx(0.5).epsilon(0.02));
  LauncherRig rig = r.rig();
  r.launcher->stop(job.attempt, 0s);
  CHECK(exits_of(rig, 1).size() == 1);
  CHECK(!fs::exists(steps));
}

TEST_CASE("CPUs are shared out evenly and come back") {
  CpuPool pool({0, 1, 2, 3});
  CHECK(pool.take(2) == std::vector<int>{0, 1});
  CHECK(pool.take(1) == std::vector<int>{2});
  CHECK(pool.take(2) == std::vector<int>{0, 3});
  pool.release({0, 1});
  CHECK(pool.take(1) == std::vector<int>{1});
  CHECK(pool.take(9).size() == 4);
}

TEST_CASE("a log tail is valid text, however it was cut") {
  Rig r;
  const fs::path file = r.logs / "x";
  std::ofstream(file, std::ios::binary) << "\xc3\xa4\xc3\xb6z\xff\x01\n";
  CHECK(log_tail(file, 100) == "\xc3\xa4\xc3\xb6z??\n");
  CHECK(log_tail(file, 7) == "\xc3\xb6z??\n");
  CHECK(log_tail(r.logs / "none", 7).empty());
}
