// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "workload/catalogue.h"

namespace starling {

/// The gradient exchange of a model as it was measured, by the fitter of interference/fit. On the
/// machines of the source, with n GPUs,
///
///   within a server   2(n-1)/n * server_transfer_s + 2(n-1) * server_step_s
///   leaving it adds   2(n-1)/n * leave_transfer_s  + 2(n-1) * leave_step_s
///   iteration         (T_grad^gamma + T_sync^gamma)^(1/gamma)
///
/// Either part goes with the bandwidth that it had there.
struct FittedSync {
  std::string_view model;   ///< catalogue name
  std::string_view source;  ///< whose measurements, and on which GPUs
  double error = 0;  ///< mean relative error of the iteration times (pollux) or ratios (gavel)
  double gamma = 2;
  double server_transfer_s = 0;
  double server_step_s = 0;
  double leave_transfer_s = 0;
  double leave_step_s = 0;
  double server_gbps = 0;   ///< nominal, of the source's servers
  double network_gbps = 0;  ///< nominal, between them
};

/// Largest gang that was measured: beyond it steps cost only latency.
constexpr std::uint32_t kFittedGpus = 16;

[[nodiscard]] std::span<const FittedSync> fitted_syncs() noexcept;
/// Of a model's family; null where none was fitted.
[[nodiscard]] const FittedSync* fitted_sync(const ModelProfile& model) noexcept;

}  // namespace starling
