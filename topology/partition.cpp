// SPDX-License-Identifier: Apache-2.0
#include "topology/partition.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/counted.h"
#include "topology/cuts.h"

namespace starling {
namespace {

// A border falls before the GPU server of that number; servers without GPUs go where it costs
// least.
struct Border {
  std::uint32_t server = 0;  // first server to its right
  std::uint64_t gpus = 0;    // to its left
  int inside_rack = 1;
  double crossing_gbps = 0;
};

// Compared from the first field on; sums over partitions and borders.
struct Cost {
  double beyond_tenth = 0;  // how far partitions are beyond 10 % of their share
  int inside_rack = 0;
  double unevenness = 0;  // squared distance from the share
  double crossing_gbps = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
  Cost operator+(const Cost& o) const {
    return {beyond_tenth + o.beyond_tenth, inside_rack + o.inside_rack, unevenness + o.unevenness,
            crossing_gbps + o.crossing_gbps};
  }
};

// One rack or one scale-up domain.
bool same_place(const Topology& topology, ServerId a, ServerId b) {
  const std::uint32_t domain = topology.domain_of(a);
  return topology.rack_of(a) == topology.rack_of(b) ||
         (domain != Topology::kNoDomain && domain == topology.domain_of(b));
}

std::vector<Border> borders_of(const Topology& topology) {
  const std::vector<double> crossing = crossing_gbps(topology);
  const auto servers = topology.servers();
  std::vector<Border> borders{{0, 0, 0, 0}};
  std::uint32_t previous = servers.size() > 0 ? 0 : 1;
  while (previous < servers.size() && servers[previous].gpus.size() == 0) ++previous;
  for (std::uint32_t s = previous + 1; s < servers.size(); ++s) {
    if (servers[s].gpus.size() == 0) continue;
    Border best;
    for (std::uint32_t b = previous + 1; b <= s; ++b) {
      const bool inside = same_place(topology, ServerId(b - 1), ServerId(b));
      const Border border{b, servers[s].gpus.first, inside ? 1 : 0, crossing[b]};
      if (best.server == 0 || border.inside_rack < best.inside_rack ||
          (border.inside_rack == best.inside_rack && border.crossing_gbps < best.crossing_gbps)) {
        best = border;
      }
    }
    borders.push_back(best);
    previous = s;
  }
  return borders;
}

class Cutter {
 public:
  Cutter(const Topology& topology, const std::vector<Border>& borders, std::uint32_t count)
      : borders_(borders), gpus_(topology.gpu_count()), count_(count) {
    for (std::uint32_t b = 1; b < borders.size(); ++b) {
      if (borders[b].inside_rack == 0) rack_borders_.push_back(b);
    }
  }

  /// Index into borders of the first border of each partition.
  std::vector<std::uint32_t> cut() {
    struct Step {
      std::vector<std::uint32_t> at;
      std::vector<Cost> cost;
      std::vector<std::uint32_t> from;
    };
    std::vector<Step> steps{{{0}, {Cost{}}, {0}}};
    std::uint32_t even = 0;
    for (std::uint32_t j = 1; j < count_; ++j) {
      even = next_even(even, j);
      Step step;
      for (const std::uint32_t b : candidates(j, even)) {
        const Step& last = steps.back();
        std::uint32_t from = ~std::uint32_t{0};
        Cost best;
        for (std::uint32_t i = 0; i < last.at.size() && last.at[i] < b; ++i) {
          const Cost cost = last.cost[i] + cost_of(last.at[i], borders_[b].gpus) +
                            Cost{0, borders_[b].inside_rack, 0, borders_[b].crossing_gbps};
          if (from == ~std::uint32_t{0} || cost < best) {
            best = cost;
            from = i;
          }
        }
        if (from == ~std::uint32_t{0}) continue;
        step.at.push_back(b);
        step.cost.push_back(best);
        step.from.push_back(from);
      }
      STARLING_CHECK(!step.at.empty());
      steps.push_back(std::move(step));
    }
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < steps.back().at.size(); ++i) {
      if (total(steps.back().at, steps.back().cost, i) <
          total(steps.back().at, steps.back().cost, best)) {
        best = i;
      }
    }
    std::vector<std::uint32_t> cut(count_);
    for (std::uint32_t j = count_; j-- > 0;) {
      cut[j] = steps[j].at[best];
      best = steps[j].from[best];
    }
    return cut;
  }

