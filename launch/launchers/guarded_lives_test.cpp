// SPDX-License-Identifier: Apache-2.0
// What an executor and a guardian may do to one another when either is stopped or killed. Each test
// states a way in which a job could run twice, or without a guardian.
#include <fcntl.h>
#include <sys/file.h>

#include "launch/launchers/test_guarded_rig.h"

using namespace starling;
namespace fs = std::filesystem;

TEST_CASE("guarded: what a stopped executor has started ends at its deadline (A3)") {
  BOTH_WAYS();
  Guarded r(cgroups);
  r.launcher.reset();
  LaunchSpec job = shell(1, "setsid sleep 1000 & echo $! > " + r.note.string() + "; wait");
  const pid_t executor = ::fork();
  if (executor == 0) {
    r.open();
    job.until = later(r.clock.now(), 1s);
    job.grace = 200ms;
    (void)r.launcher->start(job);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  const std::string child = line_in(r.note);
  const Instant seen = r.clock.now();
  CHECK(alive(child));
  CHECK(soon([&] { return !alive(child); }));
  const Duration lasted = r.clock.now() - seen;
  CHECK(lasted > 400ms);
  CHECK(lasted < 3s);
  ::kill(executor, SIGKILL);
  ::waitpid(executor, nullptr, 0);
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{job});
  CHECK(r.end().exit.lost);
}

TEST_CASE("guarded: a guardian that slept through its deadline gives no grace any more (B1)") {
  BOTH_WAYS();
  Guarded r(cgroups);
  LaunchSpec job =
      shell(1, "trap '' TERM; echo $$ > " + r.note.string() + "; while :; do sleep 0.05; done");
  job.until = later(r.clock.now(), 800ms);
  job.grace = 1s;
  REQUIRE(r.launcher->start(job).ok());
  const std::string worker = line_in(r.note);
  const pid_t guardian = r.guardian_of(job);
  REQUIRE(guardian > 1);
  ::kill(guardian, SIGSTOP);
  // A second after the grace its own timer wakes it, if this is late.
  while (r.clock.now() < later(job.until, 1200ms)) ::usleep(10'000);
  ::kill(guardian, SIGCONT);
  const Instant woken = r.clock.now();
  CHECK(soon([&] { return !alive(worker); }));
  CHECK(r.clock.now() - woken < 700ms);
  CHECK(r.end().exit.lost);
}

TEST_CASE("guarded: a guardian that is stopped as its executor is ends its part all the same") {
  BOTH_WAYS();
  Guarded r(cgroups);
  LaunchSpec job = shell(1, "setsid sleep 1000 & echo $! > " + r.note.string() + "; wait");
  job.until = later(r.clock.now(), 800ms);
  job.grace = 200ms;
  REQUIRE(r.launcher->start(job).ok());
  const std::string child = line_in(r.note);
  ::kill(r.guardian_of(job), SIGSTOP);  // and from here on none renews or reaps
  CHECK(soon([&] { return !alive(child); }));
  CHECK(r.clock.now() > job.until);
  CHECK(r.clock.now() < later(job.until, 4s));
  CHECK(r.end().exit.lost);
}

TEST_CASE("guarded: kill -9 of an executor costs no job (A4)") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const LaunchSpec goes_on = shell(1, "echo $$ > " + r.note.string() + "; exec sleep 1000");
  const LaunchSpec ends = spec(2, 1, {"sh", "-c", "echo last words; sleep 0.1; exit 7"});
  LaunchSpec never = shell(3, "true");
  r.in_an_earlier_life([&] {
    if (!r.launcher->start(goes_on).ok() || !r.launcher->start(ends).ok()) ::_exit(1);
  });
  const std::string pid = line_in(r.note);
  ::usleep(400'000);
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{goes_on, ends, never});
  std::vector<Exit> ended;
  CHECK(soon([&] {
    for (Exit& exit : r.launcher->reap()) ended.push_back(std::move(exit));
    return ended.size() == 2;
  }));
  REQUIRE(ended.size() == 2);
  for (const Exit& exit : ended) {
    if (exit.attempt == ends.attempt) {
      CHECK(exit.exit == ExitStatus{7, false, "last words\n"});
      CHECK(exit.served >= 100ms);
    } else {
      CHECK(exit.attempt == never.attempt);
      CHECK(exit.exit.lost);
    }
  }
  CHECK(alive(pid));
  REQUIRE(r.launcher->measure().size() == 1);
  CHECK(r.launcher->measure()[0].served >= 300ms);
  CHECK(r.launcher->start(goes_on).ok());  // a repeat
  r.launcher->renew(goes_on.attempt, r.clock.now());
  const Exit last = r.end();
  CHECK(last.attempt == goes_on.attempt);
  CHECK(last.exit.lost);
  CHECK_FALSE(alive(pid));
}

