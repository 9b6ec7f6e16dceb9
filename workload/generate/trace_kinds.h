// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace starling {

/// The kinds of traces that can be drawn, by the names that commands and experiments know. What is
/// drawn like a published trace is called so: `philly` alone is the trace itself, and its format.
inline constexpr std::array<std::string_view, 5> kTraceKinds{
    "philly-like", "helios-like", "gavel-continuous", "gavel-static", "dl2-like"};

/// The name of the kind that was called `old` before; empty: none was.
[[nodiscard]] constexpr std::string_view renamed_kind(std::string_view old) {
  if (old == "philly") return "philly-like";
  if (old == "helios") return "helios-like";
  return old == "gavel" ? "gavel-continuous" : "";
}

}  // namespace starling
