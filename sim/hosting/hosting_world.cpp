// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/hosting_world.h"

#include <algorithm>

#include "store/etcd/etcd_address.h"
#include "store/hosting/flock_members.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Of the promise: the lease, what etcd and plans need to notice, the journal.
constexpr double kTakeover_s = 7, kReturn_s = 10;
/// A minute's rest after a place that could not be had, and all that a takeover needs.
constexpr Duration kSettles = 150s, kQuiet = 30s;
constexpr double kMegabyte = 1e6;

}  // namespace

HostingWorld::HostingWorld(std::uint64_t seed, Duration faults_last)
    : rng_(seed), faults_last_(faults_last), etcd_([this] { return tasks_.now(); }) {
  run_.seed = seed;
  flock_.name = "sim";
  Rng draw = rng_.fork(1);
  run_.hosts = 2 + draw.below(4);
  run_.large = draw.chance(0.2);
  usual_.delay = weather_.delay = from_seconds(0.0005 + 0.01 * draw.uniform());
  if (run_.large) {
    large_bytes_ = (8 + 24 * draw.uniform()) * kMegabyte;
    // One to three leases to read it.
    usual_.bytes_per_s = std::max(kMegabyte, large_bytes_ / (5 + 10 * draw.uniform()));
  }
  if (draw.chance(0.5)) strikes_ = 0.005 * draw.uniform();
  journals_.resize(run_.hosts);
  services_.resize(run_.hosts);
  for (std::uint32_t h = 0; h < run_.hosts; ++h) {
    hosts_.push_back(std::make_unique<SimHost>(*this, AgentId{h}, rng_.fork(100 + h)));
    hosts_.back()->set_rate(0.95 + 0.1 * draw.uniform());
  }
}

HostingWorld::~HostingWorld() = default;

std::vector<std::pair<PartitionId, std::uint32_t>> HostingWorld::seats_of(AgentId host) const {
  std::vector<std::pair<PartitionId, std::uint32_t>> seats;
  for (std::uint32_t seat = 0; seat < run_.hosts; ++seat)
    seats.emplace_back(PartitionId{(host.value + run_.hosts - seat) % run_.hosts}, seat);
  return seats;
}

bool HostingWorld::wants_more(PartitionId p) const {
  return large_bytes_ > 0 && p.value == 0 && tasks_.now() < Instant(60s) &&
         static_cast<double>(journals_[0].acknowledged() * kLargeBatch *
                             JournalModel::kLargeBytes) < large_bytes_;
}

void HostingWorld::took(const Ownership& mine) {
  ++run_.takeovers;
  hash_.add(static_cast<std::uint64_t>(tasks_.now().time_since_epoch().count()));
  hash_.add(mine.epoch.value);
  hash_.add(mine.owner.value);
}

void HostingWorld::speaks(const Ownership& mine) {
  const std::int64_t now = etcd_.revision_of(EtcdKeys(flock_, mine.partition).epoch);
  if (now == static_cast<std::int64_t>(mine.epoch.value)) return;
  wrong("H1", "agent " + std::to_string(mine.owner.value) + " speaks for partition " +
                  std::to_string(mine.partition.value) + " at epoch " +
                  std::to_string(mine.epoch.value) + ", and epoch " + std::to_string(now) +
                  " has been granted");
}

void HostingWorld::served(PartitionId p, AgentId by) {
  services_[p.value].by = by;
  services_[p.value].last = tasks_.now();
  ++run_.writes;
}

void HostingWorld::wrong(const std::string& rule, const std::string& what) {
  if (!run_.rule.empty()) return;
  run_.rule = rule;
  run_.wrong = "at " + std::to_string(seconds(tasks_.now().time_since_epoch())) + " s: " + what;
}

void HostingWorld::plan_faults(Instant end) {
  Rng times = rng_.fork(2);
  const double mean_s = 2 + 20 * times.uniform();
  for (Instant at = Instant(20s); at < end; at += from_seconds(mean_s * times.exponential()))
    tasks_.at(at, [this] { fault(); });
  tasks_.at(end, [this] { heal(); });
}

void HostingWorld::fault() {
  if (healed_) return;
  SimHost& host = any_host();
  const Duration brief = from_seconds(3 * rng_.uniform()),
                 lasts = from_seconds(40 * rng_.uniform());
  const Duration length = rng_.chance(0.5) ? brief : lasts;
  const Instant until = tasks_.now() + length;
  const auto until_healed = [this, until](std::function<void()> undo) {
    tasks_.at(until, [this, undo = std::move(undo)] {
      if (!healed_) undo();
    });
  };
  switch (rng_.below(9)) {
    case 0:
    case 1:
      count("killed");
      host.kill();
      return until_healed([&host] { host.start(); });
    case 2:
      count("frozen");
      return host.freeze(length);
    case 3:
      count("cut from etcd");
      host.cut(true);
      return until_healed([&host] { host.cut(false); });
    case 4:
      count("no majority");
      weather_.away = true;
      return until_healed([this] {
        weather_.away = false;
        etcd_.new_leader();
      });
    case 5:
      count("places taken");
      host.deafen(true);
      return until_healed([&host] { host.deafen(false); });
    case 6:
      count("partitions moved");
      return move_partitions(false);
    case 7:
      count("slow way");
      host.slow(from_seconds(0.05 + 0.3 * rng_.uniform()));
      return until_healed([&host] { host.slow(Duration{0}); });
    default:
      count("weather");
      return change_weather();
  }
}

