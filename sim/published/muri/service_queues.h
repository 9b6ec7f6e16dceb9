// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/published/muri/muri_simulator.h"

namespace starling {

/// Tiresias' three queues, left after 3,250 and 7,200 s of service on a GPU; in each, jobs that run
/// go before jobs that wait.
class ServiceQueues {
 public:
  void enter(MuriJob& job) { queues_[0].push_back(&job); }
  void leave(MuriJob& job) { std::erase(queues_[job.queue], &job); }
  /// Of those that run, those with enough service go on to the end of the next queue.
  void move_on(const std::vector<MuriJob*>& jobs);
  /// All, in the order in which they are served.
  [[nodiscard]] std::vector<MuriJob*> in_order() const;
  /// By what `runs` is now.
  void put_running_first();
  /// When the next of those that run leaves its queue.
  [[nodiscard]] std::optional<double> next_move_s(double now_s,
                                                  const std::vector<MuriJob*>& jobs) const;

 private:
  std::array<std::vector<MuriJob*>, 3> queues_;
};

}  // namespace starling
