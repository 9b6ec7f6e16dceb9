// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "store/hosting/hosting_plan.h"
#include "store/hosting/partition_standing.h"

namespace starling {

/// Between two looks at all partitions.
constexpr Duration kHostingPollEvery = std::chrono::milliseconds(200);

/// One partition that a process has a seat of, and what the process does about it: a HostingPlan
/// with hands. One thread looks; the one that serves the partition is another, and tells by got()
/// and over() how that goes. In daemons and in the simulation alike.
class HostingPost {
 public:
  struct Hands {
    std::function<std::unique_ptr<HandBackRequest>()> request;  ///< for it, by this host
    std::function<bool()> room;                                 ///< false: it cannot be served now
    std::function<void(const Ownership& seen)> begin;           ///< sets an agent to serve it
    std::function<void()> join;                     ///< waits for the thread that said over()
    std::function<void(const std::string&)> waits;  ///< a line of why it waits
  };
  HostingPost(AgentId me, HostingPlan plan, Hands hands);

  /// Several times a second.
  void look(Instant now, const PartitionStanding& standing, const FlockMembers& members);
  [[nodiscard]] bool serving() const noexcept { return plan_.serving(); }

  // For the thread that serves it.
  void got() { held_ = true; }
  /// It is to be given back, to wanted_by().
  [[nodiscard]] const std::atomic<bool>& wanted() const noexcept { return wanted_; }
  [[nodiscard]] AgentId wanted_by() const noexcept { return AgentId{wanted_by_}; }
  /// The last word of the thread that serves it.
  void over(HostingPlan::End how) {
    end_ = how;
    over_ = true;
  }

 private:
  void ask(const PartitionStanding& standing);

  AgentId me_;
  HostingPlan plan_;
  Hands hands_;
  std::unique_ptr<HandBackRequest> request_;
  // Shared with the thread that serves it.
  std::atomic<bool> over_{false}, held_{false}, wanted_{false};
  std::atomic<std::uint32_t> wanted_by_{0};
  std::atomic<HostingPlan::End> end_{HostingPlan::End::not_taken};
};

}  // namespace starling
