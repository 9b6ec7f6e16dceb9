// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/chaos/chaos.h"

namespace starling {

/// A failure with the arguments that repeat it, as small as it could be made.
struct ChaosFinding {
  ChaosFailure failure;
  std::string arguments;
};

void print_chaos_json(const ChaosReport& report, const std::vector<ChaosFinding>& findings);
void print_chaos_table(const ChaosReport& report, const std::vector<ChaosFinding>& findings);
/// Marks that no seed has passed, in order of name.
[[nodiscard]] std::vector<std::string> marks_missed(const ChaosReport& report);
/// Kinds of messages that have met a fate fewer than `least` times: "Fenced: lost 12 times".
[[nodiscard]] std::vector<std::string> frames_missed(const ChaosReport& report,
                                                     std::uint64_t least);

}  // namespace starling
