// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "workload/job.h"
#include "workload/queue_tree.h"

namespace starling {

/// The queues of one seed, 1 to 8 in 1 to 3 levels, and trees of them. Every tree is one that
/// check_queues() has nothing against; its version is 0, for the one who sets it to say.
class QueueDraw {
 public:
  /// In a flock of so many GPUs.
  QueueDraw(std::uint32_t gpus, Rng rng);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// The job is in one of the leaves, or names none, and has a user, or none.
  void name(JobSpec& spec, Rng rng);
  /// Any limits, also lower ones than what is used or than jobs need; leaves may be missing, or be
  /// some users' alone, and jobs that name none may be refused.
  [[nodiscard]] QueueTree any(Rng& rng) const;
  /// One by which each job that was named can run in some time, and one of a GPU that names no
  /// queue.
  [[nodiscard]] QueueTree lasting(Rng& rng) const;

 private:
  [[nodiscard]] std::vector<QueueSpec> plain(const std::vector<std::string>& names) const;
  /// GPUs of the largest job that may be there or below: those that name none are in what was the
  /// fallback when they came.
  [[nodiscard]] std::uint32_t largest(const std::string& queue) const;
  void guarantee(QueueTree& tree, Rng& rng) const;

  std::uint32_t gpus_;
  std::vector<std::string> names_;                // ascending
  std::map<std::string, std::uint32_t> largest_;  // GPUs of a job, by the queue that it names
};

}  // namespace starling
