// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "sim/hosting/etcd_way.h"
#include "sim/hosting/host.h"
#include "sim/hosting/journal_model.h"
#include "sim/hosting/sim_etcd.h"
#include "sim/hosting/tasks.h"

namespace starling {

/// Large records that are written at once where a journal is to be a large one.
constexpr std::size_t kLargeBatch = 60;

/// What one seed of takeovers came to.
struct HostingRun {
  std::uint64_t seed = 0;
  std::uint32_t hosts = 0;  ///< and partitions
  bool large = false;       ///< one journal takes longer to read than a lease runs
  double simulated_s = 0;
  std::uint64_t takeovers = 0, writes = 0, trace_hash = 0;
  std::map<std::string, std::uint64_t> faults;
  double takeover_s = 0;    ///< from the clean kill of an owner until another one serves
  std::string rule, wrong;  ///< what was broken first; empty: nothing
};

/// Which process serves which partition, with state in etcd: processes with the leases, plans,
/// takeovers and journals of the program, against an etcd that is slow, away or cut off, while
/// processes die, stand still and come back, and operators move partitions. All faults are drawn
/// from the seed; then everything is healed. Checked:
///
/// H1 no host speaks for a partition once another has been granted it;
/// H2 what a journal has said to hold every later owner reads: once, in order, batches whole, and
///    nothing that an earlier owner had read as missing;
/// H3 after healing each partition is served, by its preferred host, and nothing moves any more;
/// H4 a clean takeover and the return of the killed host take no longer than promised.
class HostingWorld {
 public:
  explicit HostingWorld(std::uint64_t seed, Duration faults_last = std::chrono::minutes(5));
  ~HostingWorld();

  [[nodiscard]] HostingRun run();

  // For hosts.
  [[nodiscard]] Tasks& tasks() noexcept { return tasks_; }
  [[nodiscard]] SimEtcd& etcd() noexcept { return etcd_; }
  [[nodiscard]] const EtcdWeather& weather() const noexcept { return weather_; }
  [[nodiscard]] const EtcdAddress& flock() const noexcept { return flock_; }
  [[nodiscard]] std::vector<std::pair<PartitionId, std::uint32_t>> seats_of(AgentId host) const;
  [[nodiscard]] JournalModel& journal(PartitionId p) { return journals_[p.value]; }
  [[nodiscard]] std::uint64_t next_number() noexcept { return ++numbers_; }
  /// The partition's journal is to be a large one.
  [[nodiscard]] bool wants_more(PartitionId p) const;
  /// How likely a fault is at each point where it hurts most.
  [[nodiscard]] double strikes() const noexcept { return healed_ ? 0 : strikes_; }
  void count(const std::string& fault) { ++run_.faults[fault]; }
  void took(const Ownership& mine);
  void speaks(const Ownership& mine);
  void served(PartitionId p, AgentId by);
  void wrong(const std::string& rule, const std::string& what);
  void say(const std::string& rule, const std::string& what) {
    if (!what.empty()) wrong(rule, what);
  }

 private:
  struct Service {
    AgentId by{};
    Instant last{};
  };

  void plan_faults(Instant end);
  void fault();
  void change_weather();
  void move_partitions(bool back);
  void heal();
  void check_settled();
  void time_takeover();
  /// Until `is` or `latest`.
  bool wait_for(Instant latest, const std::function<bool()>& is);
  [[nodiscard]] SimHost& any_host() {
    return *hosts_[rng_.below(static_cast<std::uint32_t>(hosts_.size()))];
  }

  HostingRun run_;
  Rng rng_;
  Duration faults_last_;
  EtcdAddress flock_;
  EtcdWeather weather_, usual_;
  std::vector<JournalModel> journals_;
  std::vector<Service> services_;
  std::uint64_t numbers_ = 0;
  double large_bytes_ = 0, strikes_ = 0;
  bool healed_ = false;
  TraceHash hash_;
  SimEtcd etcd_;
  std::vector<std::unique_ptr<SimHost>> hosts_;
  Tasks tasks_;  // ended before all that they use
};

}  // namespace starling
