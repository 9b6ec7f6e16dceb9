// SPDX-License-Identifier: Apache-2.0
// What a job may do to its executor and its machine. Each test states a way in which a GPU could be
// free and in use, or an executor hang.
#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "launch/launchers/test_guarded_rig.h"

using namespace starling;
namespace fs = std::filesystem;

TEST_CASE("guarded: a job that leaves its session and its environment is over when all of it is") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const std::string where = r.note.string();
  const Exit ended =
      r.run(shell(1, "setsid env -i PATH=$PATH sleep 1000 & echo $! > " + where + "; sleep 0.1"));
  CHECK(ended.exit.code == 0);
  CHECK_FALSE(alive(line_in(r.note)));
}

TEST_CASE("guarded: a job that takes another name and empties its environment") {
  BOTH_WAYS();
  Guarded r(cgroups);
  CHECK(r.run(shell(1, r.hard("title"))).exit.code == 0);
  CHECK_FALSE(alive(line_in(r.note)));
}

TEST_CASE("guarded: chains that fork and end do not outrun a cancel, nor their job's end") {
  BOTH_WAYS();
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    Guarded r(cgroups);
    const LaunchSpec job = shell(1, r.hard("chain") + (cancelled ? "; sleep 1000" : ""));
    REQUIRE(r.launcher->start(job).ok());
    REQUIRE(!line_in(r.note).empty());
    if (cancelled) r.launcher->stop(job.attempt, 100ms);
    CHECK((r.end().exit.code == 0) == !cancelled);
    const auto last = fs::last_write_time(r.note);
    ::usleep(50'000);
    CHECK(fs::last_write_time(r.note) == last);
  }
}

TEST_CASE("guarded: a job that hears no SIGTERM gets its grace and no more") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const LaunchSpec job = shell(1, r.hard("deaf") + " & wait");
  REQUIRE(r.launcher->start(job).ok());
  const std::string pid = line_in(r.note);
  r.launcher->stop(job.attempt, 200ms);
  r.end();
  CHECK_FALSE(alive(pid));
}

TEST_CASE("guarded: an executor without descriptors frees no GPU in use, and says it is unfit") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const LaunchSpec job =
      shell(1, "setsid sleep 1000 & echo $! > " + r.note.string() + "; sleep 0.2");
  REQUIRE(r.launcher->start(job).ok());
  const std::string child = line_in(r.note);
  rlimit before{}, none{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  none = before;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  const Status refused = r.launcher->start(shell(2, "true"));
  const auto bad = r.launcher->health_news();
  bool free_too_early = false;
  for (int i = 0; i < 200; ++i) {
    for (const Exit& exit : r.launcher->reap()) {
      (void)exit;
      ::setrlimit(RLIMIT_NOFILE, &before);
      free_too_early = alive(child);
    }
    ::usleep(2000);
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK_FALSE(free_too_early);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::io);
  REQUIRE(bad.has_value());
  CHECK(bad->gpus.size() == 8);
  CHECK(soon([&] { return !r.launcher->reap().empty(); }));
  CHECK_FALSE(alive(child));
  std::optional<SickGpus> news;
  CHECK(soon([&] {
    r.launcher->reap();
    news = r.launcher->health_news();
    return news.has_value();
  }));
  CHECK(news == SickGpus{});
  CHECK(r.run(shell(3, "true")).exit == ExitStatus{});
}

TEST_CASE("guarded: what a machine cannot start is lost, what is no program is its job's fault") {
  Guarded r;
  const Exit wrong = r.run(spec(2, 0, {"/etc"}));
  CHECK(wrong.exit.code == 126);
  CHECK_FALSE(wrong.exit.lost);
  CHECK(r.launcher->health_news() == std::nullopt);
  fs::rename(r.logs, r.folder.path / "away");
  std::ofstream(r.logs) << "a file where a folder belongs";
  const Exit nowhere = r.run(shell(3, "true"));
  CHECK(nowhere.exit.lost);
  CHECK(nowhere.exit.log_tail.find("cannot write") != std::string::npos);
  const auto bad = r.launcher->health_news();
  REQUIRE(bad.has_value());
  CHECK(bad->gpus.size() == 8);
  CHECK_FALSE(r.launcher->start(shell(4, "true")).ok());
  for (int i = 0; i < 60; ++i) {
    r.launcher->reap();
    ::usleep(5000);
  }
  CHECK(r.launcher->health_news() == std::nullopt);  // still
  fs::remove(r.logs);                                // the folder is made again
  CHECK(soon([&] {
    r.launcher->reap();
    return r.launcher->health_news() == SickGpus{};
  }));
  CHECK(r.run(shell(5, "true")).exit == ExitStatus{});
  CHECK(r.launcher->next_deadline() == kNever);
}

TEST_CASE("guarded: a program that is cut short is its job's fault, and no machine is bad for it") {
  // Up to the name of its interpreter, which is not there any more: the kernel says EIO.
  Guarded r;
  const fs::path whole = hard_job(), cut = r.folder.path / "cut";
  fs::copy_file(whole, cut);
  std::fstream file(cut, std::ios::in | std::ios::binary);
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  Elf64_Phdr part{};
  for (int i = 0; i < head.e_phnum && part.p_type != PT_INTERP; ++i) {
    file.seekg(static_cast<std::streamoff>(head.e_phoff + sizeof part * static_cast<unsigned>(i)));
    file.read(reinterpret_cast<char*>(&part), sizeof part);
  }
  REQUIRE(part.p_type == PT_INTERP);
  fs::resize_file(cut, part.p_offset + 5);
  const auto is_its_own = [&](const LaunchSpec& job) {
    const Exit exit = r.run(job);
    CHECK(exit.exit.code == 126);
    CHECK_FALSE(exit.exit.lost);
    CHECK(exit.exit.log_tail.find("is the file whole?") != std::string::npos);
    CHECK(r.launcher->health_news() == std::nullopt);
  };
  is_its_own(spec(1, 0, {cut.string()}));
  LaunchSpec by_name = spec(2, 0, {"cut"});
  by_name.spec.environment.emplace_back("PATH=/no/such/folder::" + r.folder.path.string());
  is_its_own(by_name);
  CHECK(r.run(shell(3, "true")).exit == ExitStatus{});
}

