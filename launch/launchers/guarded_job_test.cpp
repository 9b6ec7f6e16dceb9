// What a job, an executor or a guardian may do to one another on a real machine. Each test states
// a way in which a GPU could be free and in use, a job run twice, or an executor hang.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>

#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/process_rig.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

/// Where whoever runs these tests can run it.
std::string hard_job() {
  const char* const copy = std::getenv("HARD_JOB");
  return copy != nullptr ? copy : HARD_JOB;
}

bool cgroups_here() { return !PartCgroup::base().empty(); }

/// Both ways to find what a job has started; the second alone where there are no cgroups.
struct Guarded : ProcessRig {
  explicit Guarded(bool cgroups = true) : ProcessRig(cgroups) {}
  fs::path note = folder.path / "note";
  std::string hard(const std::string& kind) const {
    return "'" + hard_job() + "' " + kind + " '" + note.string() + "'";
  }
};

#define BOTH_WAYS()              \
  bool cgroups = true;           \
  SUBCASE("with a cgroup") {     \
    if (!cgroups_here()) return; \
  }                              \
  SUBCASE("by descent") { cgroups = false; }

}  // namespace

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
  CHECK(bad->size() == 8);
  CHECK(soon([&] { return !r.launcher->reap().empty(); }));
  CHECK_FALSE(alive(child));
  std::optional<Placement> news;
  CHECK(soon([&] {
    r.launcher->reap();
    news = r.launcher->health_news();
    return news.has_value();
  }));
  CHECK(news == Placement{});
  CHECK(r.run(shell(3, "true")).exit == ExitStatus{});
}

TEST_CASE("guarded: what a machine cannot start is lost, what is no program is its job's fault") {
  Guarded r;
  const Exit wrong = r.run(spec(2, 0, {"/etc"}));
  CHECK(wrong.exit.code == 126);
  CHECK_FALSE(wrong.exit.lost);
  CHECK(r.launcher->health_news() == std::nullopt);
  fs::rename(r.logs, r.folder.path / "away");
  const Exit nowhere = r.run(shell(3, "true"));
  CHECK(nowhere.exit.lost);
  CHECK(nowhere.exit.log_tail.find("cannot write") != std::string::npos);
  const auto bad = r.launcher->health_news();
  REQUIRE(bad.has_value());
  CHECK(bad->size() == 8);
  CHECK_FALSE(r.launcher->start(shell(4, "true")).ok());
  for (int i = 0; i < 60; ++i) {
    r.launcher->reap();
    ::usleep(5000);
  }
  CHECK(r.launcher->health_news() == std::nullopt);  // still
  fs::rename(r.folder.path / "away", r.logs);
  CHECK(soon([&] {
    r.launcher->reap();
    return r.launcher->health_news() == Placement{};
  }));
  CHECK(r.launcher->next_deadline() == kNever);
}

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
  while (r.clock.now() < later(job.until, 1200ms)) ::usleep(10'000);
  CHECK(alive(worker));
  ::kill(guardian, SIGCONT);
  const Instant woken = r.clock.now();
  CHECK(soon([&] { return !alive(worker); }));
  CHECK(r.clock.now() - woken < 700ms);
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
  CHECK(r.end().exit.lost);  // the turns of end() have taken it for kept
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
  CHECK(r.launcher->health_news() == Placement{GpuId{0}});
  CHECK(soon([&] {
    CHECK(r.launcher->reap().empty());
    return r.launcher->next_deadline() == kNever;
  }));
  CHECK_FALSE(alive(child));
  CHECK(r.launcher->health_news() == Placement{});
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

TEST_CASE("guarded: what a job puts in place of its files hangs and grows nobody (A9)") {
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

TEST_CASE("guarded: a GPU is locked for as long as anybody of its part lives") {
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
  CHECK(r.launcher->health_news() == Placement{GpuId{0}});
  std::ofstream(freezer / "freezer.state") << "THAWED" << std::flush;
  CHECK(r.end().exit.code < 0);
  CHECK(r.launcher->health_news() == Placement{});
  soon([&] { return ::rmdir(freezer.c_str()) == 0; });
}

TEST_CASE("guarded: who stops a flock for good ends what runs, also without an executor") {
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

TEST_CASE("logs of jobs that have ended go by age and by bytes") {
  const TestFolder folder("logs");
  const auto make = [&](const char* name, int hours) {
    std::ofstream(folder.path / name) << std::string(1000, 'x');
    fs::last_write_time(folder.path / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  make("a.log", 50), make("a.log.1", 51), make("b.log", 3), make("c.log", 2), make("d.log", 60);
  make("other", 100);
  LogLimits limits;
  limits.age = 48h;
  limits.all_bytes = 1500;
  JobLogs logs(folder.path, limits);
  logs.tidy(Instant{}, {folder.path / "d.log"});
  CHECK_FALSE(fs::exists(folder.path / "a.log"));
  CHECK_FALSE(fs::exists(folder.path / "a.log.1"));
  CHECK_FALSE(fs::exists(folder.path / "b.log"));
  CHECK(fs::exists(folder.path / "c.log"));
  CHECK(fs::exists(folder.path / "d.log"));
  CHECK(fs::exists(folder.path / "other"));
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
