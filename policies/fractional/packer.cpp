// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/packer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace starling {
namespace {

constexpr std::uint64_t kUnseen = UINT64_MAX;

}  // namespace

Packer::Packer(const ClusterSpec& cluster, const Demands& demands, const Fragmentation& measure,
               std::unique_ptr<PackPolicy> policy, Rng rng, std::span<const std::uint32_t> ranks)
    : demands_(demands),
      policy_(std::move(policy)),
      rng_(rng),
      shares_(cluster, measure),
      nodes_(cluster.nodes.size()),
      places_(cluster.nodes.size()),
      changed_(cluster.nodes.size(), 0),
      seen_(demands.all.size(), kUnseen) {
  STARLING_CHECK(policy_ != nullptr && !cluster.nodes.empty());
  STARLING_CHECK(demands.all.size() <= kScoresMost / cluster.nodes.size());
  STARLING_CHECK(ranks.empty() || ranks.size() == nodes_.size());
  scores_.assign(demands.all.size() * cluster.nodes.size(), kNoFit);
  std::iota(nodes_.begin(), nodes_.end(), 0U);
  if (ranks.empty()) {
    for (std::size_t left = nodes_.size(); left > 1; --left)
      std::swap(nodes_[left - 1], nodes_[rng_.below(static_cast<std::uint32_t>(left))]);
  } else {
    std::sort(nodes_.begin(), nodes_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; });
  }
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) places_[nodes_[place]] = place;
}

std::int64_t Packer::score(std::uint32_t node, const PodDemand& demand) const {
  const PackNode here = shares_.node(node);
  return fits(here.free, demand) ? policy_->score(here, demand) : kNoFit;
}

void Packer::touch(std::uint32_t node) noexcept {
  changed_[changes_ % changed_.size()] = node;
  ++changes_;
}

std::span<const std::int64_t> Packer::refresh(std::uint32_t index) {
  const PodDemand& demand = demands_.all[index];
  const std::span<std::int64_t> scores(scores_.data() + std::size_t{index} * shares_.size(),
                                       shares_.size());
  const std::uint64_t seen = seen_[index];
  if (seen == kUnseen || changes_ - seen > changed_.size()) {
    for (std::uint32_t node = 0; node < shares_.size(); ++node)
      scores[places_[node]] = score(node, demand);
  } else {
    for (std::uint64_t at = seen; at < changes_; ++at) {
      const std::uint32_t node = changed_[at % changed_.size()];
      scores[places_[node]] = score(node, demand);
    }
  }
  seen_[index] = changes_;
  return scores;
}

std::uint32_t Packer::draw(std::span<const std::int64_t> scores) {
  const std::int64_t best = *std::min_element(scores.begin(), scores.end());
  const auto equal = std::count(scores.begin(), scores.end(), best);
  std::uint32_t skip = rng_.below(static_cast<std::uint32_t>(equal));
  std::uint32_t place = 0;
  while (scores[place] != best || skip-- > 0) ++place;
  return place;
}

std::optional<Placed> Packer::place(std::uint32_t index) {
  const std::span<const std::int64_t> scores = refresh(index);
  const auto place = policy_->draws_nodes()
                         ? draw(scores)
                         : static_cast<std::uint32_t>(
                               std::min_element(scores.begin(), scores.end()) - scores.begin());
  if (scores[place] == kNoFit) return std::nullopt;
  const std::uint32_t node = nodes_[place];
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
