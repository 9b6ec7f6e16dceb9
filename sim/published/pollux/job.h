// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/published/pollux/application.h"

namespace starling {

/// Node of each GPU that a job has, in the order in which it was given them.
using NodeList = std::vector<std::uint32_t>;

/// What a job measured of a step.
struct ProfiledStep {
  std::uint32_t nodes = 1, replicas = 1;
  BatchSplit split;
  MeasuredStep step;
  GradientStats gradient;
};

/// A training in Pollux' simulated world. It restarts for 30 s whenever its list of nodes changes,
/// at its first start too; GPUs are held meanwhile, and nothing that was done is lost. Seconds of
/// those that are left carry over to the next round.
class PolluxJob {
 public:
  static constexpr std::int64_t kRestart_s = 30;
  /// A row of a workload.
  struct Asked {
    std::string name;
    std::int64_t submit_s = 0;
    std::uint32_t replicas = 1, batch = 1;
  };
  /// How to divide the job's batch on so many nodes and replicas.
  using ChooseBatch = std::function<BatchSplit(std::uint32_t nodes, std::uint32_t replicas)>;
  using Measure = std::function<void(const ProfiledStep&)>;

  /// `application` must outlive it.
  PolluxJob(Asked asked, const PolluxApplication& application)
      : asked_(std::move(asked)), application_(&application) {}
  /// `choose`: at each start and after each stretch; the batch asked for unless set. `measured`:
  /// before each stretch.
  void adapt(ChooseBatch choose, Measure measured) {
    choose_ = std::move(choose);
    measured_ = std::move(measured);
  }

  /// Other nodes; none: it waits.
  void place(const NodeList& nodes);
  /// A round, in which it makes `interference` less progress; whether or not it was submitted.
  void advance(std::int64_t seconds, double interference);

  [[nodiscard]] const Asked& asked() const noexcept { return asked_; }
  [[nodiscard]] const PolluxApplication& application() const noexcept { return *application_; }
  [[nodiscard]] const NodeList& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::optional<std::int64_t> completed_s() const noexcept { return completed_s_; }
  /// That goes on, from 0.
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::int64_t gpu_seconds() const noexcept { return gpu_seconds_; }
  [[nodiscard]] std::uint32_t restarts() const noexcept { return starts_ > 0 ? starts_ - 1 : 0; }

 private:
  void choose_batch();
  std::int64_t run(std::int64_t seconds, double interference);

  Asked asked_;
  const PolluxApplication* application_;
  ChooseBatch choose_;
  Measure measured_;
  NodeList nodes_;
  NodeCounts placement_;
  BatchSplit split_;
  std::int64_t now_s_ = 0, restart_left_s_ = 0, gpu_seconds_ = 0;
  std::uint32_t starts_ = 0, epoch_ = 0;
  double progress_ = 0;
  std::optional<std::int64_t> completed_s_;
};

}  // namespace starling
