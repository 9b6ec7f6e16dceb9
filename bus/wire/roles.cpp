// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/roles.h"

#include <array>
#include <type_traits>
#include <variant>

namespace starling {
namespace {

// Who may say it to whom: agent -> agent, agent -> executor, executor -> agent, client -> agent,
// agent -> client.
enum Link : unsigned { kAA = 1, kAE = 2, kEA = 4, kCA = 8, kAC = 16 };
constexpr unsigned kAll = kAA | kAE | kEA | kCA | kAC;

struct Kind {
  const char* name;
  unsigned links;
};

// In the order of Message; the size is checked below, the order by a test.
constexpr std::array kKinds = std::to_array<Kind>({
    {"Hello", kAll},
    {"Welcome", kAA | kAE | kAC},
    {"Goodbye", kAll},
    {"Ping", kAll},
    {"Pong", kAll},
    {"Digest", kAA},
    {"Submit", kCA | kAA},
    {"Accepted", kAC | kAA},
    {"Busy", kAC | kAA},
    {"Rejected", kAC | kAA},
    {"Cancel", kCA | kAA},
    {"Query", kCA | kAA},
    {"JobState", kAC | kAA},
    {"Explain", kCA | kAA},
    {"Explanation", kAC | kAA},
    {"ListJobs", kCA},
    {"JobList", kAC},
    {"StatusQuery", kCA},
    {"AgentStatus", kAC},
    {"BidRequest", kAA},
    {"Offer", kAA},
    {"NoOffer", kAA},
    {"Reserve", kAA},
    {"Reserved", kAA},
    {"ReserveRefused", kAA},
    {"Commit", kAA},
    {"Committed", kAA},
    {"CommitRefused", kAA},
    {"StartAttempt", kAA},
    {"Started", kAA},
    {"Release", kAA},
    {"Released", kAA},
    {"AttemptQuery", kAA},
    {"AttemptAnswer", kAA | kAE},
    {"Launch", kAE},
    {"LaunchResult", kEA},
    {"Kill", kAE},
    {"Killed", kEA},
    {"Exited", kEA | kAA},
    {"ExitedAck", kAE | kAA},
    {"Progress", kEA | kAA},
    {"InventoryRequest", kAE},
    {"Inventory", kEA},
    {"Fenced", kEA | kAA},
    {"ProbeFor", kAA},
    {"ProbeResult", kAA},
    {"GpuHealth", kEA},
    {"GpuHealthSeen", kAE},
    {"SetDrain", kCA},
    {"DrainState", kAC},
    {"ReadOutput", kCA | kAE},
    {"OutputPage", kEA | kAC},
    {"Digests", kAA},
    {"ChangeJob", kCA},
});
static_assert(kKinds.size() == std::variant_size_v<MessageKinds>);

constexpr unsigned link(Role from, Role to) noexcept {
  if (from == Role::agent && to == Role::agent) return kAA;
  if (from == Role::agent && to == Role::executor) return kAE;
  if (from == Role::executor && to == Role::agent) return kEA;
  if (from == Role::client && to == Role::agent) return kCA;
  if (from == Role::agent && to == Role::client) return kAC;
  return 0;
}

template <class T, class... Ts>
constexpr bool one_of = (std::is_same_v<T, Ts> || ...);

}  // namespace

bool may_send(Role from, Role to, std::size_t kind) noexcept {
  return kind < kKinds.size() && (kKinds[kind].links & link(from, to)) != 0;
}

const char* kind_name(std::size_t kind) noexcept {
  return kind < kKinds.size() ? kKinds[kind].name : "unknown";
}

const PartitionId* speaks_for(const Message& message) noexcept {
  return std::visit(
      [](const auto& m) -> const PartitionId* {
        using T = std::remove_cvref_t<decltype(m)>;
        if constexpr (one_of<T, Welcome, Digest, Launch, Kill, InventoryRequest>) {
          return &m.fence.partition;
        } else if constexpr (one_of<T, Offer>) {
          return &m.share.partition;
        } else if constexpr (one_of<T, NoOffer, Reserved, ReserveRefused, Committed, CommitRefused,
                                    Started, Released, AttemptQuery, Exited, Fenced>) {
          return &m.partition;
        } else {
          return nullptr;
        }
      },
      message);
}

const char* name_of(Role role) noexcept {
  switch (role) {
    case Role::agent:
      return "agent";
    case Role::executor:
      return "executor";
    case Role::client:
      return "client";
    case Role::unknown:
      break;
  }
  return "unknown";
}

Role role_named(std::string_view name) noexcept {
  for (const Role role : {Role::agent, Role::executor, Role::client}) {
    if (name == name_of(role)) return role;
  }
  return Role::unknown;
}

}  // namespace starling
