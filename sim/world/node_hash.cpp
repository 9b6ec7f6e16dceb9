// SPDX-License-Identifier: Apache-2.0
#include "sim/world/node_hash.h"

#include "agents/executor/executor_state.h"
#include "agents/explain/describe.h"
#include "agents/step/state.h"
#include "base/hash.h"
#include "bus/wire/roles.h"

namespace starling {
namespace {

std::uint64_t hash_client(const Client& client) {
  TraceHash hash;
  const Client::Counts& c = client.counts();
  for (const std::uint64_t n : {c.sent, c.accepted, c.rejected, c.started, c.finished, c.failed,
                                c.cancelled, c.busy, c.repeats}) {
    hash.add(n);
  }
  hash.add(static_cast<std::uint64_t>(client.next_deadline().time_since_epoch().count()));
  return hash.value();
}

}  // namespace

std::uint64_t hash_of(const Node& node) {
  switch (role_of(node.id())) {
    case Role::agent:
      return state_hash(static_cast<const AgentNode&>(node).core().state());
    case Role::executor:
      return state_hash(static_cast<const ExecutorNode&>(node).core().state());
    default:
      return hash_client(const_cast<ClientNode&>(static_cast<const ClientNode&>(node)).core());
  }
}

std::uint64_t refusals(const Node& node) {
  const NodeCounters& c = node.counters();
  return c.bad_frames + c.unauthorised + c.stale;
}

}  // namespace starling
