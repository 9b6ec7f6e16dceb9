// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/guardian.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/test_folder.h"
#include "launch/guardian/dead_man_switch.h"
#include "launch/guardian/gpu_contexts.h"
#include "launch/guardian/gpu_locks.h"
#include "launch/guardian/job_output.h"
#include "launch/guardian/log_starts.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/guardian/part_files.h"
#include "launch/guardian/process_stat.h"

using namespace starling;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void say(const JobOutput& output, const std::string& text, std::size_t worker = 0) {
  REQUIRE(::write(output.door(worker), text.data(), text.size()) ==
          static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("what /proc says of a process, of a dead one that was not collected, and of none") {
  const auto mine = process_stat(::getpid());
  REQUIRE(mine);
  CHECK(mine->parent == ::getppid());
  CHECK(mine->start > 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  const auto dead = process_stat(child);
  REQUIRE(dead);
  CHECK(dead->state == 'Z');
  CHECK(dead->parent == ::getpid());
  ::waitpid(child, nullptr, 0);
  CHECK(process_stat(child).value_or(ProcessStat{'?'}).state == 'X');
}

TEST_CASE("plan and result come back as they were, and nothing else is taken for them") {
  PartPlan plan;
  plan.until_ns = -5;
  plan.command = {"a b", ""};
  plan.workers = {{{"X=1\n", "Y="}, {3, 4}}, {{}, {}}};
  plan.gpu_locks = {"/x"};
  plan.gpus = {7};
  plan.slots = 3;
  const std::string bytes = encode(plan);
  const auto back = decode_plan(bytes);
  REQUIRE(back.has_value());
  CHECK(encode(*back) == bytes);
  CHECK(back->workers[0].cpus == std::vector<int>{3, 4});
  CHECK(!back->user);
  PartPlan of_ann = plan;
  of_ann.user = PartUser{1000, 1001, {1001, 27}};
  const std::string hers = encode(of_ann);
  REQUIRE(decode_plan(hers).has_value());
  CHECK(encode(*decode_plan(hers)) == hers);
  CHECK(decode_plan(hers)->user->groups == std::vector<gid_t>{1001, 27});
  for (std::size_t cut = 0; cut < hers.size(); ++cut)  // least of all as a plan of ours
    CHECK_FALSE(decode_plan(hers.substr(0, cut)).has_value());
  const std::string result = encode(PartResult{-9, true, true, 1, 2, "why", "tail"});
  REQUIRE(decode_result(result).has_value());
  CHECK(encode(*decode_result(result)) == result);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    CHECK_FALSE(decode_plan(bytes.substr(0, cut)).has_value());
  for (std::size_t cut = 0; cut < result.size(); ++cut)
    CHECK_FALSE(decode_result(result.substr(0, cut)).has_value());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x81);
    (void)decode_plan(other);  // whatever it is: no crash, no gigabytes
  }
}

TEST_CASE("the kernel wakes or kills a process that stands still, at the times last set") {
  const auto ended = [](std::int64_t wake_ns, std::int64_t kill_ns) {
    const std::int64_t began = boot_ns();
    const pid_t child = ::fork();
    if (child == 0) {
      DeadManSwitch still;
      const std::int64_t now = boot_ns();
      still.set(now + 1, now + 1'000'000'000'000);
      still.set(wake_ns == kNoDeadline ? wake_ns : now + wake_ns, now + kill_ns);
      ::raise(SIGSTOP);
      ::_exit(7);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(boot_ns() - began >= std::min(wake_ns, kill_ns));
    return status;
  };
  const int woken = ended(200'000'000, 60'000'000'000);
  CHECK(WIFEXITED(woken));
  CHECK(WEXITSTATUS(woken) == 7);
  const int killed = ended(kNoDeadline, 200'000'000);
  CHECK(WIFSIGNALED(killed));
  CHECK(WTERMSIG(killed) == SIGKILL);
}

TEST_CASE("the first to take a folder has it, and is told from any later process") {
  const TestFolder folder("taken");
  CHECK_FALSE(taken_by(folder.path).has_value());
  GuardianId me = own_id();
  CHECK(is_there(me));
  CHECK(take_folder(folder.path, me));
  CHECK_FALSE(take_folder(folder.path, GuardianId{}));
  const auto found = taken_by(folder.path);
  REQUIRE(found.has_value());
  CHECK(found->pid == me.pid);
  CHECK(is_there(*found));
  me.start += 1;  // the same number, another process
  CHECK_FALSE(is_there(me));
  me.start -= 1;
  me.boot[0] = me.boot[0] == 'x' ? 'y' : 'x';
  CHECK_FALSE(is_there(me));
  CHECK_FALSE(is_there(GuardianId{}));
}

TEST_CASE("a file that is not a plain one of ours is not read, and nothing waits for it") {
  const TestFolder folder("own");
  REQUIRE(::mkfifo((folder.path / "fifo").c_str(), 0600) == 0);
  std::ofstream(folder.path / "plain") << "0123456789";
  fs::create_symlink(folder.path / "plain", folder.path / "link");
  CHECK(read_own_file(folder.path / "plain", 4).value() == "0123");
  CHECK_FALSE(read_own_file(folder.path / "fifo", 4).ok());
  CHECK_FALSE(read_own_file(folder.path / "link", 4).ok());
  CHECK_FALSE(read_own_file(folder.path, 4).ok());
  CHECK_FALSE(read_own_file("/dev/zero", 4).ok());
  CHECK(read_own_file(folder.path / "none", 4).error().code == Errc::not_found);
}

TEST_CASE("output is rotated, bounded, and its end is known") {
  const TestFolder folder("output");
  const fs::path file = folder.path / "log";
  JobOutput output({.file = file, .file_bytes = 1000, .tail_bytes = 10});
  REQUIRE(output.open().ok());
  for (int i = 0; i < 300; ++i) {
    say(output, "line " + std::to_string(1000 + i) + "\n");
    output.take();
  }
  output.close_doors();
  output.take();
  CHECK(output.finish(5s));
  CHECK(fs::file_size(file) <= 500);
  CHECK(fs::file_size(file.string() + ".1") <= 500);
  CHECK(content(file).ends_with("line 1299\n"));
  CHECK(output.tail().ends_with("line 1299\n"));
  const auto inode_of = [](const fs::path& log) {
    struct stat info {};
    return ::stat(log.c_str(), &info) == 0 ? info.st_ino : 0;
  };
  const fs::path earlier = file.string() + ".1";
  const LogStarts starts = LogStarts::read(file);
  CHECK(starts.of_newest(inode_of(file)).value_or(0) + fs::file_size(file) == 3000);
  CHECK(starts.of_before(inode_of(earlier)).value_or(0) + fs::file_size(earlier) ==
        starts.newest.bytes);
  CHECK_FALSE(LogStarts::read(folder.path / "other").of_newest(1));
}

TEST_CASE("lines of several workers are whole, and say whose they are") {
  const TestFolder folder("output");
  const fs::path file = folder.path / "log";
  {
    JobOutput output({.file = file, .ranks = {"4", "5"}, .file_bytes = 1'000'000});
    REQUIRE(output.open().ok());
    say(output, "one ", 0);
    output.take();
    say(output, "other\n\n", 1);
    output.take();
    say(output, "line\nand a beginning", 0);
    output.take();
    say(output, std::string(5000, 'x'), 1);
    output.take();
    output.close_doors();
    CHECK(output.ears().size() == 2);
    output.take();
    CHECK(output.ears().empty());
    CHECK(output.finish(5s));
  }
  CHECK(content(file) == "[5] other\n[5] \n[4] one line\n[5] " + std::string(4096, 'x') +
                             "\n[4] and a beginning\n[5] " + std::string(904, 'x') + "\n");
}

TEST_CASE("how a part ended is written into the room that was kept for it") {
  const TestFolder folder("room");
  const fs::path room = folder.path / "room", result = folder.path / "result";
  REQUIRE(put_file(room, std::string(8192, '\0')).ok());
  struct stat kept {
  }, now{};
  REQUIRE(::stat(room.c_str(), &kept) == 0);
  CHECK(put_file_from(room, result, "it ended").ok());
  REQUIRE(::stat(result.c_str(), &now) == 0);
  CHECK(now.st_ino == kept.st_ino);
  CHECK(content(result) == "it ended");
  CHECK_FALSE(fs::exists(room));
  CHECK(put_file_from(room, result, "again, without").ok());
  CHECK(content(result) == "again, without");
}

TEST_CASE("a full disk holds no process up, and the log says what is missing") {
  const TestFolder folder("output");
  const fs::path file = folder.path / "log";
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{}, full{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  full = before;
  full.rlim_cur = 0;
  {
    JobOutput output({.file = file, .file_bytes = 100'000});
    REQUIRE(output.open().ok());
    ::setrlimit(RLIMIT_FSIZE, &full);
    say(output, "nobody reads this\n");
    output.take();
    std::this_thread::sleep_for(100ms);
    ::setrlimit(RLIMIT_FSIZE, &before);
    say(output, "room again\n");
    output.take();
    CHECK(output.finish(5s));
  }
  ::signal(SIGXFSZ, ignored);
  CHECK(content(file) == "\nstarling: 18 bytes of output left out\nroom again\n");
}

std::atomic<std::uint64_t> spare_now{0};

TEST_CASE("a disk is not filled to the last byte by what jobs print") {
  const TestFolder folder("output");
  const fs::path file = folder.path / "log";
  JobOutput output(
      {.file = file, .file_bytes = 100'000, .spare = [](int) { return spare_now.load(); }});
  REQUIRE(output.open().ok());
  spare_now = 17;
  say(output, "nobody reads this\n");
  output.take();
  std::this_thread::sleep_for(100ms);
  spare_now = 1000;
  say(output, "room again\n");
  output.take();
  CHECK(output.finish(5s));
  CHECK(content(file) == "\nstarling: 18 bytes of output left out\nroom again\n");
}

TEST_CASE("some of a disk is not for logs") {
  const TestFolder folder("output");
  std::ofstream(folder.path / "file") << "x";
  const int fd = ::open((folder.path / "file").c_str(), O_RDONLY);
  const fs::space_info disk = fs::space(folder.path);
  CHECK(spare_bytes(fd) < disk.available);
  if (disk.available > disk.capacity / 10) CHECK(spare_bytes(fd) > 0);
  ::close(fd);
  CHECK(spare_bytes(-1) > 1ULL << 60U);  // not known
}

TEST_CASE("a log that is no file is refused") {
  const TestFolder folder("output");
  REQUIRE(::mkfifo((folder.path / "fifo").c_str(), 0600) == 0);
  CHECK_FALSE(JobOutput({.file = folder.path / "fifo", .file_bytes = 10}).open().ok());
  fs::create_symlink(folder.path / "other", folder.path / "link");
  CHECK_FALSE(JobOutput({.file = folder.path / "link", .file_bytes = 10}).open().ok());
  CHECK_FALSE(fs::exists(folder.path / "other"));
}

TEST_CASE("a GPU has as many locks as parts may share it, and they go with their holder") {
  const TestFolder folder("locks");
  const std::vector<std::string> one{folder.path / "gpu-0"},
      both{folder.path / "gpu-1", folder.path / "gpu-0"};
  GpuLocks first, second, third;
  CHECK(first.take(one, 2).ok());
  {
    GpuLocks shares;
    CHECK(shares.take(both, 2).ok());
    CHECK(second.take(both, 2).error().code == Errc::conflict);
  }
  CHECK(second.take(both, 2).ok());
  CHECK(third.take({folder.path / "none" / "gpu"}, 1).error().code == Errc::io);
}

TEST_CASE("a GPU is free once the driver holds nothing of dead processes (A5)") {
  GpuContexts unknown_driver({0}, "no-such-library.so");
  CHECK(unknown_driver.gone(0));
  ::setenv("FAKE_NVML_GPU", "2", 1);
  ::setenv("FAKE_NVML_PID", std::to_string(::getpid()).c_str(), 1);
  GpuContexts mine({0, 2}, FAKE_NVML), others({0, 1}, FAKE_NVML);
  CHECK(mine.gone(0));  // it lives: a neighbour
  ::setenv("FAKE_NVML_PID", "4194303", 1);
  CHECK_FALSE(mine.gone(1));
  CHECK(others.gone(1));
  CHECK_FALSE(mine.gone(GpuContexts::kPatience_ns));
  CHECK(mine.gone(GpuContexts::kPatience_ns + 1));
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  CHECK(GpuContexts({2}, FAKE_NVML).gone(0));
  for (const char* name : {"FAKE_NVML_GPU", "FAKE_NVML_PID", "FAKE_NVML_BROKEN"}) ::unsetenv(name);
}

TEST_CASE("a folder without a plan starts nothing") {
  const TestFolder folder("guard");
  CHECK(guard(folder.path) == kNothingStarted);
  std::ofstream(folder.path / "plan") << "no plan";
  CHECK(guard(folder.path) == kNothingStarted);
  CHECK_FALSE(taken_by(folder.path).has_value());
}

// A folder with the files that the kernel makes in a cgroup stands for one.
TEST_CASE("a part's cgroup is given its limits, and what is not there is said") {
  const TestFolder folder("cgroup");
  const fs::path above = folder.path, cgroup = above / "part";
  fs::create_directory(cgroup);
  const auto got_without = PartCgroup::limit(cgroup, {2, 3});
  CHECK_FALSE(got_without.cpus);
  CHECK_FALSE(got_without.memory);
  for (const char* file : {"cpu.max", "cpu.weight", "memory.max", "memory.swap.max",
                           "memory.oom.group", "cgroup.procs"})
    std::ofstream(cgroup / file).flush();
  std::ofstream(cgroup / "cgroup.events") << "populated 0\nfrozen 0\n";
  std::ofstream(cgroup / "memory.events") << "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n";
  const auto got = PartCgroup::limit(cgroup, {1.5, 0.5});
  CHECK(got.cpus);
  CHECK(got.memory);
  CHECK(content(cgroup / "cpu.max") == "150000 100000");
  CHECK(content(cgroup / "cpu.weight") == "150");
  CHECK(content(cgroup / "memory.max") == "536870912");
  CHECK(content(cgroup / "memory.swap.max") == "0");
  PartCgroup part;
  REQUIRE(part.open(cgroup));
  CHECK(part.killed_for_memory() == 2);
  const auto nothing = PartCgroup::limit(cgroup, {});
  CHECK(nothing.cpus);
  CHECK(nothing.memory);
}
