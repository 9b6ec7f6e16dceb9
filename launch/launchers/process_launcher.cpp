#include "launch/launchers/process_launcher.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "agents/gang_layout.h"
#include "base/hash.h"
#include "launch/launchers/log_tail.h"
#include "launch/launchers/process_tree.h"
#include "launch/launchers/spawn.h"
#include "launch/launchers/worker_environment.h"

namespace starling {
namespace {

/// A worker that was just forked is not yet the leader of its group.
void signal_group(pid_t group, int number) {
  if (::kill(-group, number) != 0 && errno == ESRCH) ::kill(group, number);
}

}  // namespace

Result<std::unique_ptr<ProcessLauncher>> ProcessLauncher::open(ProcessOptions options,
                                                               const Topology& topology,
                                                               const Clock& clock) {
  std::error_code error;
  std::filesystem::create_directories(options.logs, error);
  if (!error) options.logs = std::filesystem::canonical(options.logs, error);
  if (error) {
    return {Errc::io,
            "cannot use '" + options.logs.string() + "' for job logs: " + error.message()};
  }
  return std::unique_ptr<ProcessLauncher>(new ProcessLauncher(std::move(options), topology, clock));
}

ProcessLauncher::ProcessLauncher(ProcessOptions options, const Topology& topology,
                                 const Clock& clock)
    : options_(std::move(options)), topology_(topology), clock_(clock) {
  adopt_orphans();
  kill_marked(options_.logs.string() + ":", true);
}

ProcessLauncher::~ProcessLauncher() {
  for (auto& [key, part] : parts_) {
    for (const Worker& worker : part.workers) {
      if (worker.gone) continue;
      signal_group(worker.pid, SIGKILL);
      if (!worker.ended) ::waitpid(worker.pid, nullptr, 0);
    }
  }
  if (!parts_.empty()) kill_marked(options_.logs.string() + ":", true);
}

std::string ProcessLauncher::mark(const Key& key) const {
  return options_.logs.string() + ":" + to_string(key.first) + ":" +
         std::to_string(key.second.value);
}

std::filesystem::path ProcessLauncher::log_file(AttemptId attempt, ServerId server) const {
  std::string name = to_string(attempt);
  std::replace(name.begin(), name.end(), '/', '.');
  return options_.logs / (name + ".s" + std::to_string(server.value) + ".log");
}

Status ProcessLauncher::start(const LaunchSpec& spec) {
  const Key key{spec.attempt, spec.server};
  if (parts_.contains(key)) return done();
  if (spec.spec.command.empty()) {
    return {Errc::invalid, "job " + to_string(spec.spec.id) +
                               " has no command: only an emulated executor can run it"};
  }
  const std::filesystem::path file = log_file(spec.attempt, spec.server);
  SpawnSpec process;
  process.command = spec.spec.command;
  process.output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (process.output < 0) {
    return {Errc::io, "cannot write '" + file.string() + "': " + std::strerror(errno)};
  }
  Part part;
  part.mark = mark(key);
  part.started = clock_.now();
  if (spec.first_rank == 0) {
    part.steps = std::filesystem::path(file).replace_extension(".steps");
    part.whole = gang_layout(spec.gang, spec.spec.gpus_per_worker, topology_).size() <= 1;
    std::error_code ignored;
    std::filesystem::remove(part.steps, ignored);
  }
  Status outcome = done();
  const double cpus = std::ceil(std::max(spec.spec.cpus_per_worker, 0.0));
  const EnvironmentOptions told{part.mark, part.steps.string(), options_.address};
  for (auto& environment : worker_environments(spec, topology_, told)) {
    process.environment = std::move(environment);
    process.cpus = cpus_.take(static_cast<std::size_t>(std::min(cpus, 4096.0)));
    Result<pid_t> pid = spawn(process);
    if (!pid) {
      cpus_.release(process.cpus);
      outcome = pid.error();
      break;
    }
    part.workers.push_back({pid.value(), false, false, process.cpus});
  }
  ::close(process.output);
  if (part.workers.empty()) return outcome;
  Part& kept = parts_.emplace(key, std::move(part)).first->second;
  if (!outcome.ok()) {
    // Those that did start must be seen to be gone before anybody hears of the failure.
    kept.failed = true;
    kept.exit = {127, false, outcome.error().message};
    stop(kept, Instant::min());
  }
  return done();
}

void ProcessLauncher::stop(AttemptId attempt, Duration grace) {
  const Instant force = later(clock_.now(), grace);
  for (auto part = parts_.lower_bound({attempt, ServerId{0}});
       part != parts_.end() && part->first.first == attempt; ++part) {
    stop(part->second, force);
  }
}

void ProcessLauncher::adopt(std::span<const LaunchSpec> earlier) {
  for (const LaunchSpec& part : earlier) {
    std::string tail = log_tail(log_file(part.attempt, part.server), options_.log_tail_bytes);
    lost_.push_back({part.attempt, part.server, {0, true, std::move(tail)}, Duration{0}});
  }
}

/// The earliest deadline that was ever given counts.
void ProcessLauncher::stop(Part& part, Instant force) {
  part.force = std::min(part.force, force);
  if (std::exchange(part.stopping, true)) return;
  for (const Worker& worker : part.workers) {
    if (!worker.gone) signal_group(worker.pid, SIGTERM);
  }
}

/// True when nothing of it is left.
bool ProcessLauncher::look(Part& part, Instant now) {
  for (Worker& worker : part.workers) {
    int status = 0;
    if (worker.ended || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
    worker.ended = true;
    const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (code == 0 || part.failed) continue;
    part.failed = true;
    part.exit.code = code;
    stop(part, later(now, std::chrono::seconds(1)));
  }
  const bool all_ended = std::all_of(part.workers.begin(), part.workers.end(),
                                     [](const Worker& w) { return w.ended; });
  // What a job leaves behind when it ends by itself gets no grace; one that is told to stop keeps
  // it whole.
  const bool force = now >= part.force || (all_ended && !part.stopping);
  bool gone = true;
  for (Worker& worker : part.workers) {
    if (worker.gone) continue;
    if (force) signal_group(worker.pid, SIGKILL);
    worker.gone = worker.ended && group_is_gone(worker.pid);
    gone = gone && worker.gone;
  }
  return gone && kill_marked(part.mark, false) == 0;
}

std::vector<Exit> ProcessLauncher::reap() {
  const Instant now = looked_ = clock_.now();
  std::vector<Exit> ended = std::exchange(lost_, {});
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto& [key, part] = *at;
    if (!look(at->second, now)) {
      ++at;
      continue;
    }
    ExitStatus exit = part.exit;
    std::string tail = log_tail(log_file(key.first, key.second), options_.log_tail_bytes);
    if (exit.log_tail.empty()) exit.log_tail = std::move(tail);
    ended.push_back({key.first, key.second, std::move(exit), now - part.started});
    for (const Worker& worker : part.workers) cpus_.release(worker.cpus);
    std::error_code ignored;
    if (!part.steps.empty()) std::filesystem::remove(part.steps, ignored);
    at = parts_.erase(at);
  }
  return ended;
}

/// Changes when others on its server do; 0: nobody else is there, and all of the gang is.
std::uint64_t ProcessLauncher::neighbours_of(const Key& key) const {
  std::uint64_t sum = parts_.at(key).whole ? 0 : 1;
  for (const auto& [other, part] : parts_) {
    if (other.second != key.second || other.first == key.first) continue;
    sum += mix64(other.first.job.hi ^ mix64(other.first.job.lo ^ other.first.number)) | 1U;
  }
  return sum;
}

std::vector<Progress> ProcessLauncher::measure() {
  std::vector<Progress> all;
  const Instant now = clock_.now();
  for (auto& [key, part] : parts_) {
    if (all.empty() || all.back().attempt != key.first)
      all.push_back({key.first, now - part.started, 0});
    if (part.steps.empty()) continue;
    if (const auto report = read_steps(part.steps))
      all.back().rate = part.meter.look(now, *report, neighbours_of(key));
  }
  return all;
}

Instant ProcessLauncher::next_deadline() const noexcept {
  if (!lost_.empty()) return Instant::min();
  return parts_.empty() ? kNever : later(std::max(looked_, Instant{}), options_.poll);
}

}  // namespace starling
