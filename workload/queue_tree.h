// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "workload/job.h"

namespace starling {

/// How much of the cluster the jobs of a queue may have at once. GPUs are those of attempts that
/// start, run or drain.
struct QueueSpec {
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

  std::string name;                        ///< with those above it: "research/vision"
  std::uint32_t guaranteed = 0;            ///< GPUs that it gets before others get more than theirs
  std::uint32_t most = kNoLimit;           ///< GPUs, at the utmost, with all queues below it
  std::uint32_t most_per_user = kNoLimit;  ///< GPUs of one user, at the utmost; of leaves alone
  std::uint32_t weight = 1;                ///< share of what is lent beyond guarantees, at least 1
  std::vector<std::string>
      users;  ///< that may submit there and below; empty: those of the one above
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

/// The queues of a flock. Jobs are in leaves alone. Plain data; check_queues() says whether it
/// makes sense.
struct QueueTree {
  static constexpr std::size_t kMost = 1024;

  std::uint64_t version =
      0;  ///< rises with each change; 0: there are no queues, nothing is limited
  std::vector<QueueSpec> queues;  ///< ascending by name, so each stands behind the one above it
  std::string fallback;           ///< leaf of jobs that name none; empty: these are refused
  friend bool operator==(const QueueTree&, const QueueTree&) = default;

  /// There are queues. A later version may have none again.
  [[nodiscard]] bool limits() const noexcept { return !queues.empty(); }
  /// Null: there is none of that name.
  [[nodiscard]] const QueueSpec* find(std::string_view name) const noexcept;
  [[nodiscard]] bool is_leaf(std::string_view name) const noexcept;
};

/// The name of the queue above; empty: it is one of the first level.
[[nodiscard]] std::string_view above(std::string_view queue) noexcept;
/// `queue` is `top` or below it, by its path; whatever there is, is within the empty one.
[[nodiscard]] bool is_within(std::string_view queue, std::string_view top) noexcept;

/// What is wrong with it, with what would be right; empty: nothing. Names are ascending and unique,
/// of 1 to 256 bytes without control characters, parts without blanks around them; each has the one
/// above it; guarantees are at most `most`, and those of the queues below add up to at most `most`
/// and the guarantee of the one above them (where that has one); `most_per_user` is of leaves;
/// `fallback` is a leaf. A tree without queues is right, and limits nothing.
[[nodiscard]] std::string check_queues(const QueueTree& tree);

/// What a job counts against: a leaf, or where that has `most_per_user`, one user in it.
struct QuotaAccount {
  std::string queue;
  std::string user;  ///< empty: all of the queue
  friend auto operator<=>(const QuotaAccount&, const QuotaAccount&) = default;
};
/// Of a tree that limits. A job whose queue is no leaf of it has an account that may have nothing.
/// A job that names no queue goes by `fallback` as it is then: who keeps jobs longer than a tree
/// writes the queue into them. Jobs without a user are those of one user, who has no name.
[[nodiscard]] QuotaAccount account_of(const QueueTree& tree, const JobSpec& spec);
/// GPUs that the account may have at the utmost: the least `most` on its way up; 0: it is of no
/// leaf.
[[nodiscard]] std::uint32_t most_of(const QueueTree& tree, const QuotaAccount& account) noexcept;
/// GPUs that the job cannot do without: of an elastic one those of its fewest workers.
[[nodiscard]] std::uint64_t least_gpus(const JobSpec& spec) noexcept;
/// Why such a job is refused, for people, with what would be right; empty: it may wait there. It is
/// of no leaf, of one that its user may not use, or it can never have the GPUs that it needs. Whose
/// a queue is says the first list of users on its way up.
[[nodiscard]] std::string why_not_queued(const QueueTree& tree, const JobSpec& spec);

}  // namespace starling
