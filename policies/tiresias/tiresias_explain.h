// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// How a job stands in Tiresias' queues.
struct TiresiasStanding {
  std::size_t queue = 0, queues = 1;
  double attained = 0;            ///< GPU-seconds
  std::optional<double> ends_at;  ///< of its queue, in the same; none: the last one
};

/// By what the Gittins index goes.
struct GittinsStanding {
  bool known = false;  ///< enough jobs have ended here
  double index = 0;    ///< of it; 0: no past job that had as much ended within its queue
};

/// Lines for people.
[[nodiscard]] std::vector<std::string> explain_tiresias(const JobView& job,
                                                        const TiresiasStanding& stands,
                                                        const std::optional<GittinsStanding>& by);

}  // namespace starling
