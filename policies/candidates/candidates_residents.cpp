// SPDX-License-Identifier: Apache-2.0
#include "policies/candidates/candidates_residents.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "interference/profile.h"

namespace starling {
namespace {

constexpr std::uint64_t kGone = ~0ULL;
constexpr Duration kRan = std::chrono::seconds(1);  // less is a start that was refused

}  // namespace

std::uint64_t recurring_group_of(const JobSpec& spec) {
  TraceHash hash;
  hash.add(spec.user);
  hash.add(spec.queue);
  hash.add(spec.gpus());
  return hash.value();
}

void Residents::reset(const Occupancy& gpus) {
  for (const std::uint32_t slot : running_) {
    const Resident& job = slots_[slot];
    if (follow_)
      moves_.push_back({true, false, job.order, job.recurring_group, job.submitted, {}, 0});
  }
  servers_ = gpus.servers();
  gpus_ = gpus.gpus();
  slots_.clear();
  spare_.clear();
  running_.clear();
  on_server_.assign(servers_.size(), {});
  open_on_.assign(servers_.size(), 0);
  known_.assign(gpus_.size(), 0);
  xor_.assign(gpus_.size(), 0);
  versions_.assign(servers_.size(), ++version_);
  stale_.clear();
  groups_.clear();
  group_ids_.clear();
  live_.clear();
  live_at_.clear();
}

std::uint32_t Residents::profile_id(const JobProfile& profile) {
  const auto next = static_cast<std::uint32_t>(profiles_.size());
  const auto [at, fresh] = profile_ids_.emplace(
      ProfileKey{profile.model, profile.gpus, profile.cpus_per_gpu, profile.parameter_servers,
                 profile.running_servers, profile.server_cpus},
      next);
  if (fresh) {
    JobProfile& kept = profile_store_[next];
    kept = profile;
    kept.straggler_seed = 0;
    profiles_.push_back(&kept);
  }
  return at->second;
}

std::uint32_t Residents::tenant(GpuId gpu) const {
  const std::uint32_t i = gpu.value - gpus_.first;
  return known_[i] == 1 ? xor_[i] : kNone;
}

bool Residents::open(const View& view, GpuId gpu) const {
  return gpus_.contains(gpu.value) && known_[gpu.value - gpus_.first] == 1 &&
         view.gpus.has_room(gpu) && view.gpus.tenants(gpu) <= 1;
}

// A running job never comes back into an earlier place, so up to the first that left the lists
// agree and behind it they do not.
std::size_t Residents::first_change(std::span<const JobView> running) const {
  std::size_t same = 0;
  std::size_t end = std::min(running.size(), running_.size());
  while (same < end) {
    const std::size_t middle = same + (end - same) / 2;
    if (slots_[running_[middle]].order == running[middle].order) {
      same = middle + 1;
    } else {
      end = middle;
    }
  }
  return same;
}

void Residents::sync(const View& view) {
  topology_ = &view.topology;
  if (on_server_.empty() || servers_ != view.gpus.servers()) reset(view.gpus);
  if (follow_) {
    // Until now they ran beside those who were there at the last call.
    for (const std::uint32_t slot : std::exchange(stale_, {})) {
      if (slots_[slot].order != kGone && slots_[slot].speed <= 0) (void)speed(view.speed, slot);
    }
  }
  const std::span<const JobView> now_running = view.running;
  std::size_t in = 0;   // of now_running
  std::size_t out = 0;  // of the new running_
  std::size_t old = 0;  // of running_ as it was
  in = out = old = first_change(now_running);
  for (; old < running_.size(); ++old) {
    const std::uint32_t slot = running_[old];
    if (in < now_running.size() && slots_[slot].order == now_running[in].order) {
      running_[out++] = slot;
      ++in;
    } else {
      remove(slot, view.now);
    }
  }
  running_.resize(out);
  for (; in < now_running.size(); ++in) running_.push_back(admit(now_running[in], view.now));
}

void Residents::add(JobView job, const Placement& placement, Instant now) {
  job.placement = placement;
  running_.push_back(admit(job, now));
}

void Residents::leave(std::uint64_t order, Instant now) {
  const auto at = std::ranges::find_if(
      running_, [&](std::uint32_t slot) { return slots_[slot].order == order; });
  if (at == running_.end()) return;
  remove(*at, now, false);
  running_.erase(at);
}

void Residents::accrue(Resident& job, Instant now) {
  if (follow_ && now > job.work_at) {
    job.work_s += seconds(now - job.work_at) * (job.speed > 0 ? job.speed : 1);
    job.work_at = now;
  }
}

void Residents::touch(std::uint32_t server, Instant now) {
  versions_[server] = ++version_;
  changed_.push_back(server);
  for (const std::uint32_t slot : on_server_[server]) {
    Resident& other = slots_[slot];
    accrue(other, now);
    other.speed = 0;
    if (follow_) stale_.push_back(slot);
  }
}

std::uint32_t Residents::admit(const JobView& job, Instant now) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = spare_.back();
  spare_.pop_back();
  {
    Resident fresh;
    fresh.order = job.order;
    fresh.job = job.spec->id;
    JobProfile profile = profile_of(*job.spec);
    profile.gpus = static_cast<std::uint32_t>(job.placement.size());
    profile.running_servers = job.allocation.servers;
    profile.straggler_seed = 0;
    fresh.profile = profile_id(profile);
    fresh.self = {std::move(profile), job.placement};
    fresh.estimate = job.spec->duration;
    fresh.served = job.served;
    fresh.seen = now;
    fresh.work_s = seconds(job.served);
    fresh.work_at = now;
    fresh.recurring_group = recurring_group_of(*job.spec);
    fresh.submitted = job.submitted;
    if (follow_) {
      moves_.push_back(
          {false, false, job.order, fresh.recurring_group, job.submitted, now - job.served});
    }
    slots_[slot] = std::move(fresh);
  }
  Resident& own = slots_[slot];
  for (const GpuId gpu : own.self.placement) {
    if (!gpus_.contains(gpu.value)) continue;
    const std::uint32_t server = topology_->server_of(gpu).value - servers_.first;
    if (own.servers.empty() || own.servers.back() != server) own.servers.push_back(server);
    const std::uint32_t i = gpu.value - gpus_.first;
    if (known_[i] == 1) {
      const std::uint32_t other = xor_[i];
      --slots_[other].open;
      --open_on_[server];
      regroup(other);
    } else if (known_[i] == 0) {
      ++own.open;
      ++open_on_[server];
    }
    ++known_[i];
    xor_[i] ^= slot;
  }
  for (const std::uint32_t server : own.servers) {
    touch(server, now);
    on_server_[server].push_back(slot);
  }
  regroup(slot);
  if (follow_) stale_.push_back(slot);
  return slot;
}

