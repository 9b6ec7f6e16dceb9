// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace starling {

/// Constants of one application on one kind of machine in Pollux' form with a ring all-reduce:
///
///   T_grad = compute_s + sample_s * m                  m: batch per GPU
///   T_sync = 2(n-1)/n * transfer_s + 2(n-1) * step_s   by tier: within a server, across servers
///   T      = (T_grad^gamma + T_sync^gamma)^(1/gamma)
struct TierConstants {
  double compute_s = 0;
  double sample_s = 0;
  double server_transfer_s = 0;
  double server_step_s = 0;
  double network_transfer_s = 0;
  double network_step_s = 0;
  double gamma = 2;

  [[nodiscard]] double grad_s(double batch) const noexcept { return compute_s + sample_s * batch; }
  [[nodiscard]] double sync_s(std::uint32_t gpus, bool across) const noexcept;
  /// `micro` gradients are computed one after another before each exchange; batch is of one.
  [[nodiscard]] double iteration_s(double batch, std::uint32_t micro, std::uint32_t gpus,
                                   bool across) const noexcept;
};

/// One measured iteration time.
struct TierSample {
  double batch = 0;  ///< per GPU and micro-batch
  std::uint32_t micro = 1;
  std::uint32_t gpus = 1;
  bool across = false;  ///< on more than one server
  double iteration_s = 0;
};

/// Two samples whose ratio is what matters; indices into the samples.
struct RatioSample {
  std::size_t near = 0;
  std::size_t far = 0;
};

/// The constants that come nearest to the samples, by the mean of |log(fitted / measured)|; ratios,
/// if any, count three times as much. A farther tier is never faster. Deterministic.
[[nodiscard]] TierConstants fit_tiers(const std::vector<TierSample>& samples,
                                      const std::vector<RatioSample>& ratios = {});

/// Mean of |fitted - measured| / measured.
[[nodiscard]] double mean_relative_error(const TierConstants& constants,
                                         const std::vector<TierSample>& samples);

}  // namespace starling
