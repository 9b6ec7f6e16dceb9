// SPDX-License-Identifier: Apache-2.0
#include "sim/world/hardware.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"
#include "interference/profile.h"
#include "workload/requirements.h"

namespace starling {
namespace {
constexpr std::int32_t kTerminated = -15, kKilled = -9;  // SIGTERM, SIGKILL
}  // namespace

Hardware::Hardware(const Topology& topology, const Physics& physics, EventQueue& queue,
                   const SimClock& clock, std::uint32_t executors, std::vector<JobTruth> jobs,
                   std::uint32_t jobs_per_gpu)
    : topology_(topology),
      physics_(&physics),
      queue_(queue),
      clock_(clock),
      jobs_(std::move(jobs)),
      there_(executors),
      jobs_per_gpu_(jobs_per_gpu),
      on_gpu_(topology.gpu_count(), 0),
      on_server_(topology.server_count()),
      exits_(executors),
      clocks_(executors, nullptr),
      lapse_at_(executors, kNever) {
  for (std::uint32_t row = 0; row < jobs_.size(); ++row) rows_.emplace(jobs_[row].id, row);
  couple();
}

Status Hardware::start(std::uint32_t executor, const LaunchSpec& spec) {
  Gang& gang = gang_of(spec);
  for (const SimProcess& p : gang.processes) {
    if (p.server == spec.server) return done();
  }
  for (const GpuId gpu : spec.gpus) {
    if (on_gpu_[gpu.value] < jobs_per_gpu_) continue;
    if (overlap_.empty()) {
      overlap_ = "GPU " + std::to_string(gpu.value) + " runs as many processes as it may, and " +
                 to_string(spec.attempt) + " was started on it";
    }
    if (gang.processes.empty()) remove(by_attempt_.at(spec.attempt));
    return {Errc::conflict, "GPU " + std::to_string(gpu.value) + " is in use"};
  }
  for (const GpuId gpu : spec.gpus) {
    if (on_gpu_[gpu.value]++ == 0) ++busy_;
  }
  ++changes_;
  if (recorder_ != nullptr) recorder_->starts(clock_.now(), spec.attempt, spec.gpus);
  gang.processes.push_back({spec.attempt, spec.server, executor, spec.gpus, demand_of(spec.spec),
                            spec.until, spec.grace});
  jobs_[gang.row].tried = true;
  there_[executor].emplace(spec.attempt, by_attempt_.at(spec.attempt));
  if (spec.until != kNever) watch(executor);
  SimProcess& process = gang.processes.back();
  process.allocation = spec.allocation;
  if (manners_.start == Duration{0}) {
    work(by_attempt_.at(spec.attempt), process);
    return done();
  }
  Rng fate = fate_of(spec.attempt, spec.server, kStarts);
  process.phase = SimProcess::Phase::starts;
  process.lost = fate.chance(manners_.lost);
  process.next = later(clock_.now(), from_seconds(seconds(manners_.start) * fate.uniform()));
  queue_.push(process.next, EventKind::process, executor);
  return done();
}

Rng Hardware::fate_of(AttemptId attempt, ServerId server, std::uint64_t of) const {
  std::uint64_t seed = mix64(manners_.seed ^ attempt.job.hi);
  for (const std::uint64_t word :
       {attempt.job.lo, attempt.home_epoch.value, attempt.number, server.value + (of << 32U)})
    seed = mix64(seed ^ word);
  return Rng(seed);
}

void Hardware::work(std::uint32_t index, SimProcess& process) {
  Gang& gang = gangs_[index];
  process.phase = SimProcess::Phase::works;
  process.next = kNever;
  gang.started_gpus += static_cast<std::uint32_t>(process.gpus.size());
  if (gang.started_gpus == gang.gpus.size() && !gang.stalled) begin(index);
  if (asleep(gang)) halt(index);
}

Duration Hardware::dying(const SimProcess& process, Duration grace) const {
  Rng stops = fate_of(process.attempt, process.server, kStops);
  Rng stays = fate_of(process.attempt, process.server, kStays);
  const bool deaf = stops.chance(manners_.deaf);
  const Duration heeds = from_seconds(seconds(manners_.stop) * stops.uniform());
  Duration all = deaf ? grace : std::min(heeds, grace);
  if (stays.chance(manners_.stays)) all += from_seconds(seconds(manners_.stay) * stays.uniform());
  return all;
}

void Hardware::end_in(SimProcess& process, Duration wait) {
  process.phase = SimProcess::Phase::ends;
  process.until = kNever;
  process.next = later(clock_.now(), wait);
  queue_.push(process.next, EventKind::process, process.executor);
}

bool Hardware::advance(std::uint32_t executor) {
  if (sleeping_.contains(executor)) return false;
  bool news = false;
  for (const std::uint32_t index : gangs_on(executor)) {
    Gang& gang = gangs_[index];
    const auto over = [&](const SimProcess& p) {
      return p.executor == executor && p.next <= clock_.now();
    };
    for (std::size_t i = 0; i < gang.processes.size(); ++i) {
      SimProcess& p = gang.processes[i];
      if (!over(p)) continue;
      if (p.phase == SimProcess::Phase::starts && !p.lost) {
        work(index, p);
        continue;
      }
      if (p.phase == SimProcess::Phase::starts) p.by_force = gang.stalled = true;
      finish_process(p, gang, p.code, p.by_force, p.lost);
      news = true;
    }
    std::erase_if(gang.processes, over);
    gone_from(executor, gang);
    if (gang.processes.empty()) remove(index);
  }
  return news;
}

void Hardware::kill_guardian(std::uint32_t executor, std::uint32_t which) {
  const std::vector<std::uint32_t> here = gangs_on(executor);
  if (here.empty() || sleeping_.contains(executor)) return;
  stop(executor, gangs_[here[which % here.size()]].attempt, Duration{0}, true);
}

void Hardware::stop(std::uint32_t executor, AttemptId attempt, Duration grace, bool lost,
                    Duration late) {
  const auto found = by_attempt_.find(attempt);
  if (found == by_attempt_.end()) return;
  Gang& gang = gangs_[found->second];
  const auto here = [executor](const SimProcess& p) { return p.executor == executor; };
  if (std::none_of(gang.processes.begin(), gang.processes.end(), here)) return;
  halt(found->second);
  gang.stalled = true;
  for (SimProcess& p : gang.processes) {
    if (!here(p)) continue;
    if (!gang.powerless && p.phase == SimProcess::Phase::ends) continue;
    const Duration takes = gang.powerless ? Duration{0} : dying(p, grace);
    const Duration wait = std::max(Duration{0}, takes - late);
    p.code = wait < grace || grace == Duration{0} ? kTerminated : kKilled;
    p.by_force = true;
    p.lost = lost;
    p.phase = SimProcess::Phase::ends;
    p.next = clock_.now();
    if (wait > Duration{0}) {
      end_in(p, wait);
    } else {
      finish_process(p, gang, p.code, true, lost);
    }
  }
  std::erase_if(gang.processes, [&](const SimProcess& p) {
    return here(p) && p.phase == SimProcess::Phase::ends && p.next <= clock_.now();
  });
  gone_from(executor, gang);
  queue_.push(clock_.now(), EventKind::exit_notice, executor);
  if (gang.processes.empty()) remove(found->second);
}

void Hardware::renew(std::uint32_t executor, AttemptId attempt, Instant until) {
  const auto found = by_attempt_.find(attempt);
  if (found == by_attempt_.end()) return;
  bool earlier = false;
  for (SimProcess& p : gangs_[found->second].processes) {
    if (p.executor != executor || p.phase == SimProcess::Phase::ends) continue;
    earlier = earlier || until < p.until;
    p.until = until;
  }
  if (earlier) watch(executor);
}

/// The next lapse event is when the first deadline comes; one that was moved back is found when
/// that comes.
void Hardware::watch(std::uint32_t executor) {
  if (clocks_[executor] == nullptr) return;
  Instant first = kNever;
  for (const auto& [attempt, index] : there_[executor]) {
    for (const SimProcess& p : gangs_[index].processes) {
      if (p.executor == executor) first = std::min(first, p.until);
    }
  }
  const Instant when = std::max(clocks_[executor]->when(first), clock_.now());
  if (when == lapse_at_[executor]) return;
  lapse_at_[executor] = when;
  if (when != kNever) queue_.push(when, EventKind::lapse, executor);
}

void Hardware::lapse(std::uint32_t executor) {
  if (lapse_at_[executor] != clock_.now() || sleeping_.contains(executor)) return;
  lapse_at_[executor] = kNever;
  const Instant local = clocks_[executor]->at(clock_.now());
  std::vector<SimProcess> over;
  for (const auto& [attempt, index] : there_[executor]) {
    const auto& processes = gangs_[index].processes;
    const auto at = std::find_if(processes.begin(), processes.end(), [&](const SimProcess& p) {
      return p.executor == executor && p.until <= local;
    });
    if (at != processes.end()) over.push_back(*at);
  }
  for (const SimProcess& p : over) stop(executor, p.attempt, p.grace, true, local - p.until);
  watch(executor);
}

std::vector<std::uint32_t> Hardware::gangs_on(std::uint32_t executor) const {
  std::vector<std::uint32_t> here;
  here.reserve(there_[executor].size());
  for (const auto& [attempt, index] : there_[executor]) here.push_back(index);
  return here;
}

void Hardware::gone_from(std::uint32_t executor, const Gang& gang) {
  for (const SimProcess& p : gang.processes) {
    if (p.executor == executor) return;
  }
  there_[executor].erase(gang.attempt);
}

bool Hardware::asleep(const Gang& gang) const {
  return !sleeping_.empty() &&
         std::any_of(gang.processes.begin(), gang.processes.end(),
                     [&](const SimProcess& p) { return sleeping_.contains(p.executor); });
}

void Hardware::sleep(std::uint32_t executor) {
  if (!sleeping_.insert(executor).second) return;
  ++changes_;
  for (const std::uint32_t index : gangs_on(executor)) halt(index);
}

void Hardware::wake(std::uint32_t executor) {
  if (sleeping_.erase(executor) == 0) return;
  ++changes_;
  lapse_at_[executor] = clock_.now();
  lapse(executor);
  if (advance(executor)) queue_.push(clock_.now(), EventKind::exit_notice, executor);
  for (const std::uint32_t index : gangs_on(executor)) {
    const Gang& gang = gangs_[index];
    if (gang.begun && !gang.moving && !gang.stalled && !asleep(gang)) go_on(index);
  }
}

void Hardware::lose_host(std::uint32_t executor) {
  wake(executor);
  std::vector<AttemptId> here;
  for (const std::uint32_t index : gangs_on(executor)) here.push_back(gangs_[index].attempt);
  for (const AttemptId attempt : here) {
    gangs_[by_attempt_.at(attempt)].powerless = true;
    stop(executor, attempt);
  }
  exits_[executor].clear();
}

void Hardware::add_job(JobTruth job) {
  rows_.emplace(job.id, jobs_.size());
  jobs_.push_back(std::move(job));
}

std::vector<Exit> Hardware::reap(std::uint32_t executor) {
  std::vector<Exit> ended;
  ended.swap(exits_[executor]);
  return ended;
}

void Hardware::adopt(std::uint32_t executor, std::span<const LaunchSpec> ran) {
  for (const LaunchSpec& spec : ran) {
    const auto same = [&](const auto& p) {
      return p.attempt == spec.attempt && p.server == spec.server;
    };
    const auto gang = by_attempt_.find(spec.attempt);
    if (gang != by_attempt_.end()) {
      const auto& processes = gangs_[gang->second].processes;
      if (std::any_of(processes.begin(), processes.end(), same)) continue;
    }
    std::vector<Exit>& exits = exits_[executor];
    if (std::any_of(exits.begin(), exits.end(), same)) continue;
    exits.push_back({spec.attempt, spec.server, {0, true, ""}, {}});
  }
}

void Hardware::set_sick(GpuId gpu, bool sick) {
  if (!(sick ? sick_.insert(gpu).second : sick_.erase(gpu) > 0)) return;
  ++health_;
  if (recorder_ != nullptr) recorder_->sick(clock_.now(), gpu, sick);
}

std::span<const std::uint32_t> Hardware::end(std::uint32_t index, std::uint32_t version) {
  woken_.clear();
  Gang& gang = gangs_[index];
  if (!gang.live || !gang.moving || gang.version != version) return woken_;
  JobTruth& job = jobs_[gang.row];
  job.service += gang.work.finish(clock_.now());
  halt(index);
  gang.stalled = true;
  const bool fails = until_end(gang.row) < job.duration;
  Rng who = fate_of({job.id, Epoch{}, 0}, ServerId{}, kWhoFails);
  const std::size_t failing = who.below(static_cast<std::uint32_t>(gang.processes.size()));
  if (fails) {
    job.failed = true;
  } else {
    job.completed = clock_.now();
  }
  for (std::size_t i = 0; i < gang.processes.size(); ++i) {
    SimProcess& p = gang.processes[i];
    if (fails && i != failing) continue;  // waits for the one that failed
    if (fails) p.code = who.chance(0.2) ? kKilled : 1 + static_cast<std::int32_t>(who.below(100));
    const Duration wait = dying(p, Duration{0});
    end_in(p, wait);
    if (wait > Duration{0}) continue;
    finish_process(p, gang, p.code, false);
    woken_.push_back(p.executor);
  }
  std::erase_if(gang.processes, [&](const SimProcess& p) { return p.next <= clock_.now(); });
  std::sort(woken_.begin(), woken_.end());
  woken_.erase(std::unique(woken_.begin(), woken_.end()), woken_.end());
  for (const std::uint32_t executor : woken_) gone_from(executor, gang);
  if (gang.processes.empty()) remove(index);
  return woken_;
}

std::uint32_t Hardware::row_of(JobId job) const {
  const std::uint32_t row = rows_.find(job);
  STARLING_CHECK(row != FlatIndex<JobId>::kNone);
  return row;
}

Hardware::Left Hardware::left(JobId job) const {
  const std::uint32_t row = row_of(job);
  for (auto at = by_attempt_.lower_bound({job, Epoch{}, 0});
       at != by_attempt_.end() && at->first.job == job; ++at) {
    const Gang& gang = gangs_[at->second];
    if (!gang.moving) continue;
    const Instant now = clock_.now();
    return {gang.work.left() - gang.work.uncounted(now), std::max(gang.work.counted_to(), now)};
  }
  return {std::max(jobs_[row].duration - jobs_[row].saved, Duration{0}), clock_.now()};
}

std::vector<SimProcess> Hardware::processes() const {
  std::vector<SimProcess> all;
  for (const auto& [attempt, index] : by_attempt_) {
    for (const SimProcess& p : gangs_[index].processes) {
      if (!sleeping_.contains(p.executor)) all.push_back(p);
    }
  }
  return all;
}

void Hardware::finish_process(const SimProcess& process, const Gang& gang, std::int32_t code,
                              bool stopped, bool lost) {
  for (const GpuId gpu : process.gpus) {
    if (--on_gpu_[gpu.value] == 0) --busy_;
  }
  ++changes_;
  if (on_end_) on_end_(process, code, stopped);
  if (recorder_ != nullptr) recorder_->ends(clock_.now(), process.attempt, process.gpus, stopped);
  Duration served = gang.work.done();
  if (gang.powerless) served = std::min(served, jobs_[gang.row].saved - gang.before);
  exits_[process.executor].push_back({gang.attempt, process.server, {code, lost, ""}, served});
}

}  // namespace starling
