// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/process_launcher.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <system_error>
#include <utility>

#include "agents/home/gang_layout.h"
#include "base/hash.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/log_tail.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/read_output.h"
#include "launch/launchers/worker_environment.h"

namespace starling {
namespace {

constexpr Duration kSayAgain = std::chrono::seconds(1);

std::string dotted(AttemptId attempt) {
  std::string name = to_string(attempt);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

/// The file for the steps of a part with rank 0, which an earlier life may have made.
std::filesystem::path steps_of(const PartPlan& plan, const std::filesystem::path& log) {
  if (!plan.user) return std::filesystem::path(log).replace_extension(".steps");
  const std::string name = "STARLING_STEPS=";
  for (const PlannedWorker& worker : plan.workers) {
    for (const std::string& entry : worker.environment)
      if (entry.starts_with(name)) return entry.substr(name.size());
  }
  return {};
}

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

ServerLabel ProcessLauncher::label(ServerId server) const {
  // Whoever asks for output names any.
  if (server.value >= topology_.server_count()) return {"none", "none-", 0};
  return options_.label ? options_.label(server) : plain_label(topology_, server);
}

std::string ProcessLauncher::file_name(AttemptId attempt, ServerId server) const {
  return dotted(attempt) + ".s" + label(server).server;
}

std::string ProcessLauncher::mark(const Key& key) const {
  return options_.logs.string() + ":" + to_string(key.first) + ":" + label(key.second).server;
}

std::filesystem::path ProcessLauncher::folder_of(const Key& key) const {
  return options_.parts / file_name(key.first, key.second);
}

std::filesystem::path ProcessLauncher::log_file(AttemptId attempt, ServerId server) const {
  return options_.logs / (file_name(attempt, server) + ".log");
}

std::int64_t ProcessLauncher::on_machine(Instant at) const {
  if (at == kNever) return kNoDeadline;
  const auto ahead = static_cast<double>((at - clock_.now()).count()) / options_.speedup;
  return boot_ns() + static_cast<std::int64_t>(ahead);
}

Duration ProcessLauncher::here(std::int64_t ns) const {
  return Duration(static_cast<std::int64_t>(static_cast<double>(ns) * options_.speedup));
}

ProcessLauncher::Part ProcessLauncher::part_of(const LaunchSpec& spec, GuardedPart guarded) const {
  Part part(std::move(guarded));
  part.gpus = spec.gpus;
  part.started = clock_.now() - here(boot_ns() - part.guarded.plan().made_ns);
  part.log = log_file(spec.attempt, spec.server);
  if (spec.first_rank != 0) return part;
  part.steps = steps_of(part.guarded.plan(), part.log);
  part.whole = gang_layout(spec.gang, spec.spec.gpus_per_worker, topology_).size() <= 1;
  return part;
}

/// In proportion to the GPUs that the job has here, as its placement was counted.
void ProcessLauncher::limit(const LaunchSpec& spec, const std::string& cgroup) {
  const double workers =
      static_cast<double>(spec.gpus.size()) / std::max(spec.spec.gpus_per_worker, 1U);
  const PartLimits limits{workers * spec.spec.cpus_per_worker,
                          workers * spec.spec.memory_gib_per_worker};
  if (limits.cpus <= 0 && limits.memory_gib <= 0) return;
  PartCgroup::Limited got{limits.cpus <= 0, limits.memory_gib <= 0};
  if (!cgroup.empty()) got = PartCgroup::limit(cgroup, limits);
  if (got.memory || std::exchange(said_unlimited_, true) || !options_.notice) return;
  options_.notice(
      "memory_gib of jobs is counted here and not enforced: there is no cgroup (v2) in "
      "which this process may limit memory; CPUs are given by affinity");
}

PartPlan ProcessLauncher::plan_of(const LaunchSpec& spec, const JobLogin* login) {
  const Key key{spec.attempt, spec.server};
  PartPlan plan;
  plan.mark = mark(key);
  plan.until_ns = on_machine(spec.until);
  plan.grace_ns =
      static_cast<std::int64_t>(static_cast<double>(spec.grace.count()) / options_.speedup);
  plan.command = spec.spec.command;
  plan.log = log_file(spec.attempt, spec.server);
  plan.log_bytes = options_.log_limits.part_bytes;
  plan.tail_bytes = options_.log_tail_bytes;
  if (!cgroups_.empty()) {
    plan.cgroup = cgroups_ + "/starling-" + std::to_string(::getpid()) + "-" +
                  file_name(spec.attempt, spec.server);
  }
  limit(spec, plan.cgroup);
  const std::uint32_t first = topology_.server(spec.server).gpus.first;
  const ServerLabel called = label(spec.server);
  for (const GpuId gpu : spec.gpus) {
    plan.gpu_ids.push_back(gpu.value);
    plan.gpus.push_back(gpu.value - first);
    if (!options_.gpu_locks.empty())
      plan.gpu_locks.push_back(
          options_.gpu_locks /
          ("gpu-" + called.gpus + std::to_string(called.first_gpu + (gpu.value - first))));
  }
  plan.slots = options_.jobs_per_gpu;
  const double cpus = std::ceil(std::max(spec.spec.cpus_per_worker, 0.0));
  std::string steps;
  if (login != nullptr) plan.user = login->ids;
  if (spec.first_rank == 0) {
    steps = login == nullptr
                ? std::filesystem::path(plan.log).replace_extension(".steps").string()
                : steps_folders_.make(file_name(spec.attempt, spec.server), login->ids).string();
  }
  for (auto& environment :
       worker_environments(spec, topology_, {plan.mark, steps, options_.address, login})) {
    plan.workers.push_back(
        {std::move(environment), cpus_.take(static_cast<std::size_t>(std::min(cpus, 4096.0)))});
  }
  return plan;
}

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
  const std::filesystem::path steps = plan.user ? steps_of(plan, {}) : std::filesystem::path();
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
      for (const PlannedWorker& worker : guarded->plan().workers) cpus_.claim(worker.cpus);
      parts_.emplace(key, part_of(spec, std::move(*guarded)));
      continue;
    }
    reported_.push_back(folder);
    std::string tail = log_tail(log_file(spec.attempt, spec.server), options_.log_tail_bytes);
    lost_.push_back({spec.attempt, spec.server, {0, true, std::move(tail)}, Duration{0}});
  }
  take_up_strangers(known);
}

/// Nobody asks for them, so they end now, and their GPUs are bad until they have.
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
    if (part.guarded.plan().user) part.steps = steps_of(part.guarded.plan(), {});
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
  const bool someone = orphans();
  if (!part.guarded.clear() || someone) return std::nullopt;
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
  // What was told in the last turn is in the executor's journal by now.
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
    if (const auto report = read_steps(part.steps, owner_of(part.guarded.plan())))
      all.back().rate = part.meter.look(now, *report, neighbours_of(key));
  }
  return all;
}

std::optional<Placement> ProcessLauncher::health_news() {
  std::set<GpuId> bad;
  if (!fitness_.fit()) {
    for (std::uint32_t gpu = options_.gpus.first; gpu < options_.gpus.last; ++gpu)
      bad.insert(GpuId{gpu});
  }
  for (const Part& part : strangers_) bad.insert(part.gpus.begin(), part.gpus.end());
  const Instant now = clock_.now();
  for (const auto& [key, part] : parts_) {
    if (part.stopping && now >= later(part.force, here(options_.stuck.count())))
      bad.insert(part.gpus.begin(), part.gpus.end());
  }
  Placement all(bad.begin(), bad.end());
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
