// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gnn/marl/encoder_net.h"
#include "gnn/marl/inputs.h"
#include "policies/placement/decision_point.h"

namespace starling {

/// What the actor is told of a decision: a row for each option,
///   [situation, option, crossed, forward, embedding of the place, of the partition, of the others]
/// where the first four are Input's. `others` is, for going to another agent, what that one said of
/// its partition, and in all other rows the mean of all of them.
struct Features {
  static constexpr std::size_t kSituation = index_of(Input::waits);
  static constexpr std::size_t kForwardAt = index_of(Input::goes);
  static constexpr std::size_t kOwn = index_of(Input::rule_waits) + 1;  ///< without embeddings
  static constexpr std::size_t kForward = kOwn - kForwardAt;
  static constexpr std::size_t kRow =
      kOwn + EncoderNet::kPlace + EncoderNet::kWidth + EncoderNet::kWidth;
  static constexpr double kMinimumGain = 0.3;
};
static_assert(Features::kSituation == 16 && Features::kForwardAt == 53 && Features::kOwn == 64,
              "shipped weights have been trained on these");

/// The queue as a whole, and what lies ahead of one job in it.
struct QueueView {
  std::size_t jobs = 0;
  double gpus = 0, ahead = 0;  ///< GPUs wanted by all; by those who came before the job
  double smaller = 0;          ///< part of the jobs that want fewer GPUs than it
};

/// Gang to smaller_part.
void situation_inputs(const DecisionPoint& point, const QueueView& queue, InputRow row);
/// Waits to alone_speed; all others of them must be 0. `option` null: the job waits, or goes.
/// `alone`: DecisionPoint::best_alone().
void option_inputs(const DecisionPoint& point, double alone, const Candidate* option, InputRow row);
/// The products, of what the two above have filled in.
void crossed_inputs(InputRow row);
/// Goes to forwards. `best`: the job's best speed anywhere; `queue`: GPUs wanted here for each GPU.
/// The rule's two stay as they are.
void forward_inputs(const JobView& job, const Destination& to, double best, double queue,
                    InputRow row);

}  // namespace starling
