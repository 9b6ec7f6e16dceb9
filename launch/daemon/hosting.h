#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "launch/daemon/partition_life.h"
#include "store/partition_standing.h"

namespace starling {

/// Serves partitions whose state is in etcd: those that this process is the preferred host of
/// (FlockMembers) as soon as nobody else does, which it asks for; others when their lease has
/// lapsed, each agent in the circle a little later than the one before. Each partition has a thread
/// of its own, until its preferred host asks for it, somebody else takes it, etcd or the network
/// fails, or its executors are out of reach from here alone.
class Hosting {
 public:
  /// `host` outlives it.
  Hosting(const DaemonParts& host, std::vector<HostedSeat> seats);

  /// Until a stop is requested, this process is no longer a member and serves nothing, or its
  /// configuration is wrong. The exit status.
  int run();

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// One partition and what this process does about it.
  struct Post {
    HostedSeat seat;
    std::string prefix;       ///< of log lines
    std::optional<Time> due;  ///< when to take over what is free now
    Time not_before{};        ///< after a try that came to nothing
    std::unique_ptr<PartitionWish> wish;
    std::string waits_for;        ///< what the log was told last
    bool short_of_files = false;  ///< so it was told
    // Shared with the thread.
    std::atomic<bool> serving{false}, held{false}, wanted{false};
    std::atomic<std::uint32_t> wanted_by{0};
    std::atomic<std::int64_t> rest_ms{0};  ///< after its end
    std::int64_t out_of_reach_rest_ms = 0, unheard_rest_ms = 0;
    std::thread thread;
  };

  void look(Post& post, const PartitionStanding& standing, const FlockMembers& members, Time now);
  void ask_for(Post& post, const PartitionStanding& standing);
  void begin(Post& post, const PartitionStanding& standing);
  void serve(Post& post, const Ownership& seen);
  void ended(Post& post, const Ownership& mine, const Status& why);
  void give_up(int status, const std::string& why);
  bool room_to_serve(Post& post);
  void wait_line(std::string& last, const std::string& why) const;

  const DaemonParts& host_;
  AgentId me_;
  EtcdAddress flock_;
  std::string holder_;  ///< of leases: this process's
  std::vector<std::unique_ptr<Post>> posts_;
  std::atomic<int> status_{0};
};

}  // namespace starling
