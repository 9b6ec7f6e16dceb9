// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gnn/encoder_net.h"
#include "policies/placement/decision_point.h"

namespace starling {

/// What the actor is told of a decision: the job and the queue once, and every option. All values
/// are of the order of 1. An option's row is
///   [situation, option, crossed, forward, embedding of the place, of the partition, of the others]
/// For going to another agent the option is waiting, as it may wait there, and `others` is what
/// that agent said of its partition; in all other rows it is the mean of all of them.
struct Features {
  /// Gang (log2 / 5), part of the partition; waited and served (log s / 12); jobs and GPUs waiting,
  /// GPUs ahead; free, doubly used and busy part of the GPUs; work left (guess; log s / 12), known
  /// by estimate; how busy the job keeps a GPU, what it sends; types differ; smaller gangs' part of
  /// the queue.
  static constexpr std::size_t kSituation = 16;
  /// Waits; own speed now and once alone, of its best; net gain of GPU speed, what that lacks to
  /// kMinimumGain; slowdown, harm to others, slowest neighbour; five kinds; servers, more racks than
  /// one; of those whose GPUs it shares: served, work left, gang, size beside its own; free GPUs
  /// left there, none left; speed of the type.
  static constexpr std::size_t kOption = 23;
  /// Products that a sum of the others cannot stand for: waiting with the GPUs wanted by the queue,
  /// the free part, gang, time waited, smaller gangs, work left; sharing, net gain, harm and type
  /// speed with the GPUs wanted by the queue, and with the work left.
  static constexpr std::size_t kCrossed = 14;
  /// Of going to another agent, zero for all other options: goes; speed alone of the type there, of
  /// the best; free GPUs enough, and on one server; free part of the type, part that may be joined;
  /// GPUs wanted there, and less those wanted here, for each GPU; times forwarded; the rule goes
  /// there although the job could start here; it goes there if the job would wait here.
  static constexpr std::size_t kForward = 11;
  static constexpr std::size_t kRuleFaster = 9, kRuleWaits = 10;  ///< of these
  static constexpr std::size_t kForwardAt = kSituation + kOption + kCrossed;
  static constexpr std::size_t kOwn = kForwardAt + kForward;  ///< without embeddings
  static constexpr std::size_t kRow =
      kOwn + EncoderNet::kPlace + EncoderNet::kWidth + EncoderNet::kWidth;
  static constexpr double kMinimumGain = 0.3;
};

/// The queue as a whole, and what lies ahead of one job in it.
struct QueueView {
  std::size_t jobs = 0;
  double gpus = 0, ahead = 0;  ///< GPUs wanted by all; by those who came before the job
  double smaller = 0;          ///< part of the jobs that want fewer GPUs than it
};

/// Of one option; null: the job waits, or goes. `alone`: DecisionPoint::best_alone().
void option_features(const DecisionPoint& point, double alone, const Candidate* option,
                     std::span<float> out);
void situation_features(const DecisionPoint& point, const QueueView& queue, std::span<float> out);

/// `best`: the job's best speed anywhere; `queue`: GPUs wanted here for each GPU. The rule's two
/// are left at 0.
void forward_features(const JobView& job, const Destination& to, double best, double queue,
                      std::span<float> out);
/// From situation and option.
void crossed_features(std::span<const float> situation, std::span<const float> option,
                      std::span<float> out);

}  // namespace starling
