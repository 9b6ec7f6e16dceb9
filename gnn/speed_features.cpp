#include "gnn/speed_features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "interference/gpu_speed.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

double cpus_of(const JobProfile& job) {
  return job.cpus_per_gpu > 0 ? job.cpus_per_gpu : model_profile(job.model).cpus_per_gpu;
}

struct HostUse {
  double cpus = 0;
  double neighbour_gpus = 0;
};

}  // namespace

std::array<float, kSpeedFeatures> speed_features(const Topology& topology, const JobProfile& job,
                                                 const Placement& placement,
                                                 const Neighbours& beside) {
  const ModelProfile& model = model_profile(job.model);
  std::map<ServerId, HostUse> hosts;
  double slowest = 1e9;
  for (const GpuId gpu : placement) {
    hosts[topology.server_of(gpu)].cpus += cpus_of(job);
    slowest =
        std::min(slowest, gpu_speed_factor(topology.gpu_types()[topology.type_of(gpu).value].name));
  }
  double fastest = 1e-9;
  for (const GpuType& type : topology.gpu_types())
    fastest = std::max(fastest, gpu_speed_factor(type.name));

  double near = 0, leaving = 0;
  for (const Neighbour& other : beside) {
    bool meets = false, leaves = false;
    for (const GpuId gpu : other.placement) {
      const ServerId server = topology.server_of(gpu);
      leaves = leaves || server != topology.server_of(other.placement.front());
      const auto host = hosts.find(server);
      if (host == hosts.end()) continue;
      meets = true;
      host->second.cpus += cpus_of(other.job);
      host->second.neighbour_gpus += 1;
    }
    near += meets ? 1 : 0;
    leaving += meets && leaves ? 1 : 0;
  }
  double cpu_ratio = 0, gpu_share = 0, nic_gbps = 1e6;
  for (const auto& [id, use] : hosts) {
    const Server& server = topology.server(id);
    cpu_ratio = std::max(cpu_ratio, use.cpus / std::max(server.cpus, 1.0));
    nic_gbps = std::min(nic_gbps, std::max(server.nic_gbps, 0.1));
    gpu_share = std::max(gpu_share, use.neighbour_gpus / std::max(server.gpus.size(), 1U));
  }

  std::array<double, kSpeedFeatures> x{};
  x[0] = std::log2(std::max<double>(static_cast<double>(placement.size()), 1));
  x[1] = std::log10(model.iteration_s);
  x[2] = std::log10(model.gradient_mib);
  x[3] = model.gpu_utilization;
  x[4 + static_cast<std::size_t>(topology.tier_of(placement))] = 1;
  x[8] = std::log2(std::max<double>(static_cast<double>(hosts.size()), 1));
  x[9] = placement.empty() ? 1 : slowest / fastest;
  x[10] = std::log2(1 + near);
  x[11] = std::log2(1 + leaving);
  x[12] = std::min(cpu_ratio, 4.0);
  x[13] = gpu_share;
  x[14] = std::log10(nic_gbps);
  std::array<float, kSpeedFeatures> out{};
  std::transform(x.begin(), x.end(), out.begin(), [](double v) { return static_cast<float>(v); });
  return out;
}

}  // namespace starling
