// SPDX-License-Identifier: Apache-2.0
#include "agents/quota/quota_room.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace starling {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::uint64_t limit_of(std::uint32_t most) {
  return most == QueueSpec::kNoLimit ? kUnlimited : std::uint64_t{most};
}

QuotaRoom::Place nearest(const QueueTree& tree, std::string_view name) {
  for (; !name.empty(); name = above(name)) {
    if (const QueueSpec* q = tree.find(name))
      return static_cast<QuotaRoom::Place>(q - tree.queues.data()) + 1;
  }
  return QuotaRoom::kFlock;
}

}  // namespace

QuotaRoom::QuotaRoom(const QueueTree& tree, std::uint64_t gpus) {
  queues_.push_back({.most = gpus + gpus / 4});
  limited_.push_back(QueueSpec::kNoLimit);
  for (const QueueSpec& q : tree.queues) {
    queues_.push_back({.above = nearest(tree, above(q.name)),
                       .most = limit_of(q.most),
                       .guaranteed = q.guaranteed,
                       .weight = static_cast<double>(std::max(q.weight, 1U))});
    limited_.push_back(tree.is_leaf(q.name) ? q.most_per_user : QueueSpec::kNoLimit);
  }
  for (std::size_t i = queues_.size(); i-- > 1;) {
    const Queue& q = queues_[i];
    queues_[q.above].guaranteed_below += std::max(q.guaranteed, q.guaranteed_below);
  }
}

QuotaRoom::Place QuotaRoom::place_of(const QueueTree& tree, const QuotaAccount& account) {
  const Place queue = nearest(tree, account.queue);
  if (limited_[queue] == QueueSpec::kNoLimit || tree.queues[queue - 1].name != account.queue)
    return queue;
  const auto [at, is_new] = users_.try_emplace(account, static_cast<Place>(queues_.size()));
  if (is_new) queues_.push_back({.above = queue, .most = limited_[queue]});
  return at->second;
}

void QuotaRoom::give(Place place, std::uint64_t gpus) noexcept {
  for (; place != kNowhere; place = queues_[place].above) queues_[place].given += gpus;
}

void QuotaRoom::take(Place place, std::uint64_t gpus) noexcept {
  for (; place != kNowhere; place = queues_[place].above) queues_[place].given -= gpus;
}

void QuotaRoom::pass(Duration time) noexcept {
  const double kept = std::exp2(-seconds(time) / seconds(kHalfLife));
  for (Queue& q : queues_) q.average = q.average * kept + static_cast<double>(q.given) * (1 - kept);
}

}  // namespace starling
