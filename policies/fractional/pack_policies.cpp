// SPDX-License-Identifier: Apache-2.0
// Best fit and dot product as Weng et al. (USENIX ATC 2023) compare FGD with them, worst fit and
// random. CPUs and GPUs count relative to the largest node that there is; memory decides what fits
// and no score, as there.
#include <algorithm>
#include <cmath>

#include "policies/fractional/fgd.h"
#include "policies/fractional/gpu_choice.h"
#include "policies/fractional/gpu_tiers.h"
#include "policies/fractional/pack_policy.h"

namespace starling {
namespace {

/// What a resource is divided by.
struct Scale {
  double cpu = 1;
  double gpu = 1;

  explicit Scale(const ClusterSpec& cluster) {
    for (const NodeSpec& node : cluster.nodes) {
      cpu = std::max(cpu, static_cast<double>(node.cpu_milli));
      gpu = std::max(gpu, static_cast<double>(node.gpus) * kWholeGpu);
    }
  }
  /// What is left of the node once the pod is on it, CPUs and GPUs counting alike, from 0 to 1.
  [[nodiscard]] double rest(const PackNode& node, const PodDemand& demand) const {
    const auto cpu_left = static_cast<double>(node.free.cpu_milli - demand.cpu_milli);
    const auto gpu_left =
        static_cast<double>(node.free.total_gpu_milli() - demand.total_gpu_milli());
    return 0.5 * cpu_left / cpu + 0.5 * gpu_left / gpu;
  }
};

/// What is missing from 100 hundredths of 1 - `lost`, rounded down, as published scores are.
std::int64_t hundredths(double lost) {
  return 100 - static_cast<std::int64_t>(std::floor(100 * (1 - lost)));
}

/// On the fullest GPUs that the pod fits on.
class Packing : public PackPolicy {
 public:
  GpuSet gpus(const PackNode& node, const PodDemand& demand, Rng& /*rng*/) const override {
    return fullest_gpus(node.free.gpu_milli, demand);
  }
};

/// Where least is left afterwards.
class BestFit final : public Packing {
 public:
  explicit BestFit(const ClusterSpec& cluster) : scale_(cluster) {}
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return hundredths(scale_.rest(node, demand));
  }

 private:
  Scale scale_;
};

/// Where most is left, on the emptiest GPU. Not published: in millionths.
class WorstFit final : public PackPolicy {
 public:
  explicit WorstFit(const ClusterSpec& cluster) : scale_(cluster) {}
  std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return -std::llround(1e6 * scale_.rest(node, demand));
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
    const double cpu = static_cast<double>(node.free.cpu_milli) *
                       static_cast<double>(demand.cpu_milli) / (scale_.cpu * scale_.cpu);
    const double gpu = static_cast<double>(node.free.total_gpu_milli()) *
                       static_cast<double>(demand.total_gpu_milli()) / (scale_.gpu * scale_.gpu);
    return hundredths((cpu + gpu) / 2);
  }

 private:
  Scale scale_;
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
  bool draws_nodes() const override { return true; }
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
     [](const ClusterSpec& c, const Fragmentation&) -> Made {
       return std::make_unique<GpuClustering>(static_cast<std::int64_t>(Scale(c).gpu));
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