TEST_CASE("guarded: a result that was read but not kept by the executor is read again") {
  Guarded r;
  const LaunchSpec job = shell(1, "exit 3");
  CHECK(r.run(job).exit.code == 3);
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{job});
  CHECK(r.end().exit.lost);  // the cycles of end() have taken it for kept
  const LaunchSpec again = shell(2, "exit 4");
  REQUIRE(r.launcher->start(again).ok());
  CHECK(soon([&] { return r.launcher->reap().size() == 1; }));
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{again});
  CHECK(r.end().exit.code == 4);
}

TEST_CASE("guarded: a guardian that its job has stopped goes on with the next renewal") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const LaunchSpec job = shell(1, "kill -STOP $PPID; echo > " + r.note.string());
  REQUIRE(r.launcher->start(job).ok());
  (void)line_in(r.note);
  r.launcher->renew(job.attempt, later(r.clock.now(), 1h));
  CHECK(r.end().exit.code == 0);
}

TEST_CASE("guarded: what no journal knows ends when the next life begins") {
  BOTH_WAYS();
  Guarded r(cgroups);
  const LaunchSpec job = shell(1, "setsid sleep 1000 & echo $! > " + r.note.string() + "; wait");
  r.in_an_earlier_life([&] { (void)r.launcher->start(job); });
  const std::string child = line_in(r.note);
  r.open();
  r.launcher->adopt({});
  CHECK(r.launcher->health_news() == SickGpus{{}, {GpuId{0}}});
  CHECK(soon([&] {
    CHECK(r.launcher->reap().empty());
    return r.launcher->next_deadline() == kNever;
  }));
  CHECK_FALSE(alive(child));
  CHECK(r.launcher->health_news() == SickGpus{});
}

TEST_CASE("guarded: a killed guardian takes its part with it, and nothing is free before") {
  BOTH_WAYS();
  for (const bool executor_too : {false, true}) {
    CAPTURE(executor_too);
    Guarded r(cgroups);
    const LaunchSpec job = shell(1, "setsid sleep 1000 & echo $! > " + r.note.string() + "; wait");
    if (executor_too) {
      r.in_an_earlier_life([&] { (void)r.launcher->start(job); });
    } else {
      REQUIRE(r.launcher->start(job).ok());
    }
    const std::string child = line_in(r.note);
    const pid_t guardian = r.guardian_of(job);
    REQUIRE(guardian > 1);
    ::kill(guardian, SIGKILL);
    if (executor_too) {
      CHECK(soon([&] { return clear_unguarded(r.options.parts) == 0 && !alive(child); }));
      r.open();
      r.launcher->adopt(std::vector<LaunchSpec>{job});
    }
    CHECK(r.end().exit.lost);
    CHECK_FALSE(alive(child));
    CHECK(r.run(shell(2, "true")).exit == ExitStatus{});
  }
}

TEST_CASE("guarded: what left its session and its environment is found by the lock it inherited") {
  Guarded r(false);
  const LaunchSpec job = shell(1, "env -i sh -c 'setsid sleep 1000 & echo $! > " + r.note.string() +
                                      "; setsid sleep 1001 & sleep 1002'");
  r.in_an_earlier_life([&] { (void)r.launcher->start(job); });
  const std::string child = line_in(r.note);
  ::kill(r.guardian_of(job), SIGKILL);
  CHECK(soon([&] { return clear_unguarded(r.options.parts) == 0 && !alive(child); }));
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{job});
  CHECK(r.end().exit.lost);
}

TEST_CASE("guarded: the lock of a part's life is free when it is over") {
  Guarded r(false);
  const LaunchSpec job = shell(1, "echo > " + r.note.string() + "; exec sleep 1000");
  REQUIRE(r.launcher->start(job).ok());
  (void)line_in(r.note);
  const fs::path folder = r.options.parts / (Guarded::name_of(job) + ".s0");
  const int fd = ::open((folder / "alive").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  CHECK(::flock(fd, LOCK_EX | LOCK_NB) != 0);
  r.launcher->stop(job.attempt, 0ms);
  (void)r.end();
  CHECK(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  ::close(fd);
}

TEST_CASE("guarded: a flock that is stopped for good ends what runs, also without an executor") {
  Guarded r;
  const LaunchSpec job = shell(1, "trap '' TERM; sleep 1000 & echo $! > " + r.note.string() +
                                      "; while :; do sleep 0.05; done");
  r.in_an_earlier_life([&] { (void)r.launcher->start(job); });
  const std::string child = line_in(r.note);
  CHECK(end_parts(r.options.parts, 100ms));
  CHECK_FALSE(alive(child));
  r.open();
  r.launcher->adopt(std::vector<LaunchSpec>{job});
  CHECK(r.end().exit.lost);
}

TEST_CASE("guarded: two executors do not share a folder of parts") {
  Guarded r;
  CHECK(ProcessLauncher::open(r.options, r.topology, r.clock).error().code == Errc::conflict);
}
