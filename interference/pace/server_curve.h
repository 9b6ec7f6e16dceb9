// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace starling {

/// Training speed by workers w and parameter servers p as Optimus (EuroSys 2018, section 3.2) fits
/// it, in steps per second (asynchronous: of all workers together; one unit for all constants):
///
///   asynchronous   w / (t0 + t1 w/p + t2 w + t3 p)
///   synchronous    1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p)    M: samples of one step
///
/// t0 is computing, the term in w/p transfer and update at the servers, which w workers ask at
/// once, those in w and p are connections. What IterationForm has of it: computing and transfer,
/// from the model's bytes and the placement's links; a curve knows no placement.
struct ServerCurve {
  bool synchronous = false;
  std::array<double, 5> theta{};  ///< none below 0; the last one is unused where asynchronous

  /// w and p at least 1, M above 0.
  [[nodiscard]] double speed(double workers, double servers, double batch) const noexcept;
  /// What the constants are multiplied by: workers/speed (asynchronous) or 1/speed is their sum.
  [[nodiscard]] std::array<double, 5> terms(double workers, double servers,
                                            double batch) const noexcept;
};

/// ResNet-50 in containers of seven CPU and six GPU servers with 1 Gbit/s between them: the table
/// of the paper, the only constants that are published. Its unit of M is not.
inline constexpr ServerCurve kOptimusResnet50Async{false, {2.83, 3.92, 0, 0.11, 0}};
inline constexpr ServerCurve kOptimusResnet50Sync{true, {1.02, 2.78, 4.92, 0, 0.02}};

}  // namespace starling
