// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "launch/guardian/dead_man_switch.h"
#include "launch/guardian/descendants.h"
#include "launch/guardian/gpu_contexts.h"
#include "launch/guardian/gpu_locks.h"
#include "launch/guardian/job_output.h"
#include "launch/guardian/life_lock.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/guardian/part_files.h"
#include "launch/guardian/spawn.h"

namespace starling {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kLongestSleep_ms = 500;  // also after a suspension it is noticed that soon
// One that should be through with its part for so long is woken; if its loop stands as long then it
// is killed, and its workers with it.
constexpr std::int64_t kOverdue_ns = kSecond, kStandsStill_ns = 10 * kSecond;
constexpr int kRoundsAtOnce = 300;  // of killing, without a pause: no job forks faster for long

std::int64_t later_ns(std::int64_t at, std::int64_t lasts) {
  return at > kNoDeadline - lasts ? kNoDeadline : at + lasts;
}

/// Of the workers, as they are told.
std::vector<std::string> ranks_of(const PartPlan& plan) {
  std::vector<std::string> ranks;
  for (const PlannedWorker& worker : plan.workers) {
    ranks.push_back(std::to_string(ranks.size()));
    for (const std::string& entry : worker.environment) {
      if (entry.rfind("RANK=", 0) == 0) ranks.back() = entry.substr(5);
    }
  }
  return ranks;
}

class Guardian {
 public:
  Guardian(std::filesystem::path folder, PartPlan plan)
      : folder_(std::move(folder)),
        plan_(std::move(plan)),
        output_({plan_.log, ranks_of(plan_), plan_.log_bytes, plan_.tail_bytes}),
        until_(plan_.until_ns) {}

  int run() {
    Status ready = prepare();
    result_.began_ns = boot_ns();
    if (ready.ok()) ready = start_workers();
    if (!ready.ok()) {
      result_.lost = true;
      result_.unfit = ready.error().code == Errc::io;
      result_.why = ready.error().message;
      stop(boot_ns());
    }
    while (!cycle()) {
    }
    return finish();
  }

 private:
  struct Worker {
    pid_t pid;  // and group
    bool ended = false;
  };

  /// All that is needed later is opened now: nothing that the part does takes it away again.
  Status prepare() {
    sigset_t mine;
    ::sigemptyset(&mine);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&mine, number);
    ::sigprocmask(SIG_BLOCK, &mine, nullptr);
    for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);  // writes say no instead
    signals_ = ::signalfd(-1, &mine, SFD_NONBLOCK | SFD_CLOEXEC);
    control_ = ::open((folder_ / "control").c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat info {};
    if (signals_ < 0 || control_ < 0 || ::fstat(control_, &info) != 0 || !S_ISFIFO(info.st_mode))
      return {Errc::io, "its guardian cannot listen: " + std::string(std::strerror(errno))};
    if (::pipe2(report_, O_NONBLOCK | O_CLOEXEC) != 0)
      return {Errc::io, std::string("its guardian has no pipe: ") + std::strerror(errno)};
    // Room for its end is taken as long as there is some.
    if (Status room = put_file(folder_ / "room", std::string(plan_.tail_bytes + 4096, '\0'));
        !room.ok())
      return room;
    if (Status locked = locks_.take(plan_.gpu_locks, plan_.slots); !locked.ok()) return locked;
    const Result<int> life = lock_life(folder_);
    if (!life) return life.error();
    life_ = life.value();
    if (!plan_.cgroup.empty()) (void)cgroup_.make(plan_.cgroup);
    return output_.open();
  }

