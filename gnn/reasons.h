// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policies/partitions/elsewhere.h"

namespace starling {

/// Why a policy that scores options did what it did, of its last kKept decisions: what the best
/// few options were, what was predicted of them, and how they scored. Memory does not grow.
class Reasons {
 public:
  static constexpr std::size_t kKept = 1024, kOptions = 4;

  /// As in Choice. `work_s`: what the job is expected to take still, at its best speed; `taken`: an
  /// index of `options`.
  void note(JobId job, Instant now, double work_s, std::span<const Candidate* const> options,
            std::span<const Destination> destinations, std::span<const float> scores,
            std::size_t taken);
  /// A line for the decision and one for each option, best score first; nothing: not kept.
  [[nodiscard]] std::vector<std::string> explain(JobId job) const;

 private:
  struct Option {
    bool waits = false, leaves = false, starts = false, taken = false;
    CandidateKind kind = CandidateKind::tight;
    std::uint32_t first_gpu = 0, gpus = 0;
    float score = 0, own = 0, harm = 0, slowest = 1;
  };
  struct Reason {
    JobId job;
    Instant at;
    double work_s = 0;
    std::uint32_t options = 0, kept = 0;
    std::array<Option, kOptions> best;
  };
  std::vector<Reason> ring_;
  std::size_t next_ = 0;
};

}  // namespace starling
