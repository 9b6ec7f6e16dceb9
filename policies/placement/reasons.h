// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/placement/decision_point.h"
#include "scheduling/feedback.h"

namespace starling {

/// Why a placement policy did what it did, of its last kKept decisions: what the best few options
/// were, what was predicted of them, and which scores they had. Memory does not grow.
class Reasons {
 public:
  static constexpr std::size_t kKept = 1024, kOptions = 4;

  /// `work_s`: what the job is expected to take still, at its best speed; 0: not guessed. `scores`:
  /// as Scorer says; `taken`: an index of `options`. `scored`: they are the scorer's, and shown.
  /// `remark`: as Scored::remark.
  void note(JobId job, Instant now, double work_s, std::span<const PlacementOption> options,
            std::span<const double> scores, std::size_t taken, bool scored = true,
            std::string_view remark = {});
  /// The core has refused a decision. It is told of what was noted of the job last, if that was it.
  void refused(const Feedback& feedback);
  /// A line for the decision, whether it was refused, and one for each option, the best score
  /// first; nothing: not kept. `score_is`: as Scorer says.
  [[nodiscard]] std::vector<std::string> explain(JobId job, std::string_view score_is) const;

 private:
  struct Option {
    OptionKind kind = OptionKind::wait;
    CandidateKind place = CandidateKind::tight;
    bool has_room = false, taken = false;
    std::uint32_t first_gpu = 0, gpus = 0;  // of a place or room; of a share
    std::uint64_t elsewhere = 0, open = 0;  // GPUs; of room, jobs that stop
    AgentId to;
    double score = 0;
    float own = 0;  // 0: speeds are not predicted
    float inflicted_loss = 0, slowest = 1;
  };
  static Option seen(const PlacementOption& option);
  static std::string line_of(const Option& option, bool figure);
  struct Reason {
    JobId job;
    std::uint64_t number = 0;  // of note()s
    Instant at;
    double work_s = 0;
    bool scored = true;
    OptionKind taken = OptionKind::wait;
    AgentId to;  // of forward
    std::uint32_t options = 0, kept = 0;
    std::optional<DecisionFault> refused = {};
    std::string_view remark = {};
    std::array<Option, kOptions> best;
  };
  /// The newest of the job; kKept: none.
  [[nodiscard]] std::size_t find(JobId job) const;

  std::vector<Reason> ring_;
  std::size_t next_ = 0;
  std::uint64_t notes_ = 0;
};

}  // namespace starling
