// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// Reads a scenario (docs/chaos.md). `invalid` with one line for every mistake: file, line, what is
/// wrong, what would be right.
[[nodiscard]] Result<ChaosScenario> parse_scenario(const std::string& text,
                                                   const std::string& file);
/// A file, or one of the scenarios that the program carries, by name.
[[nodiscard]] Result<ChaosScenario> load_scenario(const std::string& file_or_name);

struct BuiltIn {
  const char* name;
  const char* text;
};
/// Those of examples/chaos/, by name.
[[nodiscard]] const std::vector<BuiltIn>& built_in_scenarios();

}  // namespace starling::chaos_live
