// SPDX-License-Identifier: Apache-2.0
#include "interference/iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "interference/memory.h"
#include "interference/sync.h"
#include "interference/uplink.h"

namespace starling {
namespace {

double bytes_per_s(double gbps, double part) { return std::max(gbps, 1e-3) * 1e9 / 8 * part; }

double need(const JobProfile& job, const ModelProfile& model) {
  return job.cpus_per_gpu > 0 ? job.cpus_per_gpu : model.cpus_per_gpu;
}

// Of the batch that a worker has at the size asked for, what it has with so many GPUs.
double batch_part(const JobProfile& job, std::size_t gpus) {
  if (job.parameter_servers == 0 || job.asked == 0) return 1;
  return job.asked / static_cast<double>(gpus);
}

// CPUs of a job's parameter servers for each of its GPUs.
double server_cpus_per_gpu(const JobProfile& job, std::uint32_t servers, std::size_t gpus) {
  return job.server_cpus > 0 ? servers * job.server_cpus / static_cast<double>(gpus) : 0;
}

// The part of a placement that lies on a server.
std::span<const GpuId> on_server(const Placement& gpus, IndexRange server) {
  if (gpus.empty() || gpus.back().value < server.first || gpus.front().value >= server.last)
    return {};
  const auto first = std::lower_bound(gpus.begin(), gpus.end(), GpuId(server.first));
  return {first, std::lower_bound(first, gpus.end(), GpuId(server.last))};
}

// Of GPUs of one server, in units of their type.
double slowest_of(std::span<const GpuId> gpus, IndexRange server, std::span<const double> speeds) {
  double slowest = 1;
  if (speeds.empty()) return slowest;
  for (const GpuId gpu : gpus) slowest = std::min(slowest, speeds[gpu.value - server.first]);
  return slowest;
}

bool overlap(std::span<const GpuId> a, std::span<const GpuId> b) {
  if (b.front() > a.back() || b.back() < a.front()) return false;
  return std::any_of(a.begin(), a.end(),
                     [&](GpuId gpu) { return std::binary_search(b.begin(), b.end(), gpu); });
}

}  // namespace

// What goes on on one server.
struct IterationForm::HostLoad {
  double cpus = 0;          // that all ask
  double pressure = 0;      // of the neighbours on memory and PCIe, as a part of T_grad
  double sharing = 0;       // on the job's own GPUs, as a part of T_grad
  std::uint32_t gangs = 0;  // of the neighbours that leave the server
};

IterationForm::IterationForm(const Topology& topology, double pressure,
                             const Contention& contention, bool each_gpu)
    : topology_(topology), pressure_(pressure), contention_(&contention) {
  const std::vector<double> uplinks = uplink_share_gbps(topology_);
  hosts_.reserve(topology_.server_count());
  for (std::uint32_t i = 0; i < topology_.server_count(); ++i) {
    const Server& server = topology_.servers()[i];
    Host host;
    host.gpus = server.gpus;
    host.rack = topology_.rack_of(ServerId(i));
    host.island_gpus = std::max(server.gpus_per_island, 1U);
    if (server.gpus.size() > 0) {
      const GpuType& type = topology_.gpu_types()[server.gpu_type.value];
      host.kind = gpu_kind(type.name);
      host.gpu_memory_gib = type.memory_gib;
    }
    host.cpus = server.cpus;
    host.island = bytes_per_s(server.island_gbps, kIslandShare);
    host.pcie = bytes_per_s(server.server_gbps, kPcieShare);
    host.nic = bytes_per_s(server.nic_gbps, kNetworkShare);
    host.uplink = bytes_per_s(uplinks[i], kNetworkShare);
    if (each_gpu) host.gpu_speeds = server.gpu_speeds;
    host.exit = topology_.subtrees()[host.rack].servers.first;
    if (const std::uint32_t d = topology_.domain_of(ServerId(i)); d != Topology::kNoDomain) {
      const ScaleUpDomain& domain = topology_.domains()[d];
      host.domain = bytes_per_s(domain.gbps, kIslandShare);
      host.island = std::max(host.island, host.domain);
      host.pcie = std::max(host.pcie, host.domain);
      host.exit = std::min(host.exit, domain.servers.first);
    }
    hosts_.push_back(host);
  }
  collect_kinds();
}

void IterationForm::collect_kinds() {
  double top = 0;
  for (const Host& host : hosts_) {
    if (host.gpus.size() > 0) top = std::max(top, typical_speed(host.kind));
  }
  std::uint32_t rack = 0;
  std::uint32_t domain = Topology::kNoDomain;
  std::vector<std::uint32_t> in_rack;    // servers of each kind in the rack at hand
  std::vector<std::uint32_t> in_domain;  // and in the scale-up domain
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    const Host& host = hosts_[i];
    if (host.gpus.size() == 0 || typical_speed(host.kind) < top) continue;
    const auto alike = [&host](const Kind& kind) {
      const Host& other = kind.host;
      return other.kind == host.kind && other.gpus.size() == host.gpus.size() &&
             other.island_gpus == host.island_gpus && other.cpus == host.cpus &&
             other.island == host.island && other.pcie == host.pcie && other.nic == host.nic &&
             other.uplink == host.uplink && other.domain == host.domain;
    };
    auto kind = std::find_if(fastest_.begin(), fastest_.end(), alike);
    if (kind == fastest_.end()) kind = fastest_.insert(fastest_.end(), Kind{host, 0, 0, 0});
    if (host.rack != rack) in_rack.clear();
    rack = host.rack;
    in_rack.resize(fastest_.size());
    ++kind->servers;
    const auto at = static_cast<std::size_t>(kind - fastest_.begin());
    kind->servers_in_rack = std::max(kind->servers_in_rack, ++in_rack[at]);
    if (host.domain <= 0) continue;
    if (topology_.domain_of(ServerId(i)) != domain) in_domain.clear();
    domain = topology_.domain_of(ServerId(i));
    in_domain.resize(fastest_.size());
    kind->servers_in_domain = std::max(kind->servers_in_domain, ++in_domain[at]);
  }
}

