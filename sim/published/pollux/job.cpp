// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/job.h"

#include <algorithm>
#include <cmath>

namespace starling {

void PolluxJob::place(const NodeList& nodes) {
  nodes_ = nodes;
  placement_.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || nodes[i] != nodes[i - 1])
      placement_.push_back(1);
    else
      ++placement_.back();
  }
  if (nodes.empty()) return;
  choose_batch();
  restart_left_s_ = kRestart_s;
  ++starts_;
}

void PolluxJob::choose_batch() {
  const auto replicas = static_cast<std::uint32_t>(nodes_.size());
  split_ = choose_ ? choose_(static_cast<std::uint32_t>(placement_.size()), replicas)
                   : split_batch(asked_.batch, replicas, application_->limits());
}

void PolluxJob::advance(std::int64_t seconds, double interference) {
  if (nodes_.empty()) {
    now_s_ += seconds;
    return;
  }
  const std::int64_t delay = std::min(restart_left_s_, seconds);
  now_s_ += delay;
  gpu_seconds_ += delay * static_cast<std::int64_t>(nodes_.size());
  restart_left_s_ -= delay;
  seconds -= delay;
  while (seconds > 0 && !completed_s_) {
    seconds -= run(seconds, interference);
    choose_batch();
  }
  now_s_ += seconds;
}

/// Until the epoch or the seconds are over; answers those that this took.
std::int64_t PolluxJob::run(std::int64_t seconds, double interference) {
  const auto replicas = static_cast<std::uint32_t>(nodes_.size());
  const auto nodes = static_cast<std::uint32_t>(placement_.size());
  const double batch = replicas * split_.local_batch * (split_.accumulation + 1);
  const double scale = batch / application_->limits().own;
  const MeasuredStep step =
      application_->steps().step(placement_, static_cast<std::uint32_t>(split_.local_batch));
  const GradientStats gradient = application_->gradient(batch, epoch_);
  const double gain =
      (gradient.variance + gradient.square) / (gradient.variance / scale + gradient.square);
  if (measured_) measured_({nodes, replicas, split_, step, gradient});
  const double time = step.step_s + step.grad_s() * split_.accumulation;
  const double rate = gain / time * (1.0 - interference);
  const double end = application_->epoch_end(epoch_);
  std::int64_t took = seconds;
  if (progress_ + rate * static_cast<double>(seconds) < end) {
    progress_ += rate * static_cast<double>(seconds);
  } else {
    // To the nearest whole second, of two equally near ones the even one.
    took = std::min(seconds, static_cast<std::int64_t>(std::nearbyint((end - progress_) / rate)));
    progress_ = end;
    ++epoch_;
    if (epoch_ == application_->epochs()) completed_s_ = now_s_ + took;
  }
  now_s_ += took;
  gpu_seconds_ += took * static_cast<std::int64_t>(replicas);
  return took;
}

}  // namespace starling
