// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/packer.h"

#include "base/check.h"

namespace starling {
namespace {

constexpr std::uint64_t kUnseen = UINT64_MAX;

}  // namespace

Packer::Packer(const ClusterSpec& cluster, const Demands& demands, const Fragmentation& measure,
               std::unique_ptr<PackPolicy> policy, Rng rng)
    : demands_(demands),
      policy_(std::move(policy)),
      rng_(rng),
      shares_(cluster, demands, measure),
      changed_(cluster.nodes.size(), 0),
      seen_(demands.all.size(), kUnseen) {
  STARLING_CHECK(policy_ != nullptr && !cluster.nodes.empty());
  STARLING_CHECK(demands.all.size() <= kScoresMost / cluster.nodes.size());
  scores_.assign(demands.all.size() * cluster.nodes.size(), kNoFit);
}

std::int64_t Packer::score(std::uint32_t node, const PodDemand& demand) const {
  const PackNode here = shares_.node(node);
  return fits(here.free, demand) ? policy_->score(here, demand) : kNoFit;
}

void Packer::touch(std::uint32_t node) noexcept {
  changed_[changes_ % changed_.size()] = node;
  ++changes_;
}

void Packer::refresh(std::uint32_t index) {
  const PodDemand& demand = demands_.all[index];
  std::int64_t* scores = scores_.data() + std::size_t{index} * shares_.size();
  const std::uint64_t seen = seen_[index];
  if (seen == kUnseen || changes_ - seen > changed_.size()) {
    for (std::uint32_t node = 0; node < shares_.size(); ++node) scores[node] = score(node, demand);
  } else {
    for (std::uint64_t at = seen; at < changes_; ++at) {
      const std::uint32_t node = changed_[at % changed_.size()];
      scores[node] = score(node, demand);
    }
  }
  seen_[index] = changes_;
}

std::optional<Placed> Packer::place(std::uint32_t index) {
  refresh(index);
  const std::int64_t* scores = scores_.data() + std::size_t{index} * shares_.size();
  std::int64_t best = kNoFit;
  std::uint32_t equal = 0;
  for (std::uint32_t node = 0; node < shares_.size(); ++node) {
    if (scores[node] < best) {
      best = scores[node];
      equal = 1;
    } else if (scores[node] == best) {
      ++equal;
    }
  }
  if (best == kNoFit) return std::nullopt;
  std::uint32_t skip = rng_.below(equal);
  std::uint32_t node = 0;
  while (scores[node] != best || skip-- > 0) ++node;
  const PodDemand& demand = demands_.all[index];
  const Placed where{node, policy_->gpus(shares_.node(node), demand, rng_)};
  shares_.take(node, where.gpus, demand);
  touch(node);
  return where;
}

void Packer::remove(std::uint32_t index, const Placed& where) {
  shares_.give_back(where.node, where.gpus, demands_.all[index]);
  touch(where.node);
}

}  // namespace starling
