// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// A number that a fault takes, its bounds and what it is without being given.
struct Parameter {
  const char* name;
  double least, most, fallback;
  bool yes_or_no = false;  ///< written so; yes is 1
};

/// What there is to know about one kind of fault.
struct FaultFacts {
  LiveFaultKind kind;
  const char* name;                        ///< as scenarios write it
  const char* what;                        ///< one line for --list
  std::vector<FaultTarget::Kind> targets;  ///< that it can hit; empty: it takes no `who`
  std::size_t most_targets = 1;            ///< 2: `who` may be a pair
  bool lasts = false, comes_back = false;  ///< takes `for`, `down`
  Span lasts_default{1, 5};
  std::vector<Parameter> parameters;
  /// The kinds of `chaos sim` that do the same to a simulated flock ("F1", "F20-gone"), or empty,
  /// and then why: empty for what is of etcd's members.
  const char* simulated = "";
  const char* not_simulated = "";
};

[[nodiscard]] std::span<const FaultFacts> fault_kinds();
[[nodiscard]] const FaultFacts& facts_of(LiveFaultKind kind);
[[nodiscard]] inline const char* name_of(LiveFaultKind kind) { return facts_of(kind).name; }

/// "agent", "any agent", "agent 1", "2 agents", "all executors", "home of a job", ...; the error
/// says what there is.
[[nodiscard]] Result<FaultTarget> parse_target(const std::string& text);
[[nodiscard]] std::string to_text(const FaultTarget& target);

}  // namespace starling::chaos_live