void HostingWorld::change_weather() {
  const bool away = weather_.away;
  weather_ = usual_;
  weather_.away = away;
  const auto sometimes = [this](double most) {
    return rng_.chance(0.5) ? most * rng_.uniform() : 0;
  };
  weather_.delay += from_seconds(sometimes(0.4));
  weather_.request_lost = sometimes(0.3);
  weather_.answer_lost = sometimes(0.3);
  weather_.late = sometimes(0.2);
}

/// An operator's word. It may come to nothing, as a command that ends with an error does.
void HostingWorld::move_partitions(bool back) {
  FlockMembers now;
  const std::string key = members_key(flock_);
  if (!back) {
    for (std::uint32_t h = 0; h < run_.hosts; ++h)
      if (rng_.chance(0.7)) now.hosts.insert(AgentId{h});
    for (std::uint32_t p = 0; p < run_.hosts; ++p)
      if (rng_.chance(0.5)) now.preferred[PartitionId{p}] = AgentId{rng_.below(run_.hosts)};
  }
  (void)etcd_.txn({{}, {EtcdOp::put(key, to_text(now))}, {}}).ok();
}

void HostingWorld::heal() {
  healed_ = true;
  weather_ = usual_;
  etcd_.new_leader();
  move_partitions(true);
  for (const auto& host : hosts_) {
    host->cut(false);
    host->slow(Duration{0});
    host->deafen(false);
    host->start();
  }
}

bool HostingWorld::wait_for(Instant latest, const std::function<bool()>& is) {
  while (!is() && tasks_.now() < latest && run_.rule.empty()) tasks_.run_until(tasks_.now() + 20ms);
  return is();
}

HostingRun HostingWorld::run() {
  for (const auto& host : hosts_)
    tasks_.at(Instant(from_seconds(2 * rng_.uniform())), [&host] { host->start(); });
  const Instant end = Instant(20s) + faults_last_;
  plan_faults(end);
  const auto broken = [this] { return !run_.rule.empty(); };
  wait_for(end + kSettles, broken);
  if (run_.rule.empty()) check_settled();
  if (run_.rule.empty()) time_takeover();
  run_.simulated_s = seconds(tasks_.now().time_since_epoch());
  hash_.add(run_.writes);
  run_.trace_hash = hash_.value();
  return run_;
}

void HostingWorld::check_settled() {
  const std::uint64_t before = run_.takeovers;
  wait_for(tasks_.now() + kQuiet, [] { return false; });
  if (!run_.rule.empty()) return;
  for (std::uint32_t p = 0; p < run_.hosts; ++p) {
    const Service& service = services_[p];
    const std::string name = "partition " + std::to_string(p);
    if (tasks_.now() - service.last > 5s)
      return wrong("H3", name + " is not served since " +
                             std::to_string(seconds(service.last.time_since_epoch())) + " s");
    if (service.by != AgentId{p})
      return wrong("H3", name + " is served by agent " + std::to_string(service.by.value));
  }
  if (run_.takeovers != before)
    wrong("H3", std::to_string(run_.takeovers - before) + " takeovers with nothing to do");
}

/// Of the last partition, whose journal is no large one, in fair weather.
void HostingWorld::time_takeover() {
  weather_ = EtcdWeather{};
  const std::uint32_t last = run_.hosts - 1;
  SimHost& host = *hosts_[last];
  const Instant killed = tasks_.now();
  host.kill();
  const auto served_by = [this, last](bool own) {
    const Service& s = services_[last];
    return [&s, own, last, since = tasks_.now()] {
      return s.last > since && (s.by == AgentId{last}) == own;
    };
  };
  const bool taken = wait_for(killed + 60s, served_by(false));
  run_.takeover_s = seconds(tasks_.now() - killed);
  if (!taken || run_.takeover_s > kTakeover_s)
    return wrong("H4", "a clean takeover took " + std::to_string(run_.takeover_s) + " s");
  const Instant back = tasks_.now();
  host.start();
  const bool returned = wait_for(back + 60s, served_by(true));
  if (!returned || seconds(tasks_.now() - back) > kReturn_s)
    wrong("H4", "a host that came back had its partition again after " +
                    std::to_string(seconds(tasks_.now() - back)) + " s");
}

}  // namespace starling
