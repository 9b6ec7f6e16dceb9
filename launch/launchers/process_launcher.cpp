// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/process_launcher.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/log_tail.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/read_output.h"

namespace starling {
namespace {

constexpr Duration kSayAgain = std::chrono::seconds(1);

std::optional<uid_t> owner_of(const PartPlan& plan) {
  return plan.user ? std::optional(plan.user->uid) : std::nullopt;
}

Status make_folder(const std::filesystem::path& folder, const char* what) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return {Errc::io, "cannot use '" + folder.string() + "' for " + what + ": " + error.message()};
  return done();
}

}  // namespace

Result<std::unique_ptr<ProcessLauncher>> ProcessLauncher::open(ProcessOptions options,
                                                               const Topology& topology,
                                                               const Clock& clock) {
  if (options.parts.empty()) options.parts = options.logs / "parts";
  if (Status made = make_folder(options.logs, "job logs"); !made.ok()) return made.error();
  if (Status made = make_folder(options.parts, "what runs"); !made.ok()) return made.error();
  std::error_code error;
  options.logs = std::filesystem::canonical(options.logs, error);
  if (!error) options.parts = std::filesystem::canonical(options.parts, error);
  if (error || ::chmod(options.parts.c_str(), 0700) != 0)
    return {Errc::io, "cannot use '" + options.parts.string() + "' for what runs"};
  if (!options.gpu_locks.empty()) {
    if (Status made = make_folder(options.gpu_locks, "GPUs' locks"); !made.ok())
      return made.error();
  }
  const Result<int> lock = lock_parts(options.parts);
  if (!lock) return lock.error();
  return std::unique_ptr<ProcessLauncher>(
      new ProcessLauncher(std::move(options), topology, clock, lock.value()));
}

ProcessLauncher::ProcessLauncher(ProcessOptions options, const Topology& topology,
                                 const Clock& clock, int lock)
    : options_(std::move(options)),
      topology_(topology),
      clock_(clock),
      cgroups_(options_.cgroups ? PartCgroup::base() : std::string()),
      lock_(lock),
      logs_(options_.logs, options_.log_limits),
      fitness_(options_.pauses) {}

ProcessLauncher::~ProcessLauncher() { ::close(lock_); }

Status ProcessLauncher::start(const LaunchSpec& spec) {
  const Key key{spec.attempt, spec.server};
  if (parts_.contains(key)) return done();
  if (spec.spec.command.empty()) {
    return {Errc::invalid, "job " + to_string(spec.spec.id) +
                               " has no command: only an emulated executor can run it"};
  }
  if (!fitness_.fit()) return {Errc::io, "this executor cannot start processes at present"};
  const Result<std::optional<JobLogin>> login = login_for(spec.spec);
  if (!login) return login.error();
  const std::filesystem::path folder = folder_of(key);
  if (std::erase(reported_, folder) > 0) forget_part(folder);
  PartPlan plan = plan_of(spec, login.value() ? &*login.value() : nullptr);
  const std::vector<PlannedWorker> workers = plan.workers;
  const std::string cgroup = plan.cgroup;
  const std::filesystem::path steps = plan.user ? steps_file(plan, {}) : std::filesystem::path();
  auto guarded = GuardedPart::start(folder, std::move(plan));
  if (!guarded) {
    for (const PlannedWorker& worker : workers) cpus_.release(worker.cpus);
    if (!cgroup.empty()) ::rmdir(cgroup.c_str());
    if (!steps.empty()) steps_folders_.forget(steps);
    fitness_.failed(clock_.now());
    return guarded.error();
  }
  Part part = part_of(spec, std::move(guarded).value());
  std::error_code ignored;
  if (!part.steps.empty() && steps.empty()) std::filesystem::remove(part.steps, ignored);
  parts_.emplace(key, std::move(part));
  return done();
}

void ProcessLauncher::stop(AttemptId attempt, Duration grace) {
  const Instant force = later(clock_.now(), grace);
  for (auto part = parts_.lower_bound({attempt, ServerId{0}});
       part != parts_.end() && part->first.first == attempt; ++part) {
    stop(part->second, force);
  }
}

void ProcessLauncher::renew(AttemptId attempt, Instant until) {
  for (auto part = parts_.lower_bound({attempt, ServerId{0}});
       part != parts_.end() && part->first.first == attempt; ++part) {
    if (part->second.stopping) continue;
    part->second.guarded.say(ControlWord::Kind::renew, on_machine(until));
    part->second.guarded.wake();  // a job can stop its guardian, which then tells no end
  }
}

