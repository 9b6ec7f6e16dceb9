// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/time.h"

namespace starling {

/// What a job says of how else it may be run than it asks (Allocation), and what a stop costs it.
/// Plain data; a 0 is not said, so RunDetails{} is a job that says nothing of it.
struct RunDetails {
  /// The job trains by parameter servers: as many as it has workers and no more than this, or as
  /// many up to this as a policy chooses.
  std::uint32_t max_servers = 0;
  double server_cpus = 0;       ///< that each parameter server occupies
  std::uint32_t batch = 0;      ///< samples of one step at the size asked for
  std::uint32_t max_batch = 0;  ///< at most so many, whatever the size
  bool copies = false;          ///< may be forked into copies that are averaged (HadarE)
  Duration save{0};             ///< a stop saves for so long; charged at the start that follows
  Duration restore{0};          ///< from a start to the first step, reading what was saved

  static constexpr std::uint32_t kMost = 10'000'000;                    ///< of each number
  static constexpr Duration kMostRestart = std::chrono::hours(24 * 7);  ///< save, and restore

  [[nodiscard]] bool any() const noexcept { return *this != RunDetails{}; }
  friend bool operator==(const RunDetails&, const RunDetails&) = default;
  friend auto operator<=>(const RunDetails&, const RunDetails&) = default;  ///< for keys of maps
};

/// For people: "up to 8 parameter servers of 2 CPUs, batches of 256 to 1024, in copies, saves for
/// 5 s, restores for 30 s"; empty where nothing is said.
[[nodiscard]] std::string run_details_text(const RunDetails& run);

}  // namespace starling