bool IterationForm::leaves(const Placement& placement, std::size_t on_server) const {
  if (on_server == placement.size()) return false;
  return topology_.domains().empty() || topology_.tier_of(placement) >= Tier::rack;
}

IterationForm::HostLoad IterationForm::load_on(const Host& host, std::span<const GpuId> own,
                                               double own_cpus, double server_cpus,
                                               const ModelProfile& model,
                                               const Neighbours& beside) const {
  HostLoad load;
  double served = server_cpus * static_cast<double>(own.size());  // parameter servers', of all jobs
  thread_local std::vector<double>
      cpus;  // asked, by GPU; kept, so that a question allocates nothing
  cpus.assign(host.gpus.size(), 0);
  for (const GpuId gpu : own) cpus[gpu.value - host.gpus.first] = own_cpus;
  bool shares = false;
  for (const Neighbour& other : beside) {
    const std::span<const GpuId> here = on_server(other.placement, host.gpus);
    if (here.empty()) continue;
    const ModelProfile& its = model_profile(other.job.model);
    const double its_cpus = need(other.job, its);
    for (const GpuId gpu : here) {
      double& asked = cpus[gpu.value - host.gpus.first];
      asked = std::max(asked, its_cpus);
    }
    served += server_cpus_per_gpu(other.job, other.job.servers(), other.placement.size()) *
              static_cast<double>(here.size());
    load.pressure += pressure_ * model.gpu_utilization * its.gpu_utilization *
                     static_cast<double>(here.size()) / host.gpus.size();
    if (leaves(other.placement, here.size())) ++load.gangs;
    shares = shares || overlap(own, here);
  }
  load.cpus = std::accumulate(cpus.begin(), cpus.end(), served);
  if (shares) load.sharing = sharing_on(host, own, model, beside);
  return load;
}

double IterationForm::contention(const ModelProfile& model, double asked, double cores) const {
  return cores > 0 && asked > cores ? contention_->on_host(model, asked / cores) : 1.0;
}

// The most that the neighbours on one of `own` cost it.
double IterationForm::sharing_on(const Host& host, std::span<const GpuId> own,
                                 const ModelProfile& model, const Neighbours& beside) const {
  double most = 0;
  thread_local std::vector<const ModelProfile*> others;  // kept, as above
  for (const GpuId gpu : own) {
    others.clear();
    double memory_gib = model.memory_gib;
    for (const Neighbour& other : beside) {
      if (!std::binary_search(other.placement.begin(), other.placement.end(), gpu)) continue;
      const ModelProfile& its = model_profile(other.job.model);
      others.push_back(&its);
      memory_gib += its.memory_gib;
    }
    double cost = others.empty() ? 0 : contention_->on_gpu(model, others, host.kind);
    if (memory_gib > host.gpu_memory_gib && cost > 0) cost = std::max(cost, 1 / kThrashing - 1);
    most = std::max(most, cost);
  }
  return most;
}

