// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "base/time.h"

namespace starling {

/// What a command says of its progress: the text of the file that STARLING_STEPS names,
///   STEPS [STEPS_PER_SECOND_ALONE [NOISE_SCALE]]
struct StepReport {
  double steps = 0;  ///< done so far in this attempt
  double alone = 0;  ///< what it does per second with no job beside it, at the size that it asks
                     ///< for; 0: it does not know
  double noise = 0;  ///< gradient noise scale, in samples; 0: it does not know
};
/// Nothing where the file is not there yet, is no regular file of ours or `owner`'s, or does not
/// begin with a number that can be right. 96 bytes are read, and nothing is waited for.
[[nodiscard]] std::optional<StepReport> read_steps(const std::filesystem::path& file,
                                                   std::optional<uid_t> owner = std::nullopt);

/// The measured speed of one command, as a part of that alone. Over windows of at least kWindow and
/// kLeastSteps, which begin anew whenever a job comes or goes beside it. The speed alone is what
/// the command says; else the mean of the windows in which no other was on its server.
class StepMeter {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(10);
  static constexpr double kLeastSteps = 10;  ///< fewer are counted too coarsely

  /// To be called at every heartbeat. `neighbours`: a number that changes when others on the server
  /// do, 0 if there are none. The speed of the last window among the same neighbours; 0: none yet.
  double look(Instant now, const StepReport& report, std::uint64_t neighbours);

 private:
  void begin(Instant now, double steps);

  Instant since_ = kNever;
  double steps_ = 0;
  std::uint64_t neighbours_ = 0;
  double speed_ = 0;
  double alone_ = 0;  // steps a second, mean of
  int windows_ = 0;   // so many
};

}  // namespace starling
