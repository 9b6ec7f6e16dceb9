// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "policies/placement/decision_point.h"

namespace starling {

/// When GPUs of one kind (see FreeServers) come free together, by those guesses; newcomers are
/// ignored, those who wait already are not. One call of decide() at a time.
class FreeTimes {
 public:
  /// Nothing is promised yet.
  void begin(const DecisionContext& context);
  /// Seconds until a gang could start on free GPUs of the kind, on as few servers as it must take,
  /// after what was promised; infinite if that is not to be seen.
  [[nodiscard]] double wait(const DecisionContext& context, std::uint32_t kind,
                            const PlacementRequest& request);
  /// A job ahead in the queue waits for so many GPUs of the kind.
  void promise(std::uint32_t kind, std::uint32_t gpus);

 private:
  void look_at_gpus(const DecisionContext& context);
  const std::vector<double>& times(const DecisionContext& context, std::uint32_t kind,
                                   std::uint32_t count);

  std::vector<double> gpu_;  // by GPU of the partition: seconds until it is free; empty: not yet
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> times_;  // kind, count
  std::vector<std::uint32_t> promised_;                                           // GPUs, by kind
};

}  // namespace starling
