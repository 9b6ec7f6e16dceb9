// SPDX-License-Identifier: Apache-2.0
#include "sim/check/queue_limits.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/check/checker_words.h"

namespace starling {
namespace {

/// A queue with all below it, or one user in it.
struct Scope {
  std::string_view queue;
  std::string_view user = {};  // empty: all
};

std::string_view queue_by(const QueueTree& tree, const JobSpec& spec) {
  return spec.queue.empty() ? tree.fallback : spec.queue;
}

bool counts(const QueueTree& tree, const JobSpec& spec, const Scope& in) {
  const std::string_view queue = queue_by(tree, spec);
  const bool below = queue.size() > in.queue.size() && queue[in.queue.size()] == '/';
  const bool there = queue.starts_with(in.queue) && (below || queue.size() == in.queue.size());
  return there && (in.user.empty() || spec.user == in.user);
}

std::uint64_t most_by(const QueueTree& tree, const Scope& in) {
  const auto at = std::find_if(tree.queues.begin(), tree.queues.end(),
                               [&](const QueueSpec& queue) { return queue.name == in.queue; });
  if (at == tree.queues.end()) return QueueSpec::kNoLimit;
  return in.user.empty() ? at->most : at->most_per_user;
}

std::uint64_t used_by(const QueueTree& tree, const Scope& in,
                      std::span<const Durable* const> agents) {
  std::uint64_t used = 0;
  for (const Durable* agent : agents) {
    for (const auto& [id, job] : agent->jobs()) {
      if (!job.gang.empty() && counts(tree, job.submit.spec, in)) used += gpus_of(job.gang);
    }
  }
  return used;
}

/// The job's queue and all above it, then its user.
std::vector<Scope> scopes_of(const QueueTree& tree, const JobSpec& spec) {
  std::vector<Scope> scopes;
  const std::string_view queue = queue_by(tree, spec);
  for (std::size_t end = queue.size(); end > 0 && end != std::string_view::npos;
       end = queue.rfind('/', end - 1))
    scopes.push_back({queue.substr(0, end)});
  if (!queue.empty() && !spec.user.empty()) scopes.push_back({queue, spec.user});
  return scopes;
}

}  // namespace

std::string beyond_queues(std::span<const Durable* const> agents, const JobSpec& started) {
  std::vector<const QueueTree*> trees;
  for (const Durable* agent : agents) {
    const QueueTree& tree = agent->queues();
    if (tree.version == 0) return {};
    if (std::none_of(trees.begin(), trees.end(), [&](const QueueTree* t) { return *t == tree; }))
      trees.push_back(&tree);
  }
  if (trees.empty()) return {};
  for (const Scope& in : scopes_of(*trees.front(), started)) {
    const auto within = [&](const QueueTree* tree) {
      return !counts(*tree, started, in) || used_by(*tree, in, agents) <= most_by(*tree, in);
    };
    if (std::any_of(trees.begin(), trees.end(), within)) continue;
    std::uint64_t most = 0, used = 0;
    for (const QueueTree* tree : trees) {
      most = std::max(most, most_by(*tree, in));
      used = std::max(used, used_by(*tree, in, agents));
    }
    return (in.user.empty() ? "" : "user " + std::string(in.user) + " in ") + "queue " +
           std::string(in.queue) + " has " + std::to_string(used) + " GPUs in use and may have " +
           std::to_string(most) + " at most";
  }
  return {};
}

}  // namespace starling
