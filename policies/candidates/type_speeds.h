// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/candidates/candidates.h"

namespace starling {

/// How fast jobs run alone on each GPU type that the data centre has, in any partition: on the best
/// GPUs of the type that there would be if all were free. Asked once for every look.
class TypeSpeeds {
 public:
  /// 0: the data centre has too few of that type, or the job does not allow it. The first time it
  /// looks at every server.
  [[nodiscard]] double alone(const View& view, const PlacementRequest& request,
                             const JobProfile& profile, GpuTypeId type);
  /// Looks are counted anew: what is known of one is of another.
  void forget() { alone_.clear(); }

 private:
  void learn(const Topology& topology);

  std::uint64_t model_ = 0;  // version that was asked
  std::optional<FreeServers> empty_;
  std::vector<std::uint32_t> kind_of_;      // of empty_, by type; kNone: no server has it
  std::vector<std::vector<double>> alone_;  // by look, by type; below 0: not asked yet
  std::optional<Occupancy> whole_;
};

}  // namespace starling
