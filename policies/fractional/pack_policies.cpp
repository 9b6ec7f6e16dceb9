// SPDX-License-Identifier: Apache-2.0
// The policies of Weng et al. (USENIX ATC 2023) and worst-fit. Scores are whole numbers, the lower
// the better. CPUs and GPUs count relative to the largest node that there is, in millionths; memory
// decides what fits and no score, as in the original evaluation.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "policies/fractional/gpu_choice.h"
#include "policies/fractional/pack_policy.h"

namespace starling {
namespace {

constexpr std::int64_t kParts = 1'000'000;

std::int64_t free_gpu_milli(const PackNode& node) {
  return std::accumulate(node.free.gpu_milli.begin(), node.free.gpu_milli.end(), std::int64_t{0});
}

/// What a resource is divided by.
struct Scale {
  std::int64_t cpu = 1;
  std::int64_t gpu = 1;

  explicit Scale(const ClusterSpec& cluster) {
    for (const NodeSpec& node : cluster.nodes) {
      cpu = std::max(cpu, node.cpu_milli);
      gpu = std::max(gpu, std::int64_t{node.gpus} * kWholeGpu);
    }
  }
  [[nodiscard]] std::int64_t cpu_parts(std::int64_t milli) const { return milli * kParts / cpu; }
  [[nodiscard]] std::int64_t gpu_parts(std::int64_t milli) const { return milli * kParts / gpu; }
  /// What is left of the node once the pod is on it.
  [[nodiscard]] std::int64_t rest(const PackNode& node, const PodDemand& demand) const {
    return cpu_parts(node.free.cpu_milli - demand.cpu_milli) +
           gpu_parts(free_gpu_milli(node) - demand.total_gpu_milli());
  }
};

/// Fragmentation gradient descent: where F_n grows least, by node and by GPU.
class Fgd final : public PackPolicy {
 public:
  explicit Fgd(const Fragmentation& measure) : measure_(measure) {}

  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return best(node, demand).growth;
  }
  GpuSet gpus(const PackNode& node, const PodDemand& demand, Rng& /*rng*/) const override {
    return best(node, demand).gpus;
  }

 private:
  struct Choice {
    std::int64_t growth = kNoFit;
    GpuSet gpus = 0;
  };

  Choice with(const PackNode& node, const PodDemand& demand, GpuSet gpus) const {
    std::array<std::uint16_t, kNodeGpusMost> left;
    std::copy(node.free.gpu_milli.begin(), node.free.gpu_milli.end(), left.begin());
    for (GpuSet rest = gpus; rest != 0; rest &= rest - 1) {
      std::uint16_t& gpu = left[static_cast<std::size_t>(std::countr_zero(rest))];
      gpu = static_cast<std::uint16_t>(gpu - demand.gpu_milli);
    }
    const FreeNode after{node.free.cpu_milli - demand.cpu_milli,
                         node.free.memory_mib - demand.memory_mib,
                         node.free.model,
                         {left.data(), node.free.gpu_milli.size()}};
    return {measure_.of(after) - node.fragments, gpus};
  }

  // Whole GPUs are all alike, and so are GPUs with the same share left: each kind is tried once,
  // the fullest first, so that of equal ones it is taken.
  Choice best(const PackNode& node, const PodDemand& demand) const {
    if (demand.gpus != 1) return with(node, demand, fullest_gpus(node.free.gpu_milli, demand));
    Choice best;
    std::uint32_t tried = demand.gpu_milli;  // all with less left are
    for (;;) {
      std::size_t next = node.free.gpu_milli.size();
      for (std::size_t g = 0; g < node.free.gpu_milli.size(); ++g) {
        if (node.free.gpu_milli[g] >= tried &&
            (next == node.free.gpu_milli.size() ||
             node.free.gpu_milli[g] < node.free.gpu_milli[next])) {
          next = g;
        }
      }
      if (next == node.free.gpu_milli.size()) return best;
      const Choice here = with(node, demand, GpuSet{1} << next);
      if (here.growth < best.growth) best = here;
      tried = node.free.gpu_milli[next] + 1U;
    }
  }

  const Fragmentation& measure_;
};

/// The other policies take the fullest GPUs that the pod fits on.
class Packing : public PackPolicy {
 public:
  GpuSet gpus(const PackNode& node, const PodDemand& demand, Rng& /*rng*/) const override {
    return fullest_gpus(node.free.gpu_milli, demand);
  }
};

/// Where least is left afterwards, CPUs and GPUs counting alike.
class BestFit final : public Packing {
 public:
  explicit BestFit(const ClusterSpec& cluster) : scale_(cluster) {}
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return scale_.rest(node, demand);
  }

 private:
  Scale scale_;
};

