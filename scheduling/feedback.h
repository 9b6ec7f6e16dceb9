// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include "scheduling/policy.h"

namespace starling {

/// Why the core has not carried out a decision.
enum class DecisionFault : std::uint8_t {
  not_waiting,       ///< the job is unknown here, does not wait, or is blocked
  not_running,       ///< so for jobs to be stopped
  keep_running,      ///< it may not be stopped and started again
  wrong_size,        ///< not the GPUs in number that it may have, or those that it has
  wrong_gpus,        ///< not ascending, or of a type that it does not take
  wrong_allocation,  ///< other workers than the GPUs make, or more of something than there can be
  no_room,           ///< GPUs, CPUs or memory that cannot be had
  reserved,          ///< a gang that has waited for long starts first
  no_home,           ///< no partition that the job may be offered to, or it has been
  quota              ///< more GPUs than its queue may have here now
};

/// For people, a few words.
[[nodiscard]] constexpr const char* name_of(DecisionFault fault) noexcept {
  switch (fault) {
    case DecisionFault::not_waiting:
      return "it does not wait";
    case DecisionFault::not_running:
      return "it does not run";
    case DecisionFault::keep_running:
      return "it may not be stopped and started again";
    case DecisionFault::wrong_size:
      return "not as many GPUs as it may have";
    case DecisionFault::wrong_gpus:
      return "GPUs that it does not take";
    case DecisionFault::wrong_allocation:
      return "an allocation that its GPUs cannot have";
    case DecisionFault::no_room:
      return "GPUs, CPUs or memory that cannot be had";
    case DecisionFault::reserved:
      return "a gang that has waited for long starts first";
    case DecisionFault::no_home:
      return "it cannot be offered to that agent, or has been";
    case DecisionFault::quota:
      return "more GPUs than its queue may have here now";
  }
  return "";
}

/// What a decision wants of its job, for people: after "to".
[[nodiscard]] constexpr const char* wish_of(const Decision& decision) noexcept {
  struct Words {
    constexpr const char* operator()(const Start&) const noexcept { return "start it"; }
    constexpr const char* operator()(const Resize&) const noexcept {
      return "run it on other GPUs, or otherwise";
    }
    constexpr const char* operator()(const Preempt&) const noexcept { return "stop it"; }
    constexpr const char* operator()(const Forward&) const noexcept {
      return "give it to another agent";
    }
    constexpr const char* operator()(const Spread&) const noexcept {
      return "start it over several partitions";
    }
  };
  return std::visit(Words{}, decision);
}

/// What became of a decision that was refused. Valid during the call that it is given to.
struct Feedback {
  const Decision& decision;
  DecisionFault why;
  [[nodiscard]] JobId job() const {
    return std::visit([](const auto& d) { return d.job; }, decision);
  }
};

}  // namespace starling
