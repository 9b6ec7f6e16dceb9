#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/speed.h"
#include "nets/weights.h"

namespace starling {

/// What a speed model has had to put up with, and what it has learned since it was made.
struct SpeedHealth {
  std::uint64_t fallbacks = 0;  ///< questions answered by the analytic model in its place
  std::uint64_t observed = 0;   ///< measured speeds learned from
  std::uint64_t refused = 0;    ///< measured speeds that cannot be
  std::uint64_t drifts = 0;     ///< times that what was learned stopped to hold
  std::string trouble;          ///< the last fallback's reason, or drift; empty: none
};

/// A speed model that can be taught, and tells how it fares.
class LearnedSpeedModel : public SpeedModel {
 public:
  [[nodiscard]] virtual SpeedHealth health() const = 0;
  /// What observe() has taught it, to be kept where it outlives the process; empty: nothing.
  [[nodiscard]] virtual std::vector<std::byte> state() const = 0;
  /// Takes that up again. `invalid` says what is wrong with the bytes; then nothing has changed.
  [[nodiscard]] virtual Status restore(std::span<const std::byte> state) = 0;
};

/// The analytic form with what a trained network says of jobs that share a GPU or a server's cores,
/// and corrections learned from observe(); see docs/interference.md. Falls back to the analytic
/// model, and counts it, where it cannot answer. `invalid` or `not_found` if the weights are not
/// such a network's.
[[nodiscard]] Result<std::unique_ptr<LearnedSpeedModel>> make_learned_speed(
    const Topology& topology, const Weights& weights);
/// What stands in where no learned model can be made: the analytic one, every answer counted as a
/// fallback for that reason.
[[nodiscard]] std::unique_ptr<LearnedSpeedModel> make_fallback_speed(const Topology& topology,
                                                                     const std::string& reason);

}  // namespace starling
