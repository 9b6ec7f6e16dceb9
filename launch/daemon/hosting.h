// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "launch/daemon/partition_life.h"
#include "store/hosting/hosting_post.h"

namespace starling {

/// Serves partitions whose state is in etcd, as a HostingPost of each says. Each partition has a
/// thread of its own, until its preferred host asks for it, another host takes it, etcd or the
/// network fails, or its executors are out of reach from here alone.
class Hosting {
 public:
  /// `host` outlives it.
  Hosting(const DaemonParts& host, std::vector<HostedSeat> seats);

  /// Until a stop is requested, this process is no longer a member and serves nothing, or its
  /// configuration is wrong. The exit status.
  int run();

 private:
  /// One partition and what serves it here.
  struct Post {
    HostedSeat seat;
    std::string prefix;  ///< of log lines
    std::optional<HostingPost> post;
    std::string waits_for;        ///< what the log was told last
    std::string not_taken;        ///< the same, by the thread
    bool short_of_files = false;  ///< so it was told
    std::thread thread;
  };

  [[nodiscard]] HostingPost::Hands hands_of(Post& post);
  void begin(Post& post, const Ownership& seen);
  [[nodiscard]] HostingPlan::End serve(Post& post, const Ownership& seen);
  [[nodiscard]] HostingPlan::End ended(Post& post, const Ownership& mine, const Status& why);
  void give_up(int status, const std::string& why);
  bool room_to_serve(Post& post);
  void wait_line(std::string& last, const std::string& why) const;

  const DaemonParts& host_;
  AgentId me_;
  EtcdAddress flock_;
  std::vector<std::unique_ptr<Post>> posts_;
  std::atomic<int> status_{0};
};

}  // namespace starling
