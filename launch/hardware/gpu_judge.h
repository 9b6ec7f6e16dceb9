// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launch/hardware/health_options.h"
#include "launch/hardware/nvml.h"

namespace starling {

/// What NVML says of a machine's GPUs, judged: which must not be used, whose clocks are held back,
/// which do nothing. By NVML's indices. Pure.
///
/// Heat passes: a GPU is bad until it is cooler by 5 degrees. So does that the driver cannot reach
/// it, three looks in a row. An XID, new uncorrectable errors of
/// its memory, and a GPU that the driver has lost stay bad as long as this object lives, since only
/// a reset or a repair mends them and neither can be seen from here.
class GpuJudge {
 public:
  explicit GpuJudge(HealthOptions options) : options_(std::move(options)) {}

  void take(Instant now, std::uint32_t gpu, const GpuSample& sample);
  void take(const XidEvent& event);

  struct Verdict {
    std::string bad;                ///< why; empty: it is well
    std::string slow;               ///< why its clocks are held back; empty: they are not
    Instant busy = Instant::min();  ///< when it was seen at work last, or first looked at
    std::optional<std::uint64_t> energy_mj;
  };
  [[nodiscard]] const std::map<std::uint32_t, Verdict>& verdicts() const noexcept {
    return verdicts_;
  }

 private:
  struct Past {
    bool for_good = false, hot = false;
    std::uint32_t missed = 0;          ///< looks in a row at which it could not be reached
    std::optional<std::uint64_t> ecc;  ///< when it was looked at first
  };
  HealthOptions options_;
  std::map<std::uint32_t, Verdict> verdicts_;
  std::map<std::uint32_t, Past> past_;
};

}  // namespace starling
