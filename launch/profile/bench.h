// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interference/profile/samples.h"
#include "launch/profile/worker.h"

namespace starling {

/// What a campaign measures with: the machine, or a test's stand-in.
class ProfileBench {
 public:
  virtual ~ProfileBench() = default;
  /// `busy` if it was asked to stop.
  [[nodiscard]] virtual Result<ProfileSample> measure(const ProfileVisit& visit) = 0;
  /// Between rounds everything starts anew, so that where memory happened to lie differs.
  virtual void renew() = 0;
};

struct MachineBenchOptions {
  std::string program;   ///< starling-profile
  double seconds = 0.4;  ///< length of a window
  double patience = 2;   ///< seconds to wait, at most, before a visit for others to pause
  /// For a machine that others use: workloads take precedence over them (this needs the right to),
  /// and a core that would be idle is held by spinning, where that holds no neighbour back.
  bool hold = false;
  double rest = 0;  ///< seconds after every visit that are left to others
  std::function<bool()> stop;
};

/// Real processes on this machine, started as they are needed and kept for the next visit, as many
/// as memory allows.
class MachineBench : public ProfileBench {
 public:
  MachineBench(const ProfilePlan& plan, MachineBenchOptions options);
  Result<ProfileSample> measure(const ProfileVisit& visit) override;
  void renew() override { workers_.clear(); }

 private:
  struct Key {
    std::uint32_t workload;
    bool second;  ///< the neighbour, so that a workload can stand beside itself
    int core;
    bool gpu;
    auto operator<=>(const Key&) const = default;
  };
  struct Slot {
    std::unique_ptr<ProfileWorker> worker;
    std::uint64_t used = 0;
  };
  struct Took {
    std::vector<ProfileWorker::Answer> answers;
    double other_load = 0;
  };
  Status prepare(const std::vector<Key>& keys);
  /// `idle`: does not run, but may have to hold its core. Null: none.
  Result<Took> window(const std::vector<ProfileWorker*>& workers, ProfileWorker* idle,
                      const std::vector<int>& cores);
  void await_quiet(const std::vector<int>& cores);

  const ProfilePlan& plan_;
  MachineBenchOptions options_;
  std::map<Key, Slot> workers_;
  std::uint64_t uses_ = 0;
  std::size_t most_workers_;
};

/// Sleeps, but not past a request to stop.
void sleep_until(std::chrono::steady_clock::time_point at, const std::function<bool()>& stop);

}  // namespace starling
