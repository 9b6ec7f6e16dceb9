// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launch/system/dates.h"

namespace starling {

/// What a caller of the gateway may do; each may what those before it may.
enum class CallerRole : std::uint8_t {
  anonymous,  ///< has shown nothing: the page, the description, /healthz and /readyz
  viewer,     ///< sees everything
  user,       ///< submits jobs as itself, cancels its own
  operator_   ///< cancels all jobs, drains servers, changes the members
};
/// "viewer", "user", "operator"; "anonymous".
[[nodiscard]] const char* name_of(CallerRole role) noexcept;
/// One that a token can have.
[[nodiscard]] std::optional<CallerRole> caller_role(std::string_view name);

/// The user who asks, as far as that is proven.
struct Caller {
  std::string user;  ///< empty: none
  CallerRole role = CallerRole::anonymous;
  /// What its requests are counted by: a token, a user of this machine, an address.
  std::string key;
  Date until = Date::max();  ///< its token holds so long

  [[nodiscard]] bool may(CallerRole wanted) const noexcept { return role >= wanted; }
};

}  // namespace starling
