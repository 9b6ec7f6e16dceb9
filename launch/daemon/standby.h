#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "launch/daemon/partition_life.h"
#include "store/partition_standing.h"

namespace starling {

/// Watches the partitions that this process has standby seats of, and serves those whose lease has
/// lapsed, each in a thread of its own, until their own agents ask for them, somebody else takes
/// them, or etcd or the network fails; then it watches on. One thread more does the watching.
class Standby {
 public:
  /// `host` outlives it. Seats of the process's own partition are left alone.
  Standby(const DaemonParts& host, const std::vector<HostedSeat>& seats);
  /// Once a stop has been requested (or there is nothing to watch): waits for all threads.
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Post {
    HostedSeat seat;
    std::optional<Time> due;  ///< when to take over what is free now
    Time not_before{};        ///< after a try that came to nothing
    std::atomic<bool> serving{false}, wanted{false};
    std::thread thread;
  };

  void watch();
  void look(Post& post, const PartitionStanding& standing, Time now);
  void stand_in(Post& post, const Ownership& seen);

  const DaemonParts& host_;
  std::string holder_;  ///< of leases: this process's
  std::vector<std::unique_ptr<Post>> posts_;
  std::thread thread_;
};

}  // namespace starling
