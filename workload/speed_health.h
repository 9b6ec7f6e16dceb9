// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace starling {

/// What a speed model has had to put up with, and what it has learned since it was made.
struct SpeedHealth {
  std::string model;            ///< analytic, learned, physics, flat
  std::uint64_t fallbacks = 0;  ///< questions answered by the analytic model in its place
  std::uint64_t observed = 0;   ///< measured speeds learned from
  std::uint64_t refused = 0;    ///< measured speeds that cannot be
  std::uint64_t drifts = 0;     ///< times that what was learned stopped to hold
  std::string trouble;          ///< the last fallback's reason, or drift; empty: none
  friend bool operator==(const SpeedHealth&, const SpeedHealth&) = default;
};

}  // namespace starling
