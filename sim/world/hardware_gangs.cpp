// SPDX-License-Identifier: Apache-2.0
// Gangs that run: when they begin, how fast they go beside each other, when they end.
#include <algorithm>

#include "base/check.h"
#include "interference/profile.h"
#include "sim/world/hardware.h"

namespace starling {

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
  gang.before = jobs_[gang.row].saved;
  gang.work = WorkProgress(until_end(gang.row) - gang.before, clock_.now());
  if (spec.served > gang.before && overclaimed_.empty()) {
    overclaimed_ = "attempt " + to_string(spec.attempt) + " was started as one of a job that has " +
                   std::to_string(seconds(spec.served)) + " s behind it; " +
                   std::to_string(seconds(gang.before)) + " s were ever saved";
  }
  for (const Share& share : spec.gang) {
    gang.gpus.insert(gang.gpus.end(), share.gpus.begin(), share.gpus.end());
  }
  std::sort(gang.gpus.begin(), gang.gpus.end());
  gang.allocation = spec.allocation;
  if (physics_->varies()) {
    for (const GpuId gpu : gang.gpus) gang.servers.push_back(topology_.server_of(gpu).value);
    gang.servers.erase(std::unique(gang.servers.begin(), gang.servers.end()), gang.servers.end());
    const auto size = static_cast<std::uint32_t>(gang.gpus.size());
    const JobProfile& profile = profiles_[index] = profile_of(spec.spec, size, spec.allocation);
    gang.startup = start_time(*physics_, spec.spec, profile, gang.before);
  }
  by_attempt_.emplace(spec.attempt, index);
  return gang;
}

Duration Hardware::until_end(std::uint32_t row) const {
  const JobTruth& job = jobs_[row];
  Rng fate = fate_of({job.id, Epoch{}, 0}, ServerId{}, kFails);
  if (!fate.chance(manners_.fails)) return job.duration;
  return from_seconds(seconds(job.duration) * fate.uniform());
}

void Hardware::begin(std::uint32_t index) {
  Gang& gang = gangs_[index];
  JobTruth& job = jobs_[gang.row];
  if (job.attempts++ == 0) job.first_start = clock_.now();
  job.placement = gang.gpus;
  gang.begun = true;
  gang.moving = true;
  gang.work.resume(clock_.now());
  ++moving_;
  if (physics_->varies()) {
    gang.work.resume(clock_.now() + gang.startup);
    settle(index, true);
    return;
  }
  // More or fewer GPUs than it asked for: in proportion.
  const auto have = static_cast<double>(gang.gpus.size());
  if (job.gpus > 0 && gang.gpus.size() != job.gpus)
    gang.work.set_rate(clock_.now(), have / job.gpus);
  schedule_end(index);
}

/// After a halt that was not its end.
void Hardware::go_on(std::uint32_t index) {
  Gang& gang = gangs_[index];
  gang.moving = true;
  gang.scheduled = false;
  gang.work.resume(clock_.now());
  ++moving_;
  physics_->varies() ? settle(index, true) : schedule_end(index);
}

void Hardware::account(Gang& gang) { jobs_[gang.row].service += gang.work.account(clock_.now()); }

void Hardware::halt(std::uint32_t index) {
  Gang& gang = gangs_[index];
  if (!gang.moving) return;
  account(gang);
  if (!gang.powerless) {
    Duration& saved = jobs_[gang.row].saved;
    saved = std::max(saved, gang.before + gang.work.done());
  }
  gang.moving = false;
  ++gang.version;
  --moving_;
  if (physics_->varies()) settle(index, false);
}

void Hardware::schedule_end(std::uint32_t index) {
  Gang& gang = gangs_[index];
  ++gang.version;
  gang.scheduled = true;
  const Instant at = gang.work.end();
  if (at != kNever) queue_.push(at, EventKind::gang_end, index, gang.version);
}

Instant Hardware::last_end() const {
  Instant last = Instant::min();
  for (const auto& [attempt, index] : by_attempt_) {
    const Gang& gang = gangs_[index];
    if (gang.moving && gang.work.end() != kNever) last = std::max(last, gang.work.end());
  }
  return last;
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
  if (coupled_ && joins)
    coupled_->join(index, gang.attempt.job, profiles_.at(index), gang.gpus);
  else if (coupled_)
    coupled_->leave(index);
  if (joins) rerate(index);
  const std::set<std::uint32_t> here = beside(gang);
  for (const std::uint32_t other : here) {
    if (other != index) rerate(other);
  }
  if (!coupled_) return;
  for (const std::uint32_t other : coupled_->changed()) {
    if (!here.contains(other)) rerate(other);
  }
  if (recorder_ != nullptr) recorder_->link_loads(clock_.now(), coupled_->loads());
}

/// Those that move share the links of the network that there is now.
void Hardware::couple() {
  coupling_ = dynamic_cast<const CoupledPhysics*>(physics_);
  coupled_ = coupling_ != nullptr ? coupling_->gangs() : nullptr;
  if (!coupled_) return;
  for (const auto& [attempt, index] : by_attempt_) {
    const Gang& gang = gangs_[index];
    if (gang.moving) coupled_->join(index, attempt.job, profiles_.at(index), gang.gpus);
  }
}

std::set<std::uint32_t> Hardware::beside(const Gang& gang) const {
  std::set<std::uint32_t> found;
  for (const std::uint32_t s : gang.servers)
    found.insert(on_server_[s].begin(), on_server_[s].end());
  return found;
}

/// An allocation of its own loses to shared links what it would lose as it was asked for: the
/// exchange that the links carry is that of the job as asked.
double Hardware::rate_of(std::uint32_t index, const Neighbours& beside) const {
  const Gang& gang = gangs_[index];
  const JobProfile& profile = profiles_.at(index);
  const NetworkShare* share = coupled_ ? coupled_->share(index) : nullptr;
  if (share == nullptr)
    return progress_rate(*physics_, profile, gang.gpus, beside, gang.allocation);
  const double here = coupling_->rate(profile, gang.gpus, beside, *share);
  if (gang.allocation.as_asked()) return here * physics_->scaling(profile);
  return physics_->pace(profile, gang.gpus, beside, gang.allocation) * here /
         physics_->rate(profile, gang.gpus, beside);
}

void Hardware::rerate(std::uint32_t index) {
  Gang& gang = gangs_[index];
  Neighbours neighbours;
  for (const std::uint32_t other : beside(gang)) {
    if (other != index) neighbours.push_back({profiles_.at(other), gangs_[other].gpus});
  }
  const double rate = rate_of(index, neighbours);
  STARLING_CHECK(rate > 0);
  if (gang.scheduled && rate == gang.work.rate()) return;
  jobs_[gang.row].service += gang.work.set_rate(clock_.now(), rate);
  schedule_end(index);
}

}  // namespace starling