/// Where most is left, on the emptiest GPU.
class WorstFit final : public PackPolicy {
 public:
  explicit WorstFit(const ClusterSpec& cluster) : scale_(cluster) {}
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return -scale_.rest(node, demand);
  }
  GpuSet gpus(const PackNode& node, const PodDemand& demand, Rng& /*rng*/) const override {
    return emptiest_gpus(node.free.gpu_milli, demand);
  }

 private:
  Scale scale_;
};

/// Where what is free and what is asked for point least the same way: the smallest dot product, so
/// that nodes which have much of what the pod needs little of are used up.
class DotProduct final : public Packing {
 public:
  explicit DotProduct(const ClusterSpec& cluster) : scale_(cluster) {}
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return scale_.cpu_parts(node.free.cpu_milli) * scale_.cpu_parts(demand.cpu_milli) +
           scale_.gpu_parts(free_gpu_milli(node)) * scale_.gpu_parts(demand.total_gpu_milli());
  }

 private:
  Scale scale_;
};

constexpr std::int64_t kTier =
    kWholeGpu * kNodeGpusMost * std::int64_t{10};  // above all scores in a tier

/// First on shared GPUs, then on idle GPUs of nodes at work, then on idle nodes. Pods without a GPU
/// go anywhere.
class GpuPacking final : public Packing {
 public:
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    if (demand.gpus == 0) return 0;
    const auto free = node.free.gpu_milli;
    const auto idle = std::count(free.begin(), free.end(), kWholeGpu);
    if (idle == static_cast<std::ptrdiff_t>(free.size())) return 2 * kTier + idle;
    std::int64_t left = 0;
    std::int64_t idle_taken = 0;
    for (GpuSet rest = fullest_gpus(free, demand); rest != 0; rest &= rest - 1) {
      const std::uint16_t gpu = free[static_cast<std::size_t>(std::countr_zero(rest))];
      idle_taken += gpu == kWholeGpu ? 1 : 0;
      left += gpu;
    }
    return idle_taken > 0 ? kTier + idle_taken : left;
  }
};

/// First among pods that ask for the same of GPUs and nothing else, then where such are among
/// others, then on nodes without GPU pods, then among others; each time where the least GPU share
/// is left. Pods without a GPU go anywhere.
class GpuClustering final : public Packing {
 public:
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    if (demand.gpus == 0) return 0;
    const auto kinds = std::count_if(node.pods.begin(), node.pods.end(),
                                     [](std::uint32_t pods) { return pods > 0; });
    const bool same = node.pods[demand.kind] > 0;
    const std::int64_t tier = same ? (kinds == 1 ? 0 : 1) : (kinds == 0 ? 2 : 3);
    return tier * kTier + free_gpu_milli(node);
  }
};

/// Any node, any GPU.
class Random final : public PackPolicy {
 public:
  std::int64_t score(const PackNode& /*node*/, const PodDemand& /*demand*/) const override {
    return 0;
  }
  GpuSet gpus(const PackNode& node, const PodDemand& demand, Rng& rng) const override {
    return any_gpus(node.free.gpu_milli, demand, rng);
  }
};

using Made = std::unique_ptr<PackPolicy>;
struct Entry {
  std::string_view name;
  Made (*make)(const ClusterSpec&, const Fragmentation&);
};
constexpr Entry kPolicies[] = {
    {"fgd",
     [](const ClusterSpec&, const Fragmentation& f) -> Made { return std::make_unique<Fgd>(f); }},
    {"best-fit",
     [](const ClusterSpec& c, const Fragmentation&) -> Made {
       return std::make_unique<BestFit>(c);
     }},
    {"dot-product",
     [](const ClusterSpec& c, const Fragmentation&) -> Made {
       return std::make_unique<DotProduct>(c);
     }},
    {"gpu-packing",
     [](const ClusterSpec&, const Fragmentation&) -> Made {
       return std::make_unique<GpuPacking>();
     }},
    {"gpu-clustering",
     [](const ClusterSpec&, const Fragmentation&) -> Made {
       return std::make_unique<GpuClustering>();
     }},
    {"random",
     [](const ClusterSpec&, const Fragmentation&) -> Made { return std::make_unique<Random>(); }},
    {"worst-fit",
     [](const ClusterSpec& c, const Fragmentation&) -> Made {
       return std::make_unique<WorstFit>(c);
     }},
};

}  // namespace

std::vector<std::string> pack_policy_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kPolicies) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<PackPolicy> make_pack_policy(std::string_view name, const ClusterSpec& cluster,
                                             const Fragmentation& fragmentation) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) return entry.make(cluster, fragmentation);
  }
  return nullptr;
}

}  // namespace starling
