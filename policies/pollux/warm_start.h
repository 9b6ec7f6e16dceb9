// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "policies/pollux/share_plan.h"

namespace starling {

/// The plans of the last search, with which the next one begins although jobs have come and gone.
template <class Job>
class WarmStart {
 public:
  void remember(std::span<const Job> jobs, std::vector<SharePlan> plans) {
    rows_.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i) rows_[jobs[i]] = i;
    plans_ = std::move(plans);
  }
  /// Of these jobs; newcomers wait.
  [[nodiscard]] std::vector<SharePlan> plans(std::span<const Job> jobs) const {
    std::vector<SharePlan> out(plans_.size());
    for (const Job& job : jobs) {
      const auto row = rows_.find(job);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i].add(row == rows_.end() ? std::span<const NodeShare>{} : plans_[i].of(row->second));
    }
    return out;
  }

 private:
  std::map<Job, std::size_t> rows_;
  std::vector<SharePlan> plans_;
};

}  // namespace starling
