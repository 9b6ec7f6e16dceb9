// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interference/profile/plan.h"

namespace starling {

/// What one visit measured: steps per second, and the CPU seconds per second that they took.
struct ProfileSample {
  ProfileVisit visit;
  double alone_a = 0, alone_b = 0;
  double beside_a = 0, beside_b = 0;
  double cpu_alone_a = 0, cpu_alone_b = 0;
  double cpu_beside_a = 0, cpu_beside_b = 0;
  /// Share of the cores used that went to others in the worst of the windows, 0 to 1.
  double other_load = 0;
};

/// What must be equal for samples of two runs to belong together: one line without its end.
[[nodiscard]] std::string samples_mark(const ProfilePlan& plan, const std::string& hardware,
                                       double seconds);

/// The file in which a campaign keeps what it has measured, so that it can go on after a stop: the
/// mark, a header, then one line per visit, appended as they come.
[[nodiscard]] std::string samples_head(const std::string& mark);
[[nodiscard]] std::string sample_line(const ProfileSample& sample);
/// Reads it back. A last line that was cut off is left out. `invalid` names the line and what is
/// wrong; also where the mark is another: such samples were measured in another way.
[[nodiscard]] Result<std::vector<ProfileSample>> parse_samples(std::string_view text,
                                                               const std::string& file,
                                                               const std::string& mark,
                                                               const ProfilePlan& plan);

/// One sample per visit: of several the least disturbed, of equals the first.
[[nodiscard]] std::vector<ProfileSample> least_disturbed(std::span<const ProfileSample> samples);

}  // namespace starling
