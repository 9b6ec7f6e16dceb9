// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace starling {

/// A job of DL2's testbed (Peng et al., arXiv 1909.06040; figures of github.com/pengyanghua/DL2,
/// trace.py at 2e54920d): MXNet by parameter servers on GTX 1080 Ti, 50 Gbit/s.
struct Dl2Model {
  std::string_view name;
  double compute_s = 0;    ///< of one step of a worker
  double megabytes = 0;    ///< of the model, pushed and pulled in a step
  double network_mbs = 0;  ///< MB/s of a task between servers, as it was measured
  double local_mbs = 0;    ///< MB/s within one server
};
/// The eight, in their order.
[[nodiscard]] std::span<const Dl2Model> dl2_models() noexcept;
/// Null: it is none of them.
[[nodiscard]] const Dl2Model* dl2_model(std::string_view name) noexcept;

}  // namespace starling