void ProcessLauncher::signal(AttemptId attempt, std::uint32_t number) {
  for (auto part = parts_.lower_bound({attempt, ServerId{0}});
       part != parts_.end() && part->first.first == attempt; ++part) {
    part->second.guarded.say(ControlWord::Kind::signal, number);
  }
}

/// The earliest deadline that was ever given counts.
void ProcessLauncher::stop(Part& part, Instant force) {
  part.stopping = true;
  part.force = std::min(part.force, force);
  part.said = Instant::min();
  nudge(part, clock_.now());
}

/// A word can get lost where a guardian does not listen; one that was stopped goes on.
void ProcessLauncher::nudge(Part& part, Instant now) {
  if (!part.stopping || now < later(part.said, kSayAgain)) return;
  const bool first = part.said == Instant::min();
  part.said = now;
  part.guarded.say(ControlWord::Kind::stop, on_machine(part.force));
  if (!first) part.guarded.wake();
}

void ProcessLauncher::adopt(std::span<const LaunchSpec> earlier) {
  std::set<std::filesystem::path> known;
  for (const LaunchSpec& spec : earlier) {
    const Key key{spec.attempt, spec.server};
    const std::filesystem::path folder = folder_of(key);
    known.insert(folder);
    if (auto guarded = GuardedPart::find(folder)) {
      for (const PlannedWorker& worker : guarded->plan().workers) cpus_.mark_used(worker.cpus);
      // Between two lives of a service its cgroup has no controllers (starling@.service).
      if (!guarded->plan().cgroup.empty()) limit(spec, guarded->plan().cgroup, false);
      parts_.emplace(key, part_of(spec, std::move(*guarded)));
      continue;
    }
    reported_.push_back(folder);
    std::string tail = log_tail(log_file(spec.attempt, spec.server), options_.log_tail_bytes);
    lost_.push_back({spec.attempt, spec.server, {0, true, std::move(tail)}, Duration{0}});
  }
  take_up_strangers(known);
}

/// No owner asks for them, so they end now, and their GPUs are in use until they have.
void ProcessLauncher::take_up_strangers(const std::set<std::filesystem::path>& known) {
  for (const std::filesystem::path& folder : part_folders(options_.parts)) {
    if (known.contains(folder)) continue;
    auto guarded = GuardedPart::find(folder);
    if (!guarded) {
      forget_part(folder);
      continue;
    }
    Part part(std::move(*guarded));
    for (const std::uint64_t gpu : part.guarded.plan().gpu_ids)
      part.gpus.push_back(GpuId{static_cast<std::uint32_t>(gpu)});
    if (part.guarded.plan().user) part.steps = steps_file(part.guarded.plan(), {});
    stop(part, clock_.now());
    strangers_.push_back(std::move(part));
  }
}

bool ProcessLauncher::orphans() {
  const auto ours = [this](pid_t pid) {
    const auto guards = [pid](const Part& part) { return part.guarded.guardian() == pid; };
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const auto& entry) { return guards(entry.second); }) ||
           std::any_of(strangers_.begin(), strangers_.end(), guards) || (trial_ && guards(*trial_));
  };
  const auto children = descendants_.children();
  if (!children) return true;
  bool found = false;
  for (const pid_t pid : *children) {
    if (ours(pid)) continue;
    ::kill(pid, SIGKILL);
    found = ::waitpid(pid, nullptr, WNOHANG) != pid || found;
  }
  return found;
}

std::optional<PartResult> ProcessLauncher::over(Part& part, Instant now) {
  switch (part.guarded.look()) {
    case GuardedPart::State::guarded:
      nudge(part, now);
      return std::nullopt;
    case GuardedPart::State::ended:
      return part.guarded.result();
    case GuardedPart::State::unguarded:
      break;
  }
  const bool orphaned = orphans();
  if (!part.guarded.clear() || orphaned) return std::nullopt;
  PartResult result;
  result.lost = true;
  result.unfit = part.guarded.nothing_started();
  result.why = result.unfit ? "its guardian could not begin" : "its guardian was killed";
  result.began_ns = part.guarded.plan().made_ns;
  result.ended_ns = boot_ns();
  result.tail = log_tail(part.log, options_.log_tail_bytes);
  return result;
}

Exit ProcessLauncher::exit_of(const Key& key, const PartResult& result) const {
  Exit exit{key.first, key.second, {result.code, result.lost, result.why}, Duration{0}};
  exit.served = here(std::max<std::int64_t>(result.ended_ns - result.began_ns, 0));
  std::string& text = exit.exit.log_tail;
  if (!text.empty() && !result.tail.empty()) text += "\n";
  const std::size_t room = options_.log_tail_bytes - std::min(text.size(), options_.log_tail_bytes);
  text += last_words(result.tail, room);
  return exit;
}

