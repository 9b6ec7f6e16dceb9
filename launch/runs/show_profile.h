// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "interference/profile/profiled_pairs.h"

namespace starling {

/// For people: a table per place, with the speed that the row has beside the column.
[[nodiscard]] std::string profile_text(const ProfilePlan& plan, std::span<const ProfiledPair> rows,
                                       const std::string& file);
/// {"campaign", "hardware", "file", "noisy", "pairs": [{...}]}
[[nodiscard]] std::string profile_json(std::span<const ProfiledPair> rows,
                                       const std::string& campaign, const std::string& hardware,
                                       const std::string& file);

}  // namespace starling
