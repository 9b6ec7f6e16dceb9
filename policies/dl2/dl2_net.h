// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "nets/weights.h"
#include "policies/dl2/dl2_head.h"
#include "policies/dl2/dl2_slot.h"

namespace starling {

/// How sure a net was of what it chose.
struct Dl2Choice {
  std::optional<Dl2Action> action;  ///< nothing: no more for any job
  double probability = 1;  ///< with which it was drawn; of the likeliest that at temperature 1
};

/// The shape that a file of weights says that it is of: notes `types`, names with commas between
/// them, `window`, and `head`, which is flat or shared.
[[nodiscard]] Result<Dl2Shape> dl2_shape_of(const Weights& weights);
void put_shape(Weights& weights, const Dl2Shape& shape);

/// DL2's policy network as agents run it: a Dl2Head (tensors `actor.`). The most likely
/// action is taken, or one is drawn. Where there are more jobs than a window holds, each block of
/// them is scored by the same net, and all are compared; to stop is as likely as the blocks say on
/// average.
class Dl2Net {
 public:
  /// `invalid` and `not_found` say what is wrong with the weights.
  [[nodiscard]] static Result<Dl2Net> make(const Weights& weights);
  [[nodiscard]] const Dl2Shape& shape() const noexcept { return shape_; }
  /// Scores are told apart by 1/4096: any colder, and what is not the likeliest is not drawn.
  static constexpr double kColdest = 1e-3;

  /// First of a slot: all blocks are scored.
  void look(const Dl2Slot& slot);
  /// What comes next in the slot that was looked at: the likeliest, or drawn from the softmax over
  /// scores / `temperature`, if that is at least kColdest. Nothing: the net answers no numbers.
  [[nodiscard]] std::optional<Dl2Choice> choose(const Dl2Slot& slot, double temperature, Rng& rng);
  /// After `action` was taken: its block is scored anew.
  void took(const Dl2Slot& slot, const Dl2Action& action);

 private:
  Dl2Net(Dl2Shape shape, Dl2Head actor) : shape_(std::move(shape)), actor_(std::move(actor)) {}
  struct Block {
    std::vector<float> scores;  // in steps of 1/4096; the last one is that of nothing more
    std::vector<std::uint8_t> mask;
    bool finite = true, masked = false;
    double stop = 0;        // as the net answered it
    ElasticCapacity most;   // that an action which the mask lets through takes
    std::size_t best = 0;   // of these, but the last; there is none: the last
    double above_best = 0;  // their sum of e to the score less the best one's
  };
  void score(const Dl2Slot& slot, std::size_t block);
  void mask(const Dl2Slot& slot, std::size_t block);
  [[nodiscard]] Dl2Choice likeliest(const Dl2Slot& slot, float stop) const;
  [[nodiscard]] Dl2Choice drawn(const Dl2Slot& slot, float stop, double temperature,
                                Rng& rng) const;

  Dl2Shape shape_;
  Dl2Head actor_;
  std::vector<float> inputs_;
  std::vector<Block> blocks_;
};

/// The net of those tensors, `actor.` or `critic.`. `invalid` where it does not fit the shape.
[[nodiscard]] Result<Dl2Head> dl2_head_of(const Weights& weights, const Dl2Shape& shape,
                                          Dl2Head::Kind kind);

/// The softmax over scores / `temperature`, of those that `mask` lets through, which are finite; 0
/// for the others.
[[nodiscard]] std::vector<double> masked_softmax(std::span<const float> scores,
                                                 std::span<const std::uint8_t> mask,
                                                 double temperature = 1);

}  // namespace starling
