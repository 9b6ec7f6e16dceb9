// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nets/trainable_mlp.h"
#include "policies/dl2/dl2_slot.h"

namespace starling {

/// DL2's actor or critic over states as Dl2Slot::encode() makes them.
///
/// As in the paper (Dl2Shape::shared false) it is one net over the whole state. Shared, which is
/// ours: the same small net looks at each job by itself, at its numbers and a few about all jobs of
/// the block, and once more at no job. A job's three answers are the scores of its actions, the
/// first one about no job is that of the last action; of a critic all first ones are summed up. So
/// what it learns of one job it knows of all, wherever in the window they are.
class Dl2Head {
 public:
  enum class Kind : bool { actor, critic };
  /// Widths of a net for it, from the inputs to the outputs.
  [[nodiscard]] static std::vector<std::uint32_t> widths(const Dl2Shape& shape, Kind kind,
                                                         std::span<const std::uint32_t> hidden);
  /// `net` has the inputs and outputs of widths().
  Dl2Head(const Dl2Shape& shape, Kind kind, TrainableMlp net);

  /// `states`: rows * Dl2Shape::inputs(). The answer, for each state actions() scores or one value,
  /// is valid until the next call. Of those that are not there the scores are 0.
  [[nodiscard]] std::span<const float> forward(std::span<const float> states, std::size_t rows);
  /// As of TrainableMlp.
  void backward(std::span<const float> by_answers);
  /// Of a shared head, what the net looked at in the last forward(), state by state: a job by its
  /// position in the window, or no job, at the position Dl2Shape::window.
  struct Row {
    std::size_t state = 0, position = 0;
  };
  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }
  /// Of a shared critic: what it answered for each row; and as backward(), by these.
  [[nodiscard]] std::span<const float> row_values() const noexcept { return row_values_; }
  void backward_rows(std::span<const float> by_values) { net_.backward(by_values); }
  [[nodiscard]] TrainableMlp& net() noexcept { return net_; }
  [[nodiscard]] const TrainableMlp& net() const noexcept { return net_; }
  [[nodiscard]] std::size_t answers() const noexcept;

 private:
  void expand(std::span<const float> state);

  Dl2Shape shape_;
  Kind kind_;
  TrainableMlp net_;
  std::vector<float> inputs_, outputs_, by_net_;
  std::span<const float> row_values_;
  std::vector<Row> rows_;
  std::size_t states_ = 0;
};

}  // namespace starling
