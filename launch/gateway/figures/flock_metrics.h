// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "launch/gateway/asking/flock_picture.h"
#include "launch/gateway/figures/request_counts.h"

namespace starling {

/// What a gateway knows of itself.
struct GatewayFigures {
  RequestCounts requests;
  std::size_t watchers = 0;
  std::uint64_t dropped_watchers = 0;
  double picture_age_s = 0;
  bool ready = false;
};

/// Figures of a flock and its gateway (docs/gateway.md lists them). Names are those of Slurm's
/// exporter (github.com/vpenso/prometheus-slurm-exporter) with `starling_` for `slurm_` where it
/// has the thing. `open`: as OpenMetrics. `picture` may be null.
[[nodiscard]] std::string flock_metrics(const FlockPicture* picture, const GatewayFigures& gateway,
                                        bool open);

}  // namespace starling
