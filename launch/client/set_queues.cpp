// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// Keeps the queues.
constexpr AgentId kKeeper{0};

/// The keeper hears this client and knows queues.
Status keeper_answers(Session& session, Duration patience) {
  const NodeId node = agent_node(kKeeper);
  const auto any = [](const AgentStatus&) { return true; };
  const Duration first = std::min<Duration>(patience, std::chrono::seconds(3));
  if (!session.ask<AgentStatus>(node, StatusQuery{}, first, any)) {
    if (stop_requested()) return {Errc::not_ready, "interrupted"};
    return {Errc::not_ready,
            silence_text({kKeeper}) + ", which keeps the queues; is the flock up?"};
  }
  if (session.spoken_with(node) < kQueuesProtocol)
    return {Errc::unsupported,
            "agent-0 speaks protocol " + std::to_string(session.spoken_with(node)) +
                ", which knows no queues; " + std::to_string(kQueuesProtocol) + " does"};
  return done();
}

bool same_queues(const QueueTree& a, const QueueTree& b) {
  return a.queues == b.queues && a.fallback == b.fallback;
}

Result<QueuesState> asked_for(Session& session, Duration patience) {
  const auto said =
      session.ask<QueuesState>(agent_node(kKeeper), QueuesQuery{}, patience,
                               [](const QueuesState& s) { return s.why == Refusal::unknown; });
  if (!said && stop_requested()) return {Errc::not_ready, "interrupted"};
  if (!said) return {Errc::not_ready, "agent-0 has not said which queues there are; try again"};
  return *said;
}

}  // namespace

Result<QueuesState> FlockClient::queues(Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  const Instant until = later(Session::now(), patience);
  if (Status s = keeper_answers(*session_, patience); !s.ok()) return s.error();
  return asked_for(*session_, until - Session::now());
}

Result<QueuesState> FlockClient::set_queues(QueueTree tree, Duration patience) {
  if (std::string wrong = check_queues(tree); !wrong.empty())
    return {Errc::invalid, std::move(wrong)};
  if (Status s = connect(); !s.ok()) return s.error();
  const Instant until = later(Session::now(), patience);
  if (Status s = keeper_answers(*session_, patience); !s.ok()) return s.error();
  auto before = asked_for(*session_, until - Session::now());
  // Where the keeper has lost queues that agents go by, it says so.
  if (!before || (before.value().reason.empty() && same_queues(before.value().tree, tree)))
    return before;
  tree.version = before.value().tree.version + 1;
  // Late answers to the question have an older version.
  const auto said = session_->ask<QueuesState>(
      agent_node(kKeeper), SetQueues{tree}, until - Session::now(), [&](const QueuesState& state) {
        return state.why != Refusal::unknown || state.tree.version >= tree.version;
      });
  if (!said)
    return {Errc::not_ready, stop_requested()
                                 ? "interrupted; 'starling queues show' says which are in force"
                                 : "agent-0 has not confirmed the queues; try again"};
  if (said->why == Refusal::denied) return {Errc::invalid, no_operator_text(user())};
  if (said->tree.version >= tree.version) {
    if (same_queues(said->tree, tree)) return *said;
    return {Errc::conflict,
            "another client has set other queues meanwhile; 'starling queues "
            "show' says which"};
  }
  return {Errc::invalid, said->reason.empty()
                             ? std::string("agent-0 refuses: ") + name_of(said->why)
                             : said->reason};
}

}  // namespace starling
