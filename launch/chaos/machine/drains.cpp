// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/drains.h"

#include <algorithm>

namespace starling::chaos_live {

void Drains::want(ServerId server, AgentId owner, bool drained, bool evict) {
  Wish& wish = wishes_[server];
  // A word with a version of its own, or the owner would take it for a repeat of the last.
  wish = {owner, drained, evict, false, wish.version + 1};
}

void Drains::say(const std::function<bool(AgentId)>& speaks,
                 const std::function<void(AgentId, const SetDrain&)>& send) const {
  for (const auto& [server, wish] : wishes_) {
    if (!wish.confirmed && speaks(wish.owner))
      send(wish.owner, SetDrain{server, wish.drained, wish.evict, wish.version});
  }
}

void Drains::hear(const DrainState& state) {
  const auto at = wishes_.find(state.server);
  if (at == wishes_.end() || at->second.confirmed) return;
  Wish& wish = at->second;
  if (state.why == Refusal::expired && state.version >= wish.version) {
    wish.version = state.version + 1;
  } else if (state.why == Refusal::unknown && state.version == wish.version) {
    wish.confirmed = state.drained == wish.drained;
  }
}

bool Drains::confirmed() const {
  return std::all_of(wishes_.begin(), wishes_.end(),
                     [](const auto& wish) { return wish.second.confirmed; });
}

}  // namespace starling::chaos_live
