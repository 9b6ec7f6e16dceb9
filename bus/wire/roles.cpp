// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/roles.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include "bus/wire/run_messages.h"

namespace starling {
namespace {

template <std::size_t... I>
constexpr auto links_of(std::index_sequence<I...>) {
  return std::array{wire::kMaySay<std::variant_alternative_t<I, MessageKinds>>.links...};
}
/// In the order of Message.
constexpr std::array kLinks =
    links_of(std::make_index_sequence<std::variant_size_v<MessageKinds>>{});
static_assert(std::ranges::none_of(kLinks, [](unsigned links) { return links == 0; }));

constexpr unsigned link(Role from, Role to) noexcept {
  if (from == Role::agent && to == Role::agent) return wire::kAA;
  if (from == Role::agent && to == Role::executor) return wire::kAE;
  if (from == Role::executor && to == Role::agent) return wire::kEA;
  if (from == Role::client && to == Role::agent) return wire::kCA;
  if (from == Role::agent && to == Role::client) return wire::kAC;
  return 0;
}

}  // namespace

bool may_send(Role from, Role to, std::size_t kind) noexcept {
  return kind < kLinks.size() && (kLinks[kind] & link(from, to)) != 0;
}

const char* kind_name(std::size_t kind) noexcept {
  return kind < kLinks.size() ? wire::EnumNameBody(static_cast<wire::Body>(kind + 1)) : "unknown";
}

const PartitionId* speaks_for(const Message& message) noexcept {
  return std::visit(
      [](const auto& m) -> const PartitionId* {
        using T = std::remove_cvref_t<decltype(m)>;
        using wire::InName;
        constexpr InName in_name = wire::kMaySay<T>.partition;
        if constexpr (in_name == InName::of_fence) {
          return &m.fence.partition;
        } else if constexpr (in_name == InName::of_share) {
          return &m.share.partition;
        } else if constexpr (in_name == InName::of_partition) {
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