void Residents::remove(std::uint32_t slot, Instant now, bool over) {
  Resident& own = slots_[slot];
  accrue(own, now);
  leave_group(slot);
  for (const GpuId gpu : own.self.placement) {
    if (!gpus_.contains(gpu.value)) continue;
    const std::uint32_t server = topology_->server_of(gpu).value - servers_.first;
    const std::uint32_t i = gpu.value - gpus_.first;
    --known_[i];
    xor_[i] ^= slot;
    if (known_[i] == 0) {
      --open_on_[server];
    } else if (known_[i] == 1) {
      const std::uint32_t other = xor_[i];
      ++slots_[other].open;
      ++open_on_[server];
      regroup(other);
    }
  }
  for (const std::uint32_t server : own.servers) {
    std::erase(on_server_[server], slot);
    touch(server, now);
  }
  if (follow_) {
    const bool worked = over && now - own.seen >= kRan;
    moves_.push_back({true, worked, own.order, own.recurring_group, own.submitted, {}, own.work_s});
  }
  own.order = kGone;
  own.speed = 0;
  own.servers.clear();
  spare_.push_back(slot);
}

void Residents::leave_group(std::uint32_t slot) {
  Resident& job = slots_[slot];
  if (job.group == kNone) return;
  Group& group = groups_[job.group];
  group.members.erase({job.self.placement.front(), slot});
  if (group.members.empty()) {
    const std::uint32_t at = live_at_[job.group];
    live_[at] = live_.back();
    live_at_[live_[at]] = at;
    live_.pop_back();
  }
  job.group = kNone;
}

void Residents::regroup(std::uint32_t slot) {
  Resident& job = slots_[slot];
  leave_group(slot);
  if (job.open == 0 || job.self.placement.empty()) return;
  const GpuTypeId type = topology_->type_of(job.self.placement.front());
  const auto servers = static_cast<std::uint32_t>(job.servers.size());
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [at, fresh] =
      group_ids_.emplace(GroupKey{job.profile, job.open, servers, type.value}, next);
  if (fresh) {
    Group group;
    group.profile = job.profile;
    group.gpus = job.self.job.gpus;
    group.open = job.open;
    group.servers = servers;
    group.type = type;
    groups_.push_back(std::move(group));
    live_at_.push_back(0);
  }
  job.group = at->second;
  Group& group = groups_[job.group];
  if (group.members.empty()) {
    live_at_[job.group] = static_cast<std::uint32_t>(live_.size());
    live_.push_back(job.group);
  }
  group.members.emplace(job.self.placement.front(), slot);
}

void Residents::forget_speeds(Instant now) {
  for (const std::uint32_t slot : running_) {
    accrue(slots_[slot], now);
    slots_[slot].speed = 0;
    if (follow_) stale_.push_back(slot);
  }
}

double Residents::speed(const SpeedModel& model, std::uint32_t slot) {
  Resident& job = slots_[slot];
  if (job.speed > 0) return job.speed;
  beside_.clear();
  for (std::size_t i = 0; i < job.servers.size(); ++i) {
    for (const std::uint32_t other : on_server_[job.servers[i]]) {
      if (other == slot) continue;
      // A gang on several of its servers counts once, where it is met first.
      const auto& theirs = slots_[other].servers;
      const bool met = std::any_of(
          job.servers.begin(), job.servers.begin() + static_cast<std::ptrdiff_t>(i),
          [&](std::uint32_t s) { return std::binary_search(theirs.begin(), theirs.end(), s); });
      if (!met) beside_.push_back(slots_[other].self);
    }
  }
  job.speed = std::max(model.speed(job.self.job, job.self.placement, beside_).relative, 1e-6);
  return job.speed;
}

}  // namespace starling