double IterationForm::iteration_s(const JobProfile& job, const Placement& placement,
                                  const Neighbours& beside) const {
  return iteration_s(job, placement, beside, {batch_part(job, placement.size()), 1, 0});
}

double IterationForm::iteration_s(const JobProfile& job, const Placement& placement,
                                  const Neighbours& beside, const GradientWork& work,
                                  const NetworkShare* share) const {
  const ModelProfile& model = model_profile(job.model);
  const double cpus_per_gpu = need(job, model);
  const std::uint32_t servers = work.servers > 0 ? work.servers : job.parameter_servers;
  const double server_cpus = server_cpus_per_gpu(job, servers, placement.size());
  double served = 1;  // the part of their CPUs that parameter servers get, where it is least
  const Tier tier = topology_.tier_of(placement);
  double grad_s = 0;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  SyncPath path{kAny, kAny, tier};
  double uplink = 0;  // of all the job's servers that leave by the same
  double nics = 0;    // of all its servers in the domain at hand
  std::uint32_t exit = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t domain = Topology::kNoDomain;
  std::size_t exits = 0;  // domains, and servers of none
  const auto leave = [&] {
    if (share == nullptr && tier == Tier::network && uplink > 0)
      path.network = std::min(path.network, uplink);
  };
  for (std::size_t i = 0; i < placement.size();) {
    const ServerId server = topology_.server_of(placement[i]);
    const Host& host = hosts_[server.value];
    std::size_t end = i + 1;
    while (end < placement.size() && placement[end].value < host.gpus.last) ++end;
    const std::span<const GpuId> own = std::span(placement).subspan(i, end - i);
    const HostLoad load = load_on(host, own, cpus_per_gpu, server_cpus, model, beside);
    const double speed = speed_on(model, host.kind) * slowest_of(own, host.gpus, host.gpu_speeds);
    grad_s = std::max(grad_s, work.part * model.iteration_s / speed *
                                  contention(model, load.cpus, host.cpus) * (1 + load.pressure) *
                                  (1 + load.sharing));
    if (host.cpus > 0 && load.cpus > host.cpus) served = std::min(served, host.cpus / load.cpus);
    path.local = std::min(path.local, host.island);
    if (tier >= Tier::domain) path.local = std::min(path.local, host.pcie);
    const std::uint32_t its_domain = topology_.domain_of(server);
    if (its_domain == Topology::kNoDomain || its_domain != domain) {
      if (tier >= Tier::rack && exits > 0) path.network = std::min(path.network, nics);
      nics = 0;
      ++exits;
    } else {
      path.local = std::min(path.local, host.domain);
    }
    domain = its_domain;
    nics += host.nic / (1 + load.gangs);
    if (host.exit != exit) {
      leave();
      exit = host.exit;
      uplink = 0;
    }
    uplink += host.uplink;
    i = end;
  }
  leave();
  if (tier >= Tier::rack) path.network = std::min(path.network, nics);
  if (share != nullptr) {
    path.network = std::min(path.network, share->bytes_per_s);
    path.least_s = share->sync_s;
  }
  const double step_s =
      (work.gradients - 1) * grad_s +
      synced_s(model, grad_s, placement.size(), exits, {servers, job.server_cpus * served}, path);
  return share != nullptr ? std::max(step_s, share->step_s) : step_s;
}

IterationForm::Exchange IterationForm::exchange_alone(const JobProfile& job,
                                                      const Placement& placement,
                                                      double bytes_per_s_max) const {
  double least = bytes_per_s_max;
  std::size_t exits = 0;
  for (std::size_t i = 0; i < placement.size(); ++exits) {
    const std::uint32_t domain = topology_.domain_of(topology_.server_of(placement[i]));
    double nics = 0;
    do {
      const Host& host = hosts_[topology_.server_of(placement[i]).value];
      nics += host.nic;
      while (i < placement.size() && placement[i].value < host.gpus.last) ++i;
    } while (i < placement.size() && domain != Topology::kNoDomain &&
             topology_.domain_of(topology_.server_of(placement[i])) == domain);
    least = std::min(least, nics);
  }
  const NetworkShare share{least, 0, 0};
  const double part = batch_part(job, placement.size());
  return {network_bytes(model_profile(job.model), placement.size(), exits,
                        {job.parameter_servers, job.server_cpus}),
          least, iteration_s(job, placement, {}, {0, 1, 0}, &share),
          iteration_s(job, placement, {}, {part, 1, 0}, &share)};
}

