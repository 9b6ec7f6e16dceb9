// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/command_line/cli.h"

namespace starling {

/// An option that only some kinds of a thing read.
struct KindOption {
  std::string_view option;
  std::vector<std::string_view> kinds;
};

/// What is wrong, if anything: a kind that is none of `kinds`, or an option on the command line
/// that this kind would ignore. To be asked in the command's action.
[[nodiscard]] std::optional<std::string> wrong_for_kind(const Command& command,
                                                        const std::string& kind,
                                                        std::span<const std::string_view> kinds,
                                                        std::span<const KindOption> options);

}  // namespace starling
