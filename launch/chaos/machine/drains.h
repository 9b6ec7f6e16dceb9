// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "agents/message.h"
#include "base/ids.h"

namespace starling::chaos_live {

/// The operator of a flock that is broken: says to owners which servers are drained, again and
/// again until each has confirmed it, whichever agent serves the partition by then.
class Drains {
 public:
  /// From now on this is what is wanted of the server, which is `owner`'s.
  void want(ServerId server, AgentId owner, bool drained, bool evict);
  /// Says what is not confirmed; `speaks`: whether an agent knows the word now.
  void say(const std::function<bool(AgentId)>& speaks,
           const std::function<void(AgentId, const SetDrain&)>& send) const;
  void hear(const DrainState& state);
  [[nodiscard]] bool confirmed() const;

 private:
  struct Request {
    AgentId owner;
    bool drained = false, evict = false, confirmed = false;
    std::uint64_t version = 1;
  };
  std::map<ServerId, Request> requests_;
};

}  // namespace starling::chaos_live
