// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/emulated_launcher.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/check.h"
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
    gang.job = profile_of(spec.spec, static_cast<std::uint32_t>(gang.placement.size()));
    gang.rate = physics_.scaling(gang.job);
    gang.startup_s = physics_.startup_s(gang.job);
    gang.left_s = std::max(0.0, seconds(spec.spec.duration - spec.served));
    gang.counted = now;
    gang.until = spec.until;
    plan(spec.attempt, gang);
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
    const bool finished = gangs_.at(attempt).end <= at;
    end(attempt, finished ? ExitStatus{} : ExitStatus{-SIGTERM, true, {}}, at);
  }
  return std::exchange(ended_, {});
}

std::vector<Progress> EmulatedLauncher::measure() {
  std::vector<Progress> all;
  for (auto& [attempt, gang] : gangs_) {
    count(gang, clock_.now());
    all.push_back({attempt, from_seconds(gang.served_s), gang.startup_s > 0 ? 0 : gang.rate});
  }
  return all;
}

Instant EmulatedLauncher::next_deadline() const noexcept {
  if (!ended_.empty()) return Instant::min();
  return ends_.empty() ? kNever : ends_.begin()->first;
}

/// Start-up comes first and counts as no service.
void EmulatedLauncher::count(Gang& gang, Instant now) const {
  if (now <= gang.counted) return;
  double passed = seconds(now - gang.counted) * speedup_;
  gang.counted = now;
  const double starting = std::min(passed, gang.startup_s);
  gang.startup_s -= starting;
  passed -= starting;
  const double service = std::min(passed * gang.rate, gang.left_s);
  gang.left_s -= service;
  gang.served_s += service;
}

void EmulatedLauncher::plan(AttemptId attempt, Gang& gang) {
  ends_.erase({gang.over(), attempt});
  gang.end =
      later(gang.counted, from_seconds((gang.startup_s + gang.left_s / gang.rate) / speedup_));
  ends_.emplace(gang.over(), attempt);
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
    count(gang, now);
    gang.rate = physics_.rate(gang.job, gang.placement, beside) * physics_.scaling(gang.job);
    STARLING_CHECK(gang.rate > 0);
    plan(attempt, gang);
  }
}

void EmulatedLauncher::end(AttemptId attempt, const ExitStatus& exit, Instant now) {
  const auto at = gangs_.find(attempt);
  count(at->second, now);
  Gang gang = std::move(at->second);
  gangs_.erase(at);
  ends_.erase({gang.over(), attempt});
  // Rounding must not leave a nanosecond of a finished job undone.
  const Duration served =
      from_seconds(exit.code == 0 ? gang.served_s + gang.left_s : gang.served_s);
  for (const ServerId server : gang.servers) {
    on_server_.at(server).erase(attempt);
    ended_.push_back({attempt, server, exit, served});
  }
  rate_again(gang.servers, now);
}

}  // namespace starling
