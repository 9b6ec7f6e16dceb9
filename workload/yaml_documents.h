// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/mark.h>

#include <optional>
#include <string>

namespace starling {

/// Where a second YAML document starts, if one does. Also text that the first one leaves over
/// counts ("- a" followed by "b: 1"), which YAML::Load would drop in silence; YAML::LoadAll never
/// ends on some of it (", a"). Throws YAML::Exception for what is not YAML.
[[nodiscard]] std::optional<YAML::Mark> second_document(const std::string& text);

}  // namespace starling
