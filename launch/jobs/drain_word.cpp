// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/drain_word.h"

#include <chrono>
#include <optional>
#include <string>

namespace starling {

Result<DrainState> say_drain(Session& s, AgentId owner, const SetDrain& asked) {
  const NodeId node = agent_node(owner);
  const std::string name = "agent-" + std::to_string(owner.value);
  const Duration patience = std::chrono::seconds(10);
  const auto any = [](const AgentStatus&) { return true; };
  if (!s.ask<AgentStatus>(node, StatusQuery{}, std::chrono::seconds(3), any))
    return {Errc::not_ready, name + " does not answer; is the flock up?"};
  if (s.spoken_with(node) < 2)
    return {Errc::unsupported, name + " speaks protocol 1, which knows no drains"};
  // Its version has to be above that of every word before; the owner says which was the last.
  std::optional<DrainState> answer;
  SetDrain word = asked;
  for (int tries = 0; tries < 5; ++tries) {
    answer = s.ask<DrainState>(node, word, patience, [&](const DrainState& state) {
      const bool late = state.why == Refusal::expired && state.version >= word.version;
      return state.server == word.server &&
             (late || state.why == Refusal::denied || state.drained == word.drained);
    });
    if (!answer || answer->why != Refusal::expired) break;
    if (asked.version > 1)
      return {Errc::conflict, "somebody else has said something about the server"};
    word.version = answer->version + 1;
  }
  if (!answer) return {Errc::not_ready, name + " has not confirmed it; try again"};
  if (answer->why == Refusal::denied) {
    return {Errc::invalid,
            "this is the key of '" + s.user() +
                "', who is no operator of the flock; 'starling keys show' lists them"};
  }
  if (answer->why != Refusal::unknown)
    return {Errc::invalid, name + " refuses: " + name_of(answer->why)};
  return *answer;
}

}  // namespace starling