TEST_CASE("guarded: what a job puts in place of its files hangs and grows no process (A9)") {
  Guarded r;
  const LaunchSpec job = shell(1,
                               "echo on; rm -f \"$STARLING_STEPS\"; mkfifo \"$STARLING_STEPS\"; "
                               "for l in \"${STARLING_RUN%%:*}\"/*.log; do rm $l; mkfifo $l; "
                               "done; sleep 1000");
  REQUIRE(r.launcher->start(job).ok());
  const fs::path log = r.launcher->log_file(job.attempt, job.server);
  CHECK(soon([&] { return fs::is_fifo(log); }));
  const Instant before = r.clock.now();
  CHECK(r.launcher->measure()[0].rate == 0);
  CHECK(log_tail(log, 4096).empty());
  CHECK(r.clock.now() - before < 1s);
  r.launcher->stop(job.attempt, 100ms);
  CHECK(r.end().exit.log_tail == "on\n");

  const fs::path big = r.folder.path / "digits", link = r.folder.path / "link";
  std::ofstream(big) << std::string(1'000'000, '7') << "\n";
  CHECK_FALSE(read_steps(big).has_value());  // 64 sevens are no number of steps
  std::ofstream(big) << "12 3.5" << std::string(1'000'000, ' ') << "\n";
  CHECK(read_steps(big)->alone == 3.5);
  fs::create_symlink(big, link);
  CHECK_FALSE(read_steps(link).has_value());
}

TEST_CASE("guarded: output is bounded, and its end is kept (A18)") {
  Guarded r;
  r.options.log_limits.part_bytes = 1U << 20U;
  r.open();
  const LaunchSpec job = shell(1, "yes | head -c 20000000; echo the end");
  const Exit ended = r.run(job);
  CHECK(ended.exit.code == 0);
  CHECK(ended.exit.log_tail.ends_with("y\nthe end\n"));
  const fs::path log = r.launcher->log_file(job.attempt, job.server);
  CHECK(fs::file_size(log) + fs::file_size(log.string() + ".1") <= (1U << 20U));
  CHECK(log_tail(log, 8) == "the end\n");
}

TEST_CASE("guarded: a GPU is locked for as long as any process of its part lives") {
  Guarded r;
  r.options.jobs_per_gpu = 1;
  r.open();
  const LaunchSpec job = shell(1, "trap '' TERM; echo on; while :; do sleep 0.05; done");
  REQUIRE(r.launcher->start(job).ok());
  CHECK(r.hear(job) == "on\n");
  REQUIRE(r.launcher->start(shell(2, "true")).ok());
  const Exit refused = r.end();
  CHECK(refused.exit.lost);
  CHECK(refused.exit.log_tail.find("is locked") != std::string::npos);
  CHECK(r.launcher->health_news() == std::nullopt);  // the machine can start things
  r.launcher->stop(job.attempt, 0ms);
  r.end();
  CHECK(r.run(shell(3, "true")).exit == ExitStatus{});
}

TEST_CASE("guarded: a part that cannot die keeps its GPU, which is told to be bad (B2)") {
  const fs::path freezer = "/sys/fs/cgroup/freezer/starling-test-" + std::to_string(::getpid());
  std::error_code error;
  if (!fs::create_directory(freezer, error)) {
    MESSAGE("no freezer of the first kind, which holds up SIGKILL: not tested");
    return;
  }
  Guarded r;
  r.options.stuck = 50ms;
  r.open();
  const LaunchSpec job = shell(1, "echo $$ > " + r.note.string() + "; sleep 1000");
  REQUIRE(r.launcher->start(job).ok());
  std::ofstream(freezer / "cgroup.procs") << line_in(r.note) << std::flush;
  std::ofstream(freezer / "freezer.state") << "FROZEN" << std::flush;
  r.launcher->stop(job.attempt, 50ms);
  for (int i = 0; i < 100; ++i) {
    CHECK(r.launcher->reap().empty());
    ::usleep(2000);
  }
  CHECK(r.launcher->health_news() == SickGpus{{GpuId{0}}});
  std::ofstream(freezer / "freezer.state") << "THAWED" << std::flush;
  CHECK(r.end().exit.code < 0);
  CHECK(r.launcher->health_news() == SickGpus{});
  soon([&] { return ::rmdir(freezer.c_str()) == 0; });
}

TEST_CASE("all of this holds for another user than root, too") {
  if (::geteuid() != 0) return;
  const TestFolder folder("nobody");
  ::chmod(folder.path.c_str(), 0777);
  fs::copy_file(HARD_JOB, folder.path / "hard_job");
  ::chmod((folder.path / "hard_job").c_str(), 0755);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("HARD_JOB", (folder.path / "hard_job").c_str(), 1);
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(9);
    ::execl("/proc/self/exe", "launchers_test", "-tc=guarded*,the process launcher*", nullptr);
    ::_exit(9);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