void ProcessLauncher::release(const Part& part) {
  for (const PlannedWorker& worker : part.guarded.plan().workers) cpus_.release(worker.cpus);
  forget_steps(part);
  reported_.push_back(part.guarded.folder());
}

void ProcessLauncher::forget_steps(const Part& part) {
  if (part.steps.empty()) return;
  if (part.guarded.plan().user) return steps_folders_.forget(part.steps);
  std::error_code ignored;
  std::filesystem::remove(part.steps, ignored);
}

/// A machine that could not start something tries again by itself, with nothing to lose.
void ProcessLauncher::try_out(Instant now) {
  if (trial_) {
    if (const auto result = over(*trial_, now)) {
      result->lost || result->code != 0 ? fitness_.failed(now) : fitness_.worked();
      forget_part(trial_->guarded.folder());
      trial_.reset();
    }
    return;
  }
  if (fitness_.next() > now) return;
  // A job of our own user may have removed its folder with those of all others.
  std::error_code ignored;
  std::filesystem::create_directory(options_.logs, ignored);
  PartPlan plan;
  plan.command = {"sh", "-c", "exit 0"};
  plan.workers.resize(1);
  plan.log = options_.logs / "trial.log";
  plan.log_bytes = options_.log_limits.part_bytes;
  plan.mark = options_.logs.string() + ":trial";
  const std::filesystem::path folder = options_.parts / "trial";
  forget_part(folder);
  auto guarded = GuardedPart::start(folder, std::move(plan));
  if (!guarded) return fitness_.failed(now);
  trial_.emplace(std::move(guarded).value());
}

std::vector<Exit> ProcessLauncher::reap() {
  const Instant now = looked_ = clock_.now();
  // What was told in the last cycle is in the executor's journal by now.
  for (const std::filesystem::path& folder : std::exchange(reported_, {})) forget_part(folder);
  std::vector<Exit> ended = std::exchange(lost_, {});
  for (const Exit& exit : ended) reported_.push_back(folder_of({exit.attempt, exit.server}));
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto result = over(at->second, now);
    if (!result) {
      ++at;
      continue;
    }
    if (result->unfit) fitness_.failed(now);
    ended.push_back(exit_of(at->first, *result));
    release(at->second);
    at = parts_.erase(at);
  }
  std::erase_if(strangers_, [&](Part& part) {
    const bool gone = over(part, now).has_value();
    if (gone) forget_steps(part), forget_part(part.guarded.folder());
    return gone;
  });
  if (!fitness_.fit()) try_out(now);
  if (logs_.due(now)) {
    std::set<std::filesystem::path> kept;
    for (const auto& [key, part] : parts_) kept.insert(part.log);
    logs_.tidy(now, kept);
  }
  return ended;
}

/// Changes when others on its server do; 0: no other is there, and all of the gang is.
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
    const auto report = read_steps(part.steps, owner_of(part.guarded.plan()));
    if (!report) continue;
    const double rate = part.meter.look(now, *report, neighbours_of(key));
    // Against itself, at this size, it would be as fast at every size.
    if (!part.resized || report->alone > 0) all.back().rate = rate;
    all.back().noise = report->noise;
    all.back().batch = part.batch;
  }
  return all;
}

std::optional<SickGpus> ProcessLauncher::health_news() {
  std::set<GpuId> bad, in_use;
  if (!fitness_.fit()) {
    for (std::uint32_t gpu = options_.gpus.first; gpu < options_.gpus.last; ++gpu)
      bad.insert(GpuId{gpu});
  }
  const Instant now = clock_.now();
  const auto stuck = [&](const Part& part) {
    return part.stopping && now >= later(part.force, here(options_.stuck.count()));
  };
  for (const Part& part : strangers_)
    (stuck(part) ? bad : in_use).insert(part.gpus.begin(), part.gpus.end());
  for (const auto& [key, part] : parts_) {
    if (stuck(part)) bad.insert(part.gpus.begin(), part.gpus.end());
  }
  SickGpus all{{bad.begin(), bad.end()}, {in_use.begin(), in_use.end()}};
  if (all == bad_) return std::nullopt;
  bad_ = all;
  return all;
}

OutputPage ProcessLauncher::read_output(const ReadOutput& read) const {
  return starling::read_output(log_file(read.attempt, read.server), read);
}

Instant ProcessLauncher::next_deadline() const noexcept {
  if (!lost_.empty()) return Instant::min();
  const bool busy = !parts_.empty() || !strangers_.empty() || trial_.has_value();
  return busy ? later(std::max(looked_, Instant{}), options_.poll) : fitness_.next();
}

}  // namespace starling
