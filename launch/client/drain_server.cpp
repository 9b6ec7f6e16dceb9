// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"

namespace starling {
namespace {

/// The owner's answer to `word`. A new word needs a version above that of every word before, which
/// only the owner knows: it is said again with one that is. Nothing: no answer until then.
Result<std::optional<DrainState>> answer_to(Session& session, NodeId owner, SetDrain word,
                                            Instant until) {
  constexpr int kTries = 5;
  const bool asks_again = word.version > 0;
  if (!asks_again) word.version = 1;
  std::optional<DrainState> answer;
  for (int tries = 0; tries < kTries; ++tries) {
    answer =
        session.ask<DrainState>(owner, word, until - Session::now(), [&](const DrainState& state) {
          const bool late = state.why == Refusal::expired && state.version >= word.version;
          return state.server == word.server &&
                 (late || state.why == Refusal::denied || state.drained == word.drained);
        });
    if (!answer || answer->why != Refusal::expired) break;
    if (asks_again)
      return {Errc::conflict, "another client has said something about the server since"};
    word.version = answer->version + 1;
  }
  return answer;
}

}  // namespace

Result<DrainState> FlockClient::drain(const SetDrain& word, Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  if (word.server.value >= topology_.server_count())
    return {Errc::invalid, "there is no server " + std::to_string(word.server.value)};
  const Instant until = later(Session::now(), patience);
  const AgentId owner = owner_of(word.server);
  const NodeId node = agent_node(owner);
  const std::string name = "agent-" + std::to_string(owner.value);
  const auto any = [](const AgentStatus&) { return true; };
  const Duration first = std::min<Duration>(patience, std::chrono::seconds(3));
  if (!session_->ask<AgentStatus>(node, StatusQuery{}, first, any))
    return {Errc::not_ready, silence_text({owner}) + "; is the flock up?"};
  if (session_->spoken_with(node) < 2)
    return {Errc::unsupported, name + " speaks protocol 1, which knows no drains"};
  const auto said = answer_to(*session_, node, word, until);
  if (!said) return said.error();
  const std::optional<DrainState>& answer = said.value();
  if (!answer) return {Errc::not_ready, name + " has not confirmed it; try again"};
  if (answer->why == Refusal::denied) return {Errc::invalid, no_operator_text(user())};
  if (answer->why != Refusal::unknown)
    return {Errc::invalid, name + " refuses: " + name_of(answer->why)};
  // The number that was said may have been another server's to its hearer.
  if (const auto now = read_deployment(deployment_->dir);
      now && now.value().generation != deployment_->generation) {
    return {Errc::conflict,
            "the flock's servers have changed meanwhile; 'starling topology state' says which are "
            "drained"};
  }
  return *answer;
}

}  // namespace starling
