#include "interference/iteration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "interference/gpu_speed.h"
#include "interference/uplink.h"

namespace starling {
namespace {

// Part of the nominal bandwidth that an all-reduce gets. Network: Pollux' measured sync times over
// the 5 Gbit/s that one flow gets between its EC2 servers. PCIe: its 4-GPU servers, copies through
// host memory. NVLink: assumed as the network.
constexpr double kIslandShare = 0.7;
constexpr double kPcieShare = 0.4;
constexpr double kNetworkShare = 0.7;
// Of one step of the ring, by tier; usual figures of NCCL over NVLink, PCIe and RDMA.
constexpr std::array<double, kTiers> kStepLatency = {5e-6, 10e-6, 25e-6, 40e-6};

double bytes_per_s(double gbps, double part) { return std::max(gbps, 1e-3) * 1e9 / 8 * part; }

double sync_s(const ModelProfile& model, std::size_t gpus, double bandwidth, Tier tier) {
  const auto n = static_cast<double>(gpus);
  return 2 * (n - 1) / n * model.gradient_mib * 1048576.0 / bandwidth +
         2 * (n - 1) * kStepLatency[static_cast<std::size_t>(tier)];
}

double overlapped(double grad_s, double sync) { return std::sqrt(grad_s * grad_s + sync * sync); }

double need(const JobProfile& job, const ModelProfile& model) {
  return job.cpus_per_gpu > 0 ? job.cpus_per_gpu : model.cpus_per_gpu;
}

double contention(double asked, double cores) {
  return cores > 0 ? std::max(1.0, asked / cores) : 1.0;
}

}  // namespace

// What the neighbours do on one server.
struct IterationForm::Crowd {
  double cpus = 0;          // that they ask
  double pressure = 0;      // on memory and PCIe, as a part of T_grad
  std::uint32_t gangs = 0;  // of them that leave the server
};

IterationForm::IterationForm(const Topology& topology, double pressure)
    : topology_(topology), pressure_(pressure) {
  const std::vector<double> uplinks = uplink_share_gbps(topology_);
  hosts_.reserve(topology_.server_count());
  for (std::uint32_t i = 0; i < topology_.server_count(); ++i) {
    const Server& server = topology_.servers()[i];
    Host host;
    host.gpus = server.gpus;
    host.rack = topology_.rack_of(ServerId(i));
    host.island_gpus = std::max(server.gpus_per_island, 1U);
    if (server.gpus.size() > 0)
      host.factor = gpu_speed_factor(topology_.gpu_types()[server.gpu_type.value].name);
    host.cpus = server.cpus;
    host.island = bytes_per_s(server.island_gbps, kIslandShare);
    host.pcie = bytes_per_s(server.server_gbps, kPcieShare);
    host.nic = bytes_per_s(server.nic_gbps, kNetworkShare);
    host.uplink = bytes_per_s(uplinks[i], kNetworkShare);
    hosts_.push_back(host);
  }
  collect_kinds();
}

void IterationForm::collect_kinds() {
  double top = 0;
  for (const Host& host : hosts_) {
    if (host.gpus.size() > 0) top = std::max(top, host.factor);
  }
  std::uint32_t rack = 0;
  std::vector<std::uint32_t> in_rack;  // servers of each kind in the rack at hand
  for (const Host& host : hosts_) {
    if (host.gpus.size() == 0 || host.factor < top) continue;
    const auto alike = [&host](const Kind& kind) {
      const Host& other = kind.host;
      return other.gpus.size() == host.gpus.size() && other.island_gpus == host.island_gpus &&
             other.cpus == host.cpus && other.island == host.island && other.pcie == host.pcie &&
             other.nic == host.nic && other.uplink == host.uplink;
    };
    auto kind = std::find_if(fastest_.begin(), fastest_.end(), alike);
    if (kind == fastest_.end()) kind = fastest_.insert(fastest_.end(), Kind{host, 0, 0});
    if (host.rack != rack) in_rack.clear();
    rack = host.rack;
    in_rack.resize(fastest_.size());
    ++kind->servers;
    std::uint32_t& here = in_rack[static_cast<std::size_t>(kind - fastest_.begin())];
    kind->servers_in_rack = std::max(kind->servers_in_rack, ++here);
  }
}

IterationForm::Crowd IterationForm::crowd_on(const Host& host, const ModelProfile& model,
                                             const Neighbours& beside) const {
  Crowd crowd;
  for (const Neighbour& other : beside) {
    const Placement& gpus = other.placement;
    if (gpus.empty() || gpus.back().value < host.gpus.first || gpus.front().value >= host.gpus.last)
      continue;
    const auto first = std::lower_bound(gpus.begin(), gpus.end(), GpuId(host.gpus.first));
    const auto last = std::lower_bound(first, gpus.end(), GpuId(host.gpus.last));
    if (first == last) continue;
    const auto count = static_cast<double>(last - first);
    const ModelProfile& its = model_profile(other.job.model);
    crowd.cpus += count * need(other.job, its);
    crowd.pressure +=
        pressure_ * model.gpu_utilization * its.gpu_utilization * count / host.gpus.size();
    if (first != gpus.begin() || last != gpus.end()) ++crowd.gangs;
  }
  return crowd;
}

double IterationForm::iteration_s(const JobProfile& job, const Placement& placement,
                                  const Neighbours& beside) const {
  const ModelProfile& model = model_profile(job.model);
  const double cpus_per_gpu = need(job, model);
  const Tier tier = topology_.tier_of(placement);
  double grad_s = 0;
  double bandwidth = std::numeric_limits<double>::infinity();
  double uplink = 0;  // of the rack at hand, all the job's servers in it
  std::uint32_t rack = std::numeric_limits<std::uint32_t>::max();
  const auto leave_rack = [&] {
    if (tier == Tier::network && uplink > 0) bandwidth = std::min(bandwidth, uplink);
  };
  for (std::size_t i = 0; i < placement.size();) {
    const Host& host = hosts_[topology_.server_of(placement[i]).value];
    std::size_t end = i + 1;
    while (end < placement.size() && placement[end].value < host.gpus.last) ++end;
    const Crowd crowd = crowd_on(host, model, beside);
    const double asked = static_cast<double>(end - i) * cpus_per_gpu + crowd.cpus;
    grad_s = std::max(grad_s, model.iteration_s / host.factor * contention(asked, host.cpus) *
                                  (1 + crowd.pressure));
    bandwidth = std::min(bandwidth, host.island);
    if (tier >= Tier::server) bandwidth = std::min(bandwidth, host.pcie);
    if (tier >= Tier::rack) bandwidth = std::min(bandwidth, host.nic / (1 + crowd.gangs));
    if (host.rack != rack) {
      leave_rack();
      rack = host.rack;
      uplink = 0;
    }
    uplink += host.uplink;
    i = end;
  }
  leave_rack();
  if (placement.size() < 2) return grad_s;
  return overlapped(grad_s, sync_s(model, placement.size(), bandwidth, tier));
}

double IterationForm::kind_s(const Kind& kind, const ModelProfile& model, double cpus_per_gpu,
                             std::uint32_t gpus) const {
  const Host& host = kind.host;
  const auto grad = [&](std::uint32_t on_one) {
    return model.iteration_s / host.factor * contention(on_one * cpus_per_gpu, host.cpus);
  };
  if (gpus == 1) return grad(1);
  const double pcie = std::min(host.island, host.pcie);
  const double nic = std::min(pcie, host.nic);
  double best = std::numeric_limits<double>::infinity();
  if (gpus <= host.island_gpus) {
    best = overlapped(grad(gpus), sync_s(model, gpus, host.island, Tier::island));
  } else if (gpus <= host.gpus.size()) {
    best = overlapped(grad(gpus), sync_s(model, gpus, pcie, Tier::server));
  }
  // Spread as thinly as one rack, or else the data centre, allows: pays where cores are short.
  const auto thinly = [&](std::uint32_t servers) {
    return std::min((gpus + servers - 1) / servers, host.gpus.size());
  };
  const std::uint32_t rack_gpus = kind.servers_in_rack * host.gpus.size();
  if (kind.servers_in_rack > 1 && gpus <= rack_gpus) {
    best = std::min(
        best, overlapped(grad(thinly(kind.servers_in_rack)), sync_s(model, gpus, nic, Tier::rack)));
  }
  if (kind.servers > kind.servers_in_rack || best == std::numeric_limits<double>::infinity()) {
    const double rack_uplink = host.uplink * kind.servers_in_rack;
    best =
        std::min(best, overlapped(grad(thinly(kind.servers)),
                                  sync_s(model, gpus, std::min(nic, rack_uplink), Tier::network)));
  }
  return best;
}

double IterationForm::best_s(const JobProfile& job, std::uint32_t gpus) const {
  const ModelProfile& model = model_profile(job.model);
  const double cpus_per_gpu = need(job, model);
  double best = std::numeric_limits<double>::infinity();
  for (const Kind& kind : fastest_) best = std::min(best, kind_s(kind, model, cpus_per_gpu, gpus));
  return best;
}

double IterationForm::relative(const JobProfile& job, const Placement& placement,
                               const Neighbours& beside) const {
  if (placement.empty()) return 1;
  const double best = best_s(job, static_cast<std::uint32_t>(placement.size()));
  return std::min(1.0, best / iteration_s(job, placement, beside));
}

}  // namespace starling
