// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "store/hosting/flock_members.h"
#include "store/hosting/partition_standing.h"

namespace starling {

/// Which process serves which partition when: what one decides about one partition that it has a
/// seat of. A pure function of what it was told and of `now`, so that it runs in any world. Hosting
/// acts on it.
///
/// The partition's preferred host (FlockMembers) takes it as soon as no other has it, which it
/// asks for; others when the lease has lapsed, each in the circle a little later than the one
/// before.
class HostingPlan {
 public:
  enum class Act : std::uint8_t {
    nothing,
    ask,       ///< keep the request for it; the process that serves it gives it back
    begin,     ///< take it over and serve it; then began()
    give_back  ///< to `to`, which asks for it
  };
  struct Step {
    Act act = Act::nothing;
    AgentId to{};
    bool asks_for_it = false;  ///< false: take back a request that was made
  };
  /// How serving it, or the try to, ended.
  enum class End : std::uint8_t {
    not_taken,     ///< another was faster, or etcd did not answer
    stopped,       ///< on request
    given_back,    ///< asked for by its preferred host
    out_of_reach,  ///< its executors are reached by others, and not from here
    unheard,       ///< its place on the bus could not be had
    failed         ///< the journal could not be written, or another process has it
  };

  /// `seat` 0: its own partition. `holder`: of leases, this process's.
  HostingPlan(AgentId me, std::string holder, PartitionId partition, std::uint32_t seat,
              Instant start);

  /// Several times a second, and always before acting.
  [[nodiscard]] Step look(Instant now, const PartitionStanding& standing,
                          const FlockMembers& members);
  void began();
  /// The try has succeeded: it is this process's.
  void took() { held_ = true; }
  void ended(Instant now, End how);
  [[nodiscard]] bool serving() const noexcept { return serving_; }

 private:
  AgentId me_;
  std::string holder_;
  PartitionId partition_;
  std::uint32_t seat_;
  bool serving_ = false, held_ = false;
  std::optional<Instant> due_;  // when to take over what is free now
  Instant not_before_;          // after an end
  Duration rest_{0}, out_of_reach_rest_{0}, unheard_rest_{0};
};

}  // namespace starling
