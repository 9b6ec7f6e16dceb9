// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/adapt/shift_prior.h"
#include "interference/learned/interference_net.h"
#include "interference/pairs/pair_data.h"
#include "workload/gpu_kind.h"

namespace starling {

/// One measured speed beside what was believed of it.
struct ShiftRow {
  std::uint16_t victim = 0, other = 0;  ///< types of the data
  std::uint32_t pair = 0;               ///< both directions of one measurement have the same
  double speed = 1;                     ///< measured; relative
  double predicted = 0;                 ///< believed log slowdown, at least 0
  double deviation = 0.1;               ///< of the log speed, as the network's 90 % interval has it
  [[nodiscard]] double log_ratio() const;
};

/// A change of hardware: jobs run as one set of measurements says, while the network answers for
/// another.
struct ShiftTask {
  std::string believed, world;  ///< sets
  GpuKind kind = GpuKind::v100;
  /// The network knows that kind of GPU; else its intervals are wider, as agents have it.
  bool trained = true;
  std::vector<std::array<float, kGpuProfile>> profiles;  ///< by type
  std::vector<ShiftRow> rows;
};

/// `believed` is a set of the network, `world` one of the data. `not_found` names those there are.
[[nodiscard]] Result<ShiftTask> make_shift_task(const InterferenceNet& net, const PairData& data,
                                                const std::string& believed,
                                                const std::string& world);
/// All changes among sets that both the network and the data have measured pairs of, but for those
/// that have anything to do with the set `without`; in order of the network's sets.
[[nodiscard]] std::vector<ShiftTask> all_shifts(const InterferenceNet& net, const PairData& data,
                                                const std::string& without = {});
/// Those sets, in the same order.
[[nodiscard]] std::vector<std::string> shift_sets(const InterferenceNet& net, const PairData& data);
/// Fewer tell nothing of how changes differ.
constexpr std::size_t kLeastShifts = 2;
/// That all_shifts() found fewer, what the data has, and what would be right; without the file's
/// name.
[[nodiscard]] std::string too_few_shifts(const InterferenceNet& net, const PairData& data,
                                         const std::string& without = {});

}  // namespace starling