  Status start_workers() {
    SpawnSpec spec;
    spec.command = plan_.command;
    spec.cgroup = cgroup_.door();
    spec.cgroup_folder = cgroup_.folder();
    spec.report = report_[1];
    spec.inherited = life_;
    spec.user = plan_.user ? &*plan_.user : nullptr;
    // It has to be quicker than what it kills, where that is allowed. What it has just forked is
    // so, too, until it is the program: on a busy machine that is most of a start.
    spec.niceness = ::getpriority(PRIO_PROCESS, 0);
    (void)::setpriority(PRIO_PROCESS, 0, -10);
    Status outcome = done();
    for (PlannedWorker& worker : plan_.workers) {
      spec.environment = std::move(worker.environment);
      spec.cpus = std::move(worker.cpus);
      spec.output = output_.door(workers_.size());
      // A job that opens /dev/stdout opens the pipe anew, for which it has to be its own.
      if (plan_.user && ::fchown(spec.output, plan_.user->uid, plan_.user->gid) != 0) errno = 0;
      const Result<pid_t> pid = spawn(spec);
      if (!pid) {
        outcome = pid.error();
        break;
      }
      workers_.push_back({pid.value()});
    }
    output_.close_doors();
    return outcome;
  }

  /// True: no process is left.
  bool cycle() {
    const std::int64_t due = later_ns(later_ns(until_, plan_.grace_ns), kOverdue_ns);
    switch_.set(due, later_ns(std::max(due, boot_ns()), kStandsStill_ns));
    wait();
    hear();
    output_.take();
    read_report();
    descendants_left_ = descendants_.collect([this](pid_t pid, int status) { ended(pid, status); });
    const std::int64_t now = boot_ns();
    if (now >= until_ && !stopping_) {
      lose("stopped: its executor has not said for too long that it is wanted");
      // One that has slept through the grace, as with its machine, gives none.
      stop(later_ns(until_, plan_.grace_ns));
    }
    const bool all_ended = std::all_of(workers_.begin(), workers_.end(),
                                       [](const Worker& worker) { return worker.ended; });
    // What a part leaves behind when it ends by itself gets no grace; one that is told to stop
    // keeps it whole.
    forced_ = now >= force_ || (all_ended && !stopping_);
    if (forced_) kill_all();
    if (!all_ended || descendants_left_ || cgroup_.populated()) return false;
    contexts_wait_ = !contexts_.gone(now);
    return !contexts_wait_;
  }

