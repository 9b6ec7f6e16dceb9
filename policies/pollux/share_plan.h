// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling {

/// Replicas that a job has on a node.
struct NodeShare {
  std::uint32_t node = 0, replicas = 0;

  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

/// How many replicas each of some jobs has on which nodes: the rows of Pollux' allocation matrix,
/// without their zeros. Nodes of a row ascend, replicas are above 0.
class SharePlan {
 public:
  [[nodiscard]] std::size_t jobs() const noexcept { return ends_.size(); }
  [[nodiscard]] std::span<const NodeShare> of(std::size_t job) const noexcept {
    const std::uint32_t from = job == 0 ? 0 : ends_[job - 1];
    return std::span(shares_).subspan(from, ends_[job] - from);
  }
  /// The row of the next job.
  void add(std::span<const NodeShare> shares) {
    shares_.insert(shares_.end(), shares.begin(), shares.end());
    ends_.push_back(static_cast<std::uint32_t>(shares_.size()));
  }
  /// Rows [from, to) of `other` are the next jobs'.
  void add_rows(const SharePlan& other, std::size_t from, std::size_t to);
  void clear() noexcept { shares_.clear(), ends_.clear(); }
  [[nodiscard]] std::uint64_t hash() const noexcept;

  friend bool operator==(const SharePlan&, const SharePlan&) = default;

 private:
  std::vector<NodeShare> shares_;
  std::vector<std::uint32_t> ends_;  // of each job's row
};

[[nodiscard]] inline std::uint32_t replicas_of(std::span<const NodeShare> shares) noexcept {
  std::uint32_t sum = 0;
  for (const NodeShare& share : shares) sum += share.replicas;
  return sum;
}

}  // namespace starling
