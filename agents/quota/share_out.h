// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "agents/quota/quota_room.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// What a home wants more of one account.
struct QuotaClaim {
  QuotaRoom::Place place = 0;
  AgentId home;
  std::uint32_t want = 0;   ///< GPUs
  std::uint32_t first = 0;  ///< of its first job: less is of no use, until it has that
  std::int32_t priority = 0;
  Instant since{};          ///< when the first job began to wait
  std::uint32_t given = 0;  ///< out: of what it wants

  /// The next gift to it; 0: it has what it wants. How large its later jobs are only its home
  /// knows: they count as large as the first.
  [[nodiscard]] std::uint32_t next() const noexcept {
    const std::uint32_t left = want - given;
    return first < left ? first : left;
  }
};

/// A job that has waited for so long gets what comes free where it lacks room, before those of
/// others that are smaller.
constexpr Duration kQuotaPatience = std::chrono::minutes(10);

/// Gives `room` out to those that want it, and counts it there. From the flock down, at each level:
/// the queue below its guarantee that has the least part of it; where none is, the one that has the
/// least, now and on average, for its weight. In a leaf: the first of those that have got the
/// fewest gifts in this call, by priority, then by wait. A gift is what the first job needs or
/// nothing, and it goes on until nothing fits. What is beyond a guarantee leaves those of others
/// that are wanted.
void share_out(QuotaRoom& room, std::vector<QuotaClaim>& claims, Instant now);

/// Where GPUs lack that are claimed, and for whose sake.
class QuotaScarcity {
 public:
  /// After share_out().
  QuotaScarcity(const QuotaRoom& room, const std::vector<QuotaClaim>& claims);
  /// What the home has there is wanted by others, or by itself in other queues, or is more than
  /// there may be.
  [[nodiscard]] bool at(QuotaRoom::Place place, AgentId home) const noexcept;
  /// There, or above it, more is given out than there may be.
  [[nodiscard]] bool over(QuotaRoom::Place place) const noexcept { return over_[place]; }

 private:
  struct Who {
    enum class Count : std::uint8_t { none, one, many };
    Count count = Count::none;
    AgentId home;  ///< of the one
    QuotaRoom::Place place = 0;
    void add(const Who& other) noexcept;
  };
  std::vector<Who> lacks_;  ///< by place, with those above it
  std::vector<bool> over_;  ///< the same
};

}  // namespace starling