double IterationForm::kind_s(const Kind& kind, const JobProfile& job, const ModelProfile& model,
                             std::uint32_t gpus) const {
  const Host& host = kind.host;
  const double cpus_per_gpu = need(job, model);
  const double server_cpus = server_cpus_per_gpu(job, job.parameter_servers, gpus);
  const double alone_s = batch_part(job, gpus) * model.iteration_s / speed_on(model, host.kind);
  const double pcie = std::min(host.island, host.pcie);
  const std::uint32_t in_domain = std::max(kind.servers_in_domain, 1U);
  const double inside = in_domain > 1 ? host.domain : pcie;  // of servers that leave together
  // With on_one GPUs on each server.
  const auto at = [&](std::uint32_t on_one, double local, double network, Tier tier) {
    const double cpus = on_one * (cpus_per_gpu + server_cpus);
    const double served = host.cpus > 0 ? std::min(1.0, host.cpus / cpus) : 1;
    return synced_s(model, alone_s * contention(model, cpus, host.cpus), gpus,
                    (gpus + on_one * in_domain - 1) / (on_one * in_domain),
                    {job.parameter_servers, job.server_cpus * served}, {local, network, tier});
  };
  double best = std::numeric_limits<double>::infinity();
  if (gpus <= host.island_gpus) {
    best = at(gpus, host.island, 0, Tier::island);
  } else if (gpus <= host.gpus.size()) {
    best = at(gpus, pcie, 0, host.domain > 0 ? Tier::domain : Tier::server);
  }
  if (gpus == 1) return best;
  // Spread as thinly as one rack, or else the data centre, allows: pays where cores are short.
  const auto thinly = [&](std::uint32_t servers) {
    return std::min((gpus + servers - 1) / servers, host.gpus.size());
  };
  if (in_domain > 1 && gpus <= in_domain * host.gpus.size())
    best = std::min(best, at(thinly(in_domain), host.domain, 0, Tier::domain));
  const std::uint32_t rack_gpus = kind.servers_in_rack * host.gpus.size();
  if (kind.servers_in_rack > 1 && gpus <= rack_gpus)
    best =
        std::min(best, at(thinly(kind.servers_in_rack), inside, host.nic * in_domain, Tier::rack));
  if (kind.servers > kind.servers_in_rack || best == std::numeric_limits<double>::infinity()) {
    const double network =
        std::min(host.nic * in_domain, host.uplink * std::max(kind.servers_in_rack, in_domain));
    best = std::min(best, at(thinly(kind.servers), inside, network, Tier::network));
  }
  return best;
}

double IterationForm::best_s(const JobProfile& job, std::uint32_t gpus) const {
  const ModelProfile& model = model_profile(job.model);
  double best = std::numeric_limits<double>::infinity();
  for (const Kind& kind : fastest_) best = std::min(best, kind_s(kind, job, model, gpus));
  return best;
}

double IterationForm::scaling(const JobProfile& job) const {
  if (job.asked == 0 || job.asked == job.gpus || job.gpus == 0) return 1;
  JobProfile as_asked = job;
  as_asked.gpus = job.asked;
  const double size = linear_scaling(job);
  const bool servers = job.parameter_servers > 0;
  if (servers) {
    as_asked.parameter_servers =
        job.asked_servers > 0
            ? job.asked_servers
            : std::max(1U, static_cast<std::uint32_t>(std::lround(job.parameter_servers / size)));
  }
  const double iterations = best_s(as_asked, job.asked) / best_s(job, job.gpus);
  return servers ? iterations : size * iterations;
}

double IterationForm::relative(const JobProfile& job, const Placement& placement,
                               const Neighbours& beside, const NetworkShare* share) const {
  if (placement.empty()) return 1;
  const double best = best_s(job, static_cast<std::uint32_t>(placement.size()));
  const GradientWork work{batch_part(job, placement.size()), 1, 0};
  return std::min(1.0, best / iteration_s(job, placement, beside, work, share));
}

}  // namespace starling
