#include "sim/hardware.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"
#include "interference/profile.h"

namespace starling {
namespace {
constexpr std::int32_t kTerminated = -15;  // SIGTERM
}

Hardware::Hardware(const Topology& topology, const Physics& physics, EventQueue& queue,
                   const SimClock& clock, std::uint32_t executors, std::vector<JobTruth> jobs,
                   std::uint32_t jobs_per_gpu)
    : topology_(topology),
      physics_(physics),
      queue_(queue),
      clock_(clock),
      jobs_(std::move(jobs)),
      jobs_per_gpu_(jobs_per_gpu),
      on_gpu_(topology.gpu_count(), 0),
      on_server_(topology.server_count()),
      exits_(executors) {
  rows_.reserve(jobs_.size());
  for (std::uint32_t row = 0; row < jobs_.size(); ++row) rows_.emplace(jobs_[row].id, row);
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
  gang.processes.push_back({spec.attempt, spec.server, executor, spec.gpus});
  gang.started_gpus += static_cast<std::uint32_t>(spec.gpus.size());
  if (gang.started_gpus == gang.gpus.size() && !gang.stalled) begin(by_attempt_.at(spec.attempt));
  return done();
}

void Hardware::stop(std::uint32_t executor, AttemptId attempt) {
  const auto found = by_attempt_.find(attempt);
  if (found == by_attempt_.end()) return;
  Gang& gang = gangs_[found->second];
  const auto here = [executor](const SimProcess& p) { return p.executor == executor; };
  if (std::none_of(gang.processes.begin(), gang.processes.end(), here)) return;
  halt(found->second);
  gang.stalled = true;
  for (const SimProcess& p : gang.processes) {
    if (here(p)) finish_process(p, gang, kTerminated);
  }
  std::erase_if(gang.processes, here);
  queue_.push(clock_.now(), EventKind::exit_notice, executor);
  if (gang.processes.empty()) remove(found->second);
}

void Hardware::lose_host(std::uint32_t executor) {
  std::vector<AttemptId> here;
  for (const auto& [attempt, index] : by_attempt_) {
    const auto& processes = gangs_[index].processes;
    if (std::any_of(processes.begin(), processes.end(),
                    [&](const SimProcess& p) { return p.executor == executor; })) {
      here.push_back(attempt);
    }
  }
  for (const AttemptId attempt : here) stop(executor, attempt);
  exits_[executor].clear();
}

void Hardware::add_job(JobTruth job) {
  rows_.emplace(job.id, static_cast<std::uint32_t>(jobs_.size()));
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

std::vector<Progress> Hardware::measure(std::uint32_t executor) {
  std::vector<Progress> all;
  if (!physics_.varies()) return all;  // time tells as much
  for (const auto& [attempt, index] : by_attempt_) {
    Gang& gang = gangs_[index];
    const auto here = [executor](const SimProcess& p) { return p.executor == executor; };
    if (!gang.moving || std::none_of(gang.processes.begin(), gang.processes.end(), here)) continue;
    account(gang);
    const bool starts = clock_.now() < gang.since;
    all.push_back({attempt, gang.service, starts ? 0 : measured(gang)});
  }
  return all;
}

double Hardware::measured(const Gang& gang) const {
  if (noise_ <= 0) return gang.rate * bias_;
  const AttemptId& id = gang.attempt;
  std::uint64_t seed = mix64(noise_seed_ ^ id.job.hi);
  for (const std::uint64_t word :
       {id.job.lo, id.number, static_cast<std::uint64_t>(clock_.now().time_since_epoch().count())})
    seed = mix64(seed ^ word);
  return gang.rate * bias_ * std::exp(noise_ * Rng(seed).normal());
}

void Hardware::set_sick(GpuId gpu, bool sick) {
  if (sick ? sick_.insert(gpu).second : sick_.erase(gpu) > 0) ++health_;
}

std::span<const std::uint32_t> Hardware::end(std::uint32_t index, std::uint32_t version) {
  woken_.clear();
  Gang& gang = gangs_[index];
  if (!gang.live || !gang.moving || gang.version != version) return woken_;
  gang.service += gang.remaining;
  jobs_[gang.row].service += gang.remaining;
  gang.remaining = Duration::zero();
  gang.since = clock_.now();
  jobs_[gang.row].completed = clock_.now();
  halt(index);
  for (const SimProcess& p : gang.processes) {
    finish_process(p, gang, 0);
    woken_.push_back(p.executor);
  }
  gang.processes.clear();
  remove(index);
  std::sort(woken_.begin(), woken_.end());
  woken_.erase(std::unique(woken_.begin(), woken_.end()), woken_.end());
  return woken_;
}

std::uint32_t Hardware::row_of(JobId job) const {
  const auto found = rows_.find(job);
  STARLING_CHECK(found != rows_.end());
  return found->second;
}

Hardware::Left Hardware::left(JobId job) const {
  const std::uint32_t row = row_of(job);
  for (auto at = by_attempt_.lower_bound({job, Epoch{}, 0});
       at != by_attempt_.end() && at->first.job == job; ++at) {
    const Gang& gang = gangs_[at->second];
    if (gang.moving) return {gang.remaining - uncounted(gang), std::max(gang.since, clock_.now())};
  }
  return {std::max(jobs_[row].duration - jobs_[row].service, Duration{0}), clock_.now()};
}

std::vector<SimProcess> Hardware::processes() const {
  std::vector<SimProcess> all;
  for (const auto& [attempt, index] : by_attempt_) {
    const auto& some = gangs_[index].processes;
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Hardware::Gang& Hardware::gang_of(const LaunchSpec& spec) {
  const auto found = by_attempt_.find(spec.attempt);
  if (found != by_attempt_.end()) return gangs_[found->second];
  if (free_gangs_.empty()) {
    free_gangs_.push_back(static_cast<std::uint32_t>(gangs_.size()));
    gangs_.emplace_back();
  }
  const std::uint32_t index = free_gangs_.back();
  free_gangs_.pop_back();
  Gang& gang = gangs_[index];
  const std::uint32_t version = gang.version + 1;
  gang = Gang{};
  gang.version = version;
  gang.live = true;
  gang.attempt = spec.attempt;
  gang.row = row_of(spec.attempt.job);
  gang.remaining = std::max(Duration::zero(), jobs_[gang.row].duration - spec.served);
  for (const Share& share : spec.gang) {
    gang.gpus.insert(gang.gpus.end(), share.gpus.begin(), share.gpus.end());
  }
  std::sort(gang.gpus.begin(), gang.gpus.end());
  if (physics_.varies()) {
    for (const GpuId gpu : gang.gpus) gang.servers.push_back(topology_.server_of(gpu).value);
    gang.servers.erase(std::unique(gang.servers.begin(), gang.servers.end()), gang.servers.end());
    JobProfile profile = profile_of(spec.spec, static_cast<std::uint32_t>(gang.gpus.size()));
    profile.asked = jobs_[gang.row].gpus;  // the spec on its way here says what the gang has
    profiles_[index] = std::move(profile);
  }
  by_attempt_.emplace(spec.attempt, index);
  return gang;
}

void Hardware::begin(std::uint32_t index) {
  Gang& gang = gangs_[index];
  JobTruth& job = jobs_[gang.row];
  if (job.attempts++ == 0) job.first_start = clock_.now();
  job.placement = gang.gpus;
  gang.moving = true;
  gang.since = clock_.now();
  ++moving_;
  if (physics_.varies()) {
    gang.since += from_seconds(physics_.startup_s(profiles_.at(index)));
    settle(index, true);
    return;
  }
  // More or fewer GPUs than it asked for: in proportion.
  const auto have = static_cast<double>(gang.gpus.size());
  if (job.gpus > 0 && gang.gpus.size() != job.gpus) gang.rate = have / job.gpus;
  schedule_end(index);
}

Duration Hardware::uncounted(const Gang& gang) const {
  if (!gang.moving || clock_.now() <= gang.since) return Duration{0};
  const Duration passed = clock_.now() - gang.since;
  Duration served = passed;
  if (gang.rate != 1) {
    served = Duration(static_cast<std::int64_t>(static_cast<double>(passed.count()) * gang.rate));
  }
  return std::min(served, gang.remaining);
}

void Hardware::account(Gang& gang) {
  if (!gang.moving || clock_.now() <= gang.since) return;
  const Duration served = uncounted(gang);
  gang.service += served;
  gang.remaining -= served;
  jobs_[gang.row].service += served;
  gang.since = clock_.now();
}

void Hardware::halt(std::uint32_t index) {
  Gang& gang = gangs_[index];
  if (!gang.moving) return;
  account(gang);
  gang.moving = false;
  ++gang.version;
  --moving_;
  if (physics_.varies()) settle(index, false);
}

void Hardware::schedule_end(std::uint32_t index) {
  Gang& gang = gangs_[index];
  ++gang.version;
  gang.scheduled = true;
  Duration left = gang.remaining;
  if (gang.rate != 1) {
    const double wall = std::ceil(static_cast<double>(left.count()) / gang.rate);
    left = wall < 9e18 ? Duration(static_cast<std::int64_t>(wall)) : Duration::max();
  }
  const Instant at = later(std::max(gang.since, clock_.now()), left);
  if (at != kNever) queue_.push(at, EventKind::gang_end, index, gang.version);
}

void Hardware::remove(std::uint32_t index) {
  Gang& gang = gangs_[index];
  by_attempt_.erase(gang.attempt);
  profiles_.erase(index);
  gang.live = false;
  free_gangs_.push_back(index);
}

void Hardware::settle(std::uint32_t index, bool joins) {
  const Gang& gang = gangs_[index];
  for (const std::uint32_t s : gang.servers) {
    joins ? (void)on_server_[s].insert(index) : (void)on_server_[s].erase(index);
  }
  if (joins) rerate(index);
  for (const std::uint32_t other : beside(gang)) {
    if (other != index) rerate(other);
  }
}

std::set<std::uint32_t> Hardware::beside(const Gang& gang) const {
  std::set<std::uint32_t> found;
  for (const std::uint32_t s : gang.servers)
    found.insert(on_server_[s].begin(), on_server_[s].end());
  return found;
}

void Hardware::rerate(std::uint32_t index) {
  Gang& gang = gangs_[index];
  Neighbours neighbours;
  for (const std::uint32_t other : beside(gang)) {
    if (other != index) neighbours.push_back({profiles_.at(other), gangs_[other].gpus});
  }
  const JobProfile& profile = profiles_.at(index);
  const double rate = physics_.rate(profile, gang.gpus, neighbours) * physics_.scaling(profile);
  STARLING_CHECK(rate > 0);
  if (gang.scheduled && rate == gang.rate) return;
  account(gang);
  gang.rate = rate;
  schedule_end(index);
}

void Hardware::finish_process(const SimProcess& process, const Gang& gang, std::int32_t code) {
  for (const GpuId gpu : process.gpus) {
    if (--on_gpu_[gpu.value] == 0) --busy_;
  }
  ++changes_;
  exits_[process.executor].push_back(
      {gang.attempt, process.server, {code, false, ""}, gang.service});
}

}  // namespace starling
