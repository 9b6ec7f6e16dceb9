// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace starling {

/// One inference that led somewhere: what the net saw, what it might do and did, and the reward of
/// its slot.
struct Dl2Transition {
  using State = std::shared_ptr<const std::vector<float>>;
  State state;
  std::vector<std::uint8_t> mask;
  std::size_t action = 0;
  double log_probability = 0;  ///< of the action by the net that took it
  /// Of every action that was allowed, what the critic then thought that it adds to the slot; empty
  /// where that was not asked.
  std::vector<float> gains;
  double reward = 0;
  State parts;  ///< of the reward, by position in the window
  State last;   ///< how its slot was left
  State next;   ///< the first one of the slot after; none: nothing came after it
};

/// The newest `most` transitions; the oldest goes for a new one.
class Dl2Replay {
 public:
  explicit Dl2Replay(std::size_t most) : most_(most) {}
  void add(Dl2Transition transition) {
    if (kept_.size() < most_) {
      kept_.push_back(std::move(transition));
    } else {
      kept_[oldest_] = std::move(transition);
      oldest_ = (oldest_ + 1) % most_;
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  [[nodiscard]] const Dl2Transition& operator[](std::size_t i) const { return kept_[i]; }
  void clear() { kept_.clear(), oldest_ = 0; }

 private:
  std::size_t most_, oldest_ = 0;
  std::vector<Dl2Transition> kept_;
};

}  // namespace starling
