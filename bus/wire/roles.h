// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "agents/config.h"
#include "agents/message.h"

namespace starling {

/// The role that goes with a node id (agents/config.h). The allow-list of the transport is checked
/// against the same ranges when it is read, so for an authenticated sender this is which node it
/// is.
[[nodiscard]] constexpr Role role_of(NodeId node) noexcept {
  if (node.value == 0) return Role::unknown;
  if (node.value < kFirstExecutor) return Role::agent;
  return node.value < kFirstClient ? Role::executor : Role::client;
}

/// Whether `from` may say `kind` (an index into Message) to `to`. Executors and clients talk to
/// agents alone; only the owner of a partition commands an executor, only homes and owners commit
/// and release.
[[nodiscard]] bool may_send(Role from, Role to, std::size_t kind) noexcept;

/// Name of a message kind, as in agents/message.h.
[[nodiscard]] const char* kind_name(std::size_t kind) noexcept;

/// The partition in whose name an agent says `message`: only its owner may. Null where no agent is
/// spoken for.
[[nodiscard]] const PartitionId* speaks_for(const Message& message) noexcept;

/// As files spell it: agent, executor, client.
[[nodiscard]] const char* name_of(Role role) noexcept;
/// The role of that name; unknown for any other.
[[nodiscard]] Role role_named(std::string_view name) noexcept;

}  // namespace starling