 private:
  // Candidates per border: enough for every cut within a tenth of the share that matters, few
  // enough that 100 000 servers take milliseconds.
  static constexpr std::uint32_t kServerBorders = 96;
  static constexpr std::uint32_t kRackBorders = 64;

  [[nodiscard]] Cost cost_of(std::uint32_t from, std::uint64_t until_gpus) const {
    const double share = static_cast<double>(gpus_) / count_;
    const double size = static_cast<double>(until_gpus - borders_[from].gpus);
    const double off = size > share ? size - share : share - size;
    const double slack = off - 0.1 * share;
    return {slack > 1e-9 * share ? slack : 0, 0, off * off, 0};
  }

  [[nodiscard]] Cost total(const std::vector<std::uint32_t>& at, const std::vector<Cost>& cost,
                           std::uint32_t i) const {
    return cost[i] + cost_of(at[i], gpus_);
  }

  [[nodiscard]] std::uint64_t target(std::uint32_t j) const { return gpus_ * j / count_; }

  [[nodiscard]] bool nearer_left(std::uint32_t b, std::uint64_t gpus) const {
    return borders_[b].gpus > gpus && borders_[b].gpus - gpus > gpus - borders_[b - 1].gpus;
  }

  // The border nearest to the even one that leaves a server for every partition on both sides:
  // always a candidate, so a cut is always found.
  [[nodiscard]] std::uint32_t next_even(std::uint32_t last, std::uint32_t j) const {
    const auto most = static_cast<std::uint32_t>(borders_.size() - (count_ - j));
    std::uint32_t b = first_from(target(j));
    if (b < borders_.size() && b > 0 && nearer_left(b, target(j))) --b;
    return std::clamp(b, last + 1, std::max(most, last + 1));
  }

  [[nodiscard]] std::uint32_t first_from(std::uint64_t gpus) const {
    const auto at = std::lower_bound(borders_.begin(), borders_.end(), gpus,
                                     [](const Border& b, std::uint64_t g) { return b.gpus < g; });
    return static_cast<std::uint32_t>(at - borders_.begin());
  }

  [[nodiscard]] std::vector<std::uint32_t> candidates(std::uint32_t j, std::uint32_t even) const {
    std::vector<std::uint32_t> found{even};
    const auto most = static_cast<std::uint32_t>(borders_.size() - (count_ - j));
    const std::uint32_t middle = first_from(target(j));
    const std::uint32_t low = middle > kServerBorders / 2 ? middle - kServerBorders / 2 : 0;
    for (std::uint32_t b = std::max(low, j); b <= std::min(most, low + kServerBorders); ++b) {
      found.push_back(b);
    }
    const auto centre = static_cast<std::size_t>(
        std::lower_bound(rack_borders_.begin(), rack_borders_.end(), middle) -
        rack_borders_.begin());
    const std::size_t first = centre > kRackBorders / 2 ? centre - kRackBorders / 2 : 0;
    for (std::size_t i = first; i < std::min(rack_borders_.size(), first + kRackBorders); ++i) {
      if (rack_borders_[i] >= j && rack_borders_[i] <= most) found.push_back(rack_borders_[i]);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  const std::vector<Border>& borders_;
  std::vector<std::uint32_t> rack_borders_;
  std::uint64_t gpus_;
  std::uint32_t count_;
};

}  // namespace

Result<std::vector<Partition>> partition(const Topology& topology, std::uint32_t count) {
  std::uint32_t with_gpus = 0;
  for (const Server& server : topology.servers()) with_gpus += server.gpus.size() > 0 ? 1 : 0;
  if (with_gpus == 0) {
    return Error{Errc::invalid, topology.name() + " has no GPU; give a data centre that has some"};
  }
  if (count == 0 || count > with_gpus) {
    return Error{Errc::invalid, "cannot cut " + topology.name() + " into " +
                                    counted(count, "partition") + ": from 1 to " +
                                    std::to_string(with_gpus) +
                                    " are possible, one for each server with GPUs"};
  }
  const std::vector<Border> borders = borders_of(topology);
  const std::vector<std::uint32_t> cut = Cutter(topology, borders, count).cut();
  std::vector<Partition> partitions;
  for (std::uint32_t j = 0; j < count; ++j) {
    const std::uint32_t first = borders[cut[j]].server;
    const std::uint32_t last = j + 1 < count ? borders[cut[j + 1]].server : topology.server_count();
    partitions.push_back(
        {PartitionId(j),
         {first, last},
         {topology.servers()[first].gpus.first, topology.servers()[last - 1].gpus.last}});
  }
  return partitions;
}

}  // namespace starling
