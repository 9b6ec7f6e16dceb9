// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/drains.h"

#include <algorithm>

namespace starling::chaos_live {

void Drains::want(ServerId server, AgentId owner, bool drained, bool evict) {
  Request& request = requests_[server];
  // A word with a version of its own, or the owner would take it for a repeat of the last.
  request = {owner, drained, evict, false, request.version + 1};
}

void Drains::say(const std::function<bool(AgentId)>& speaks,
                 const std::function<void(AgentId, const SetDrain&)>& send) const {
  for (const auto& [server, request] : requests_) {
    if (!request.confirmed && speaks(request.owner))
      send(request.owner, SetDrain{server, request.drained, request.evict, request.version});
  }
}

void Drains::hear(const DrainState& state) {
  const auto at = requests_.find(state.server);
  if (at == requests_.end() || at->second.confirmed) return;
  Request& request = at->second;
  if (state.why == Refusal::expired && state.version >= request.version) {
    request.version = state.version + 1;
  } else if (state.why == Refusal::unknown && state.version == request.version) {
    request.confirmed = state.drained == request.drained;
  }
}

bool Drains::confirmed() const {
  return std::all_of(requests_.begin(), requests_.end(),
                     [](const auto& request) { return request.second.confirmed; });
}

}  // namespace starling::chaos_live
