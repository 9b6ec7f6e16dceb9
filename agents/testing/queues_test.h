// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agents/testing/testing.h"
#include "workload/queue_tree.h"

namespace starling {

// For tests of queues in a small flock.

inline QueueTree tree_of(std::uint64_t version, std::vector<QueueSpec> queues) {
  return {version, std::move(queues), {}};
}

inline QueueSpec queue_of(std::string name, std::uint32_t most = QueueSpec::kNoLimit) {
  QueueSpec queue;
  queue.name = std::move(name);
  queue.most = most;
  return queue;
}
inline QueueSpec sure_of(std::string name, std::uint32_t guaranteed) {
  QueueSpec queue = queue_of(std::move(name));
  queue.guaranteed = guaranteed;
  return queue;
}

/// Said by an operator, past the network, and a moment for it to spread.
inline void set_queues(TestFlock& flock, QueueTree tree) {
  flock.inject(0, client_node(1), SetQueues{std::move(tree)});
  flock.run_for(std::chrono::seconds(1));
}

inline JobSpec job_in(std::uint64_t n, std::uint32_t gpus, Duration duration,
                      const std::string& queue, std::int32_t priority = 0) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = gpus;
  spec.duration = duration;
  spec.queue = queue;
  spec.priority = priority;
  return spec;
}

inline void submit_to(TestFlock& flock, std::uint64_t n, std::uint32_t gpus, Duration duration,
                      const std::string& queue, std::int32_t priority = 0, std::uint64_t home = 0) {
  flock.submit(job_in(n, gpus, duration, queue, priority), static_cast<std::uint32_t>(home));
}

/// GPUs of attempts of the queue, at all homes that are up, counted from the jobs themselves.
inline std::uint32_t used(const TestFlock& flock, const std::string& queue) {
  std::size_t gpus = 0;
  for (std::uint32_t a = 0; flock.is_agent_number(a); ++a) {
    if (!flock.is_up(a)) continue;
    for (const auto& [id, job] : flock.agent(a).home.jobs)
      if (job.run() != nullptr && job.spec->queue == queue) gpus += job.placement.size();
  }
  return static_cast<std::uint32_t>(gpus);
}

/// Messages whose kind has that in it, since the transcript was last taken.
inline int count_said(TestFlock& flock, const std::string& kind) {
  int count = 0;
  for (const std::string& line : flock.take_transcript())
    count += line.find(" -> ") != line.npos && line.find(kind) != line.npos ? 1 : 0;
  return count;
}

}  // namespace starling
