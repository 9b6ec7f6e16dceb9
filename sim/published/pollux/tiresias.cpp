// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "sim/published/pollux/free_nodes.h"
#include "sim/published/pollux/schedulers.h"

namespace starling {
namespace {

constexpr std::int64_t kThreshold_s = 16 * 3600;  // GPU seconds

}  // namespace

void TiresiasThere::demote(std::int64_t now_s, std::span<const PolluxJob* const> jobs) {
  for (const PolluxJob* job : jobs) {
    Known& known = known_.at(job);
    if (known.runs) {
      known.executed_s += now_s - known.seen_s;
      if (!known.demoted && known.executed_s * job->asked().replicas >= kThreshold_s) {
        known.demoted = true;
        std::erase(first_, job);
        second_.push_back(job);
      }
    }
    known.seen_s = now_s;
  }
}

std::vector<NodeList> TiresiasThere::decide(std::int64_t now_s,
                                            std::span<const PolluxJob* const> jobs) {
  const std::set<const PolluxJob*> present(jobs.begin(), jobs.end());
  const auto is_gone = [&](const PolluxJob* job) { return !present.contains(job); };
  std::erase_if(first_, is_gone);
  std::erase_if(second_, is_gone);
  std::erase_if(known_, [&](const auto& entry) { return is_gone(entry.first); });
  for (const PolluxJob* job : jobs) {
    if (known_.try_emplace(job).second) first_.push_back(job);
  }
  demote(now_s, jobs);

  Queue order = first_;
  order.insert(order.end(), second_.begin(), second_.end());
  std::uint32_t left = cluster_.nodes * cluster_.gpus_per_node;
  FreeNodes free(cluster_.nodes, cluster_.gpus_per_node);
  for (const PolluxJob* job : order) {
    Known& known = known_.at(job);
    known.runs = job->asked().replicas <= left;
    if (!known.runs) continue;
    left -= job->asked().replicas;
    free.take(job->nodes());
  }
  std::map<const PolluxJob*, NodeList> lists;
  for (const PolluxJob* job : order) {
    if (!known_.at(job).runs) continue;
    lists[job] = job->nodes().empty() ? free.take_most_free(job->asked().replicas) : job->nodes();
  }
  std::vector<NodeList> out;
  for (const PolluxJob* job : jobs) out.push_back(lists[job]);
  return out;
}

}  // namespace starling