  void wait() {
    std::vector<pollfd> fds{{signals_, POLLIN, 0}, {control_, POLLIN, 0}, {report_[0], POLLIN, 0}};
    const std::vector<int> ears = output_.ears();
    for (const int ear : ears) fds.push_back({ear, POLLIN, 0});
    const std::int64_t next = stopping_ ? force_ : until_;
    const std::int64_t left_ms =
        next == kNoDeadline ? kLongestSleep_ms : (next - boot_ns()) / 1'000'000 + 1;
    int patience = static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, kLongestSleep_ms));
    if (workers_.empty()) patience = 0;  // nothing was started
    if (ears.empty()) patience = std::min(patience, 50);
    if (contexts_wait_) patience = 100;
    if (forced_) {
      if (++rounds_ < kRoundsAtOnce) {
        patience = 0;
      } else {
        const int more = std::min((rounds_ - kRoundsAtOnce) / 50, 9);
        patience = std::min(1 << more, kLongestSleep_ms);
      }
      if (patience == 0 && rounds_ > 3) ::sched_yield();
    }
    (void)::poll(fds.data(), fds.size(), patience);
  }

  void hear() {
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo == SIGCHLD || signal.ssi_signo == SIGHUP) continue;
      lose("stopped: a signal has ended its guardian");
      stop(later_ns(boot_ns(), plan_.grace_ns));
    }
    ControlWord word;
    while (::read(control_, &word, sizeof word) == sizeof word) {
      if (word.magic != ControlWord::kMagic) continue;
      switch (word.kind) {
        case ControlWord::Kind::renew:
          until_ = word.at_ns;
          break;
        case ControlWord::Kind::quit:
          lose("stopped with its executor");
          [[fallthrough]];
        case ControlWord::Kind::stop:
          stop(word.at_ns);
          break;
        case ControlWord::Kind::signal:
          if (word.at_ns < 1 || word.at_ns > SIGRTMAX) break;
          for (const Worker& worker : workers_) signal_group(worker, static_cast<int>(word.at_ns));
          break;
      }
    }
  }

  void read_report() {
    int error = 0;
    if (::read(report_[0], &error, sizeof error) != sizeof error) return;
    lose(std::string("its command could not be started: ") + std::strerror(error));
    result_.unfit = true;
    stop(boot_ns());
  }

  void ended(pid_t pid, int status) {
    const auto worker = std::find_if(workers_.begin(), workers_.end(),
                                     [pid](const Worker& w) { return w.pid == pid; });
    if (worker == workers_.end() || worker->ended) return;
    worker->ended = true;
    const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (code == 0 || failed_) return;
    failed_ = true;
    result_.code = code;
    stop(later_ns(boot_ns(), kSecond));
  }

  void lose(const std::string& why) {
    if (stopping_ || failed_) return;  // it was ending anyway
    result_.lost = true;
    result_.why = why;
  }

  /// The earliest deadline that was ever given counts.
  void stop(std::int64_t force) {
    force_ = std::min(force_, force);
    if (std::exchange(stopping_, true)) return;
    for (const Worker& worker : workers_) signal_group(worker, SIGTERM);
  }

  /// The number of a group is no other group's while its leader has not been collected, or a child
  /// of ours is in it.
  void signal_group(const Worker& worker, int number) {
    if (!worker.ended) {
      if (::kill(-worker.pid, number) != 0 && errno == ESRCH) ::kill(worker.pid, number);
      return;
    }
    for (const pid_t child : descendants_.children().value_or(std::vector<pid_t>{})) {
      if (::getpgid(child) == worker.pid) {
        ::kill(-worker.pid, number);
        return;
      }
    }
  }

  void kill_all() {
    cgroup_.kill();
    for (const Worker& worker : workers_) {
      if (!worker.ended) signal_group(worker, SIGKILL);
    }
    descendants_.kill_children();
  }

  int finish() {
    result_.ended_ns = boot_ns();
    switch_.set(kNoDeadline, kNoDeadline);
    output_.take();
    const bool written = output_.finish(std::chrono::seconds(2));
    const std::string& tail = output_.tail();
    result_.tail =
        tail.size() > plan_.tail_bytes + 4 ? tail.substr(tail.size() - plan_.tail_bytes - 4) : tail;
    if (cgroup_.killed_for_memory() > 0 && !result_.lost)
      result_.why = "used more than its memory_gib and was killed for it";
    cgroup_.remove();
    const bool told = put_file_from(folder_ / "room", folder_ / "result", encode(result_)).ok();
    if (!written) ::_exit(told ? kGuarded : kNothingStarted);  // a disk holds our thread
    return told || !workers_.empty() ? kGuarded : kNothingStarted;
  }

  std::filesystem::path folder_;
  PartPlan plan_;
  DeadManSwitch switch_;
  Descendants descendants_;
  PartCgroup cgroup_;
  GpuLocks locks_;
  GpuContexts contexts_{plan_.gpus};
  JobOutput output_;
  PartResult result_;
  std::vector<Worker> workers_;
  std::int64_t until_, force_ = kNoDeadline;
  int signals_ = -1, control_ = -1, life_ = -1, report_[2] = {-1, -1};
  bool stopping_ = false, failed_ = false, forced_ = false, descendants_left_ = false,
       contexts_wait_ = false;
  int rounds_ = 0;  // of killing
};

}  // namespace

int guard(const std::filesystem::path& folder) {
  ::prctl(PR_SET_NAME, "starling-guard");
  auto plan = read_plan(folder);
  // What takes the folder first decides whether anything is started in it.
  if (!plan || !take_folder(folder, own_id())) return kNothingStarted;
  return Guardian(folder, std::move(*plan)).run();
}

}  // namespace starling
