// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/emulated_launcher.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "interference/pace/pace.h"
#include "interference/profile.h"

namespace starling {

EmulatedLauncher::EmulatedLauncher(const Topology& topology, const Physics& physics,
                                   const Clock& clock, double speedup)
    : topology_(topology), physics_(physics), clock_(clock), speedup_(speedup) {
  STARLING_CHECK(speedup > 0);
}

Status EmulatedLauncher::start(const LaunchSpec& spec) {
  if (spec.spec.duration <= Duration::zero()) {
    return {Errc::invalid,
            "job " + to_string(spec.spec.id) + " has no duration: only a real executor can run it"};
  }
  const Instant now = clock_.now();
  const auto [at, fresh] = gangs_.try_emplace(spec.attempt);
  Gang& gang = at->second;
  if (fresh) {
    for (const Share& share : spec.gang) {
      gang.placement.insert(gang.placement.end(), share.gpus.begin(), share.gpus.end());
    }
    std::sort(gang.placement.begin(), gang.placement.end());
    gang.job =
        profile_of(spec.spec, static_cast<std::uint32_t>(gang.placement.size()), spec.allocation);
    gang.allocation = spec.allocation;
    gang.before = spec.served;
    gang.length = spec.spec.duration;
    gang.rate = physics_.scaling(gang.job);
    // Start-up comes first and counts as no service.
    const Duration startup =
        from_seconds(seconds(start_time(physics_, spec.spec, gang.job, spec.served)) / speedup_);
    gang.work =
        WorkProgress(spec.spec.duration - spec.served, later(now, startup), gang.rate * speedup_);
    gang.until = spec.until;
    ends_.emplace(gang.over(), spec.attempt);
  }
  if (!gang.servers.insert(spec.server).second) return done();
  on_server_[spec.server].insert(spec.attempt);
  rate_again({spec.server}, now);
  return done();
}

void EmulatedLauncher::stop(AttemptId attempt, Duration) {
  if (gangs_.contains(attempt)) end(attempt, {-SIGTERM, false, {}}, clock_.now());
}

void EmulatedLauncher::renew(AttemptId attempt, Instant until) {
  const auto at = gangs_.find(attempt);
  if (at == gangs_.end()) return;
  ends_.erase({at->second.over(), attempt});
  at->second.until = until;
  ends_.emplace(at->second.over(), attempt);
}

void EmulatedLauncher::adopt(std::span<const LaunchSpec> earlier) {
  for (const LaunchSpec& part : earlier) {
    ended_.push_back({part.attempt, part.server, {0, true, {}}, Duration{0}});
  }
}

std::vector<Exit> EmulatedLauncher::reap() {
  const Instant now = clock_.now();
  while (!ends_.empty() && ends_.begin()->first <= now) {
    const auto [at, attempt] = *ends_.begin();
    const bool finished = gangs_.at(attempt).work.end() <= at;
    end(attempt, finished ? ExitStatus{} : ExitStatus{-SIGTERM, true, {}}, at);
  }
  return std::exchange(ended_, {});
}

std::vector<Progress> EmulatedLauncher::measure() {
  const Instant now = clock_.now();
  std::vector<Progress> all;
  for (auto& [attempt, gang] : gangs_) {
    const bool starts = now < gang.work.counted_to();
    const Duration worked = gang.work.done() + gang.work.uncounted(now);
    all.push_back({attempt, worked, starts ? 0 : gang.rate});
    if (starts || !physics_.varies()) continue;
    const double part = seconds(gang.before + worked) / std::max(seconds(gang.length), 1e-9);
    const auto said = gradient_report(gang.job, gang.placement.size(), gang.allocation, part);
    all.back().noise = said.noise;
    all.back().batch = said.batch;
  }
  return all;
}

Instant EmulatedLauncher::next_deadline() const noexcept {
  if (!ended_.empty()) return Instant::min();
  return ends_.empty() ? kNever : ends_.begin()->first;
}

/// Everybody on these servers got or lost a neighbour.
void EmulatedLauncher::rate_again(const std::set<ServerId>& servers, Instant now) {
  if (!physics_.varies()) return;
  std::set<AttemptId> touched;
  for (const ServerId server : servers) {
    const auto here = on_server_.find(server);
    if (here != on_server_.end()) touched.insert(here->second.begin(), here->second.end());
  }
  for (const AttemptId& attempt : touched) {
    Gang& gang = gangs_.at(attempt);
    std::set<AttemptId> others;
    for (const ServerId server : gang.servers) {
      others.insert(on_server_.at(server).begin(), on_server_.at(server).end());
    }
    others.erase(attempt);
    Neighbours beside;
    for (const AttemptId& other : others) {
      beside.push_back({gangs_.at(other).job, gangs_.at(other).placement});
    }
    ends_.erase({gang.over(), attempt});
    gang.rate = progress_rate(physics_, gang.job, gang.placement, beside, gang.allocation);
    STARLING_CHECK(gang.rate > 0);
    gang.work.set_rate(now, gang.rate * speedup_);
    ends_.emplace(gang.over(), attempt);
  }
}

void EmulatedLauncher::end(AttemptId attempt, const ExitStatus& exit, Instant now) {
  const auto at = gangs_.find(attempt);
  Gang gang = std::move(at->second);
  gangs_.erase(at);
  ends_.erase({gang.over(), attempt});
  // Rounding must not leave a nanosecond of a finished job undone.
  if (exit.code == 0) {
    gang.work.finish(now);
  } else {
    gang.work.account(now);
  }
  for (const ServerId server : gang.servers) {
    on_server_.at(server).erase(attempt);
    ended_.push_back({attempt, server, exit, gang.work.done()});
  }
  rate_again(gang.servers, now);
}

}  // namespace starling
