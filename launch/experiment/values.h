// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "launch/experiment/load_experiment.h"

namespace starling {

/// "90", "200ms", "90s", "15m", "36h", "7d".
[[nodiscard]] Result<Duration> read_length(const std::string& text);
/// "2017-10-23" or "2017-10-23 08:30:00" as seconds since 1970, in whatever zone it is written.
[[nodiscard]] Result<Duration> read_date(const std::string& text);
/// Replaces each ${NAME}. `not_found` names the one that has no value.
[[nodiscard]] Result<std::string> expand_variables(const std::string& text,
                                                   const Variables& variables);
/// "exact", "none", "noisy:0.5" and "noisy: 0.5".
[[nodiscard]] Result<DurationKnowledge> read_knowledge(const std::string& text);
[[nodiscard]] std::string knowledge_text(const DurationKnowledge& knowledge);
/// What a policy knows of how long jobs take where it is told that much: "nothing", "forecasts",
/// "estimates (σ 0.5)" or "exact".
[[nodiscard]] std::string knows_text(LengthSource source, const DurationKnowledge& told);

}  // namespace starling
