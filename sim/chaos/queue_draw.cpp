// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/queue_draw.h"

#include <algorithm>
#include <utility>

namespace starling {
namespace {

constexpr std::uint32_t kMostQueues = 8, kMostLevels = 3;

std::uint32_t level_of(const std::string& queue) {
  return 1 + static_cast<std::uint32_t>(std::count(queue.begin(), queue.end(), '/'));
}

std::vector<std::string> leaves_of(const std::vector<std::string>& names) {
  std::vector<std::string> leaves;
  for (const std::string& name : names) {
    const auto below = [&](const std::string& other) { return other.starts_with(name + "/"); };
    if (std::none_of(names.begin(), names.end(), below)) leaves.push_back(name);
  }
  return leaves;
}

const std::string& one_of(const std::vector<std::string>& names, Rng& rng) {
  return names[rng.below(static_cast<std::uint32_t>(names.size()))];
}

}  // namespace

QueueDraw::QueueDraw(std::uint32_t gpus, Rng rng) : gpus_(gpus) {
  const std::uint32_t queues = 1 + rng.below(kMostQueues), levels = 1 + rng.below(kMostLevels);
  for (char letter = 'a'; names_.size() < queues; ++letter) {
    std::string over = names_.empty() || rng.chance(0.4) ? "" : one_of(names_, rng) + "/";
    if (level_of(over) > levels) over.clear();
    names_.push_back(over + letter);
  }
  std::sort(names_.begin(), names_.end());
}

void QueueDraw::name(JobSpec& spec, Rng rng) {
  static constexpr const char* kUsers[] = {"", "ann", "bob", "cy"};
  if (rng.chance(0.85)) spec.queue = one_of(leaves_of(names_), rng);
  spec.user = kUsers[rng.below(4)];
  std::uint32_t& largest = largest_[spec.queue];
  largest = std::max(largest, static_cast<std::uint32_t>(spec.gpus()));
}

std::vector<QueueSpec> QueueDraw::plain(const std::vector<std::string>& names) const {
  std::vector<QueueSpec> queues;
  for (const std::string& name : names) {
    QueueSpec queue;
    queue.name = name;
    queues.push_back(std::move(queue));
  }
  return queues;
}

std::uint32_t QueueDraw::largest(const std::string& queue) const {
  std::uint32_t most = 1;
  for (const auto& [named, gpus] : largest_) {
    if (named.empty() || named == queue || named.starts_with(queue + "/"))
      most = std::max(most, gpus);
  }
  return most;
}

/// Those below one have parts of what it is sure of.
void QueueDraw::guarantee(QueueTree& tree, Rng& rng) const {
  std::map<std::string, std::uint32_t> left;
  left[""] = gpus_;
  for (QueueSpec& queue : tree.queues) {
    const auto slash = queue.name.rfind('/');
    std::uint32_t& over = left[slash == std::string::npos ? "" : queue.name.substr(0, slash)];
    if (rng.chance(0.6)) queue.guaranteed = rng.below(std::min(over, queue.most) + 1);
    over -= queue.guaranteed;
    left[queue.name] = queue.guaranteed;
    queue.weight = 1 + rng.below(4);
  }
}

QueueTree QueueDraw::any(Rng& rng) const {
  std::vector<std::string> names = names_;
  for (const std::string& leaf : leaves_of(names_)) {
    if (names.size() > 1 && rng.chance(0.1)) std::erase(names, leaf);
  }
  const std::vector<std::string> leaves = leaves_of(names);
  QueueTree tree;
  tree.queues = plain(names);
  // Jobs stay in it: no tree has queues below it.
  std::vector<std::string> fallbacks = leaves_of(names_);
  std::erase_if(fallbacks, [&](const std::string& leaf) {
    return std::find(leaves.begin(), leaves.end(), leaf) == leaves.end();
  });
  if (rng.chance(0.8) && !fallbacks.empty()) tree.fallback = one_of(fallbacks, rng);
  for (QueueSpec& queue : tree.queues) {
    const bool leaf = std::find(leaves.begin(), leaves.end(), queue.name) != leaves.end();
    const auto limit = [&](std::uint32_t least) { return least + rng.below(gpus_ + 1); };
    const std::uint32_t least = rng.chance(0.6) ? largest(queue.name) : 0;
    if (rng.chance(0.7)) queue.most = limit(least);
    if (leaf && rng.chance(0.3)) queue.most_per_user = limit(least);
    if (rng.chance(0.05)) queue.users = {"ann", "bob"};
  }
  guarantee(tree, rng);
  return tree;
}

QueueTree QueueDraw::lasting(Rng& rng) const {
  const std::vector<std::string> leaves = leaves_of(names_);
  QueueTree tree;
  tree.queues = plain(names_);
  tree.fallback = one_of(leaves, rng);
  for (QueueSpec& queue : tree.queues) {
    const bool leaf = std::find(leaves.begin(), leaves.end(), queue.name) != leaves.end();
    const std::uint32_t least = largest(queue.name);
    const auto limit = [&] { return rng.chance(0.3) ? least : least + rng.below(gpus_ + 1); };
    if (rng.chance(0.7)) queue.most = limit();
    if (leaf && rng.chance(0.3)) queue.most_per_user = limit();
  }
  guarantee(tree, rng);
  return tree;
}

}  // namespace starling
