// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "topology/routes.h"

namespace starling {

const char* name_of(Level level) noexcept {
  constexpr const char* names[] = {"data centre", "pod", "rack", "server", "island", "gpu"};
  return names[static_cast<std::size_t>(level)];
}

const char* name_of(Tier tier) noexcept {
  constexpr const char* names[] = {"island", "domain", "server", "rack", "network"};
  return names[static_cast<std::size_t>(tier)];
}

struct Topology::Data {
  Parts parts;
  std::vector<std::uint32_t> server_of_gpu;
  std::vector<std::uint32_t> island_of_gpu;
  std::vector<std::uint32_t> rack_of_server;
  std::vector<std::uint32_t> pod_of_server;
  std::vector<std::uint32_t> domain_of_server;  // empty: there are no domains
  std::once_flag routes_once;
  std::unique_ptr<RouteTable> routes;
};

namespace {

// Index into server.switches of the GPU with that number within the server.
std::uint32_t switch_at(const Server& server, std::uint32_t gpu) {
  std::uint32_t at = 0;
  for (std::uint32_t below = 0; at + 1 < server.switches.size(); ++at) {
    below += server.switches[at].gpus;
    if (gpu < below) break;
  }
  return at;
}

void check_switches(const Server& server) {
  std::uint32_t gpus = 0;
  std::uint32_t socket = 0;
  for (const PcieSwitch& below : server.switches) {
    STARLING_CHECK(below.gpus > 0 && below.socket >= socket);
    gpus += below.gpus;
    socket = below.socket;
  }
  STARLING_CHECK(server.switches.empty() ? !server.switch_islands : gpus == server.gpus.size());
}

void check_servers(const Topology::Parts& parts) {
  std::uint32_t next_gpu = 0;
  for (const Server& server : parts.servers) {
    STARLING_CHECK(server.gpus.first == next_gpu && server.gpus.last >= server.gpus.first);
    STARLING_CHECK(server.gpus_per_island > 0);
    STARLING_CHECK(server.gpu_speeds.empty() || server.gpu_speeds.size() == server.gpus.size());
    check_switches(server);
    STARLING_CHECK(server.gpus.size() == 0 || server.gpu_type.value < parts.gpu_types.size());
    next_gpu = server.gpus.last;
  }
}

// Depth-first with parents first, racks inside pods inside the root, and a parent's servers are
// exactly those of its children, in order.
void check_tree(const Topology::Parts& parts) {
  const std::vector<Subtree>& trees = parts.subtrees;
  STARLING_CHECK(!trees.empty() && trees[0].level == Level::data_center && trees[0].parent == 0);
  STARLING_CHECK(trees[0].servers ==
                 (IndexRange{0, static_cast<std::uint32_t>(parts.servers.size())}));
  std::vector<std::uint32_t> covered(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const Subtree& tree = trees[i];
    STARLING_CHECK(tree.servers.first <= tree.servers.last);
    STARLING_CHECK(tree.servers.last <= parts.servers.size());
    covered[i] = tree.servers.first;
    if (tree.servers.size() > 0) {
      STARLING_CHECK(tree.gpus.first == parts.servers[tree.servers.first].gpus.first);
      STARLING_CHECK(tree.gpus.last == parts.servers[tree.servers.last - 1].gpus.last);
    }
    if (i == 0) continue;
    STARLING_CHECK(tree.parent < i);
    STARLING_CHECK(tree.level == Level::pod || tree.level == Level::rack);
    STARLING_CHECK(trees[tree.parent].level ==
                   (tree.level == Level::pod ? Level::data_center : Level::pod));
    STARLING_CHECK(tree.servers.first == covered[tree.parent]);
    covered[tree.parent] = tree.servers.last;
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    STARLING_CHECK(trees[i].level == Level::rack || covered[i] == trees[i].servers.last);
  }
}

void check_domains(const Topology::Parts& parts) {
  std::uint32_t next = 0;
  for (const ScaleUpDomain& domain : parts.domains) {
    STARLING_CHECK(domain.servers.first >= next && domain.servers.last <= parts.servers.size());
    STARLING_CHECK(std::isfinite(domain.gbps) && domain.gbps > 0);
    std::uint32_t with_gpus = 0;
    for (std::uint32_t s = domain.servers.first; s < domain.servers.last; ++s)
      with_gpus += parts.servers[s].gpus.size() > 0 ? 1 : 0;
    STARLING_CHECK(with_gpus > 1);
    next = domain.servers.last;
  }
}

void check_network(const Topology::Parts& parts) {
  const std::size_t servers = parts.servers.size();
  STARLING_CHECK(parts.nodes.empty() || parts.nodes.size() >= servers);
  for (std::size_t i = 0; i < parts.nodes.size(); ++i) {
    STARLING_CHECK(parts.nodes[i].is_server == (i < servers));
    STARLING_CHECK(i >= servers || parts.nodes[i].server.value == i);
  }
  for (const NetworkLink& link : parts.links) {
    STARLING_CHECK(link.a < parts.nodes.size() && link.b < parts.nodes.size() && link.a != link.b);
    STARLING_CHECK(std::isfinite(link.gbps) && link.gbps > 0);
    STARLING_CHECK(std::isfinite(link.latency_us) && link.latency_us >= 0);
  }
}

}  // namespace

Topology::Topology(Parts parts) : data_(std::make_shared<Data>()) {
  check_servers(parts);
  check_tree(parts);
  check_domains(parts);
  check_network(parts);
  Data& data = *data_;
  data.parts = std::move(parts);
  const std::vector<Server>& servers = data.parts.servers;
  data.rack_of_server.resize(servers.size());
  data.pod_of_server.resize(servers.size());
  for (std::uint32_t i = 0; i < data.parts.subtrees.size(); ++i) {
    const Subtree& tree = data.parts.subtrees[i];
    if (tree.level == Level::data_center) continue;
    auto& of_server = tree.level == Level::pod ? data.pod_of_server : data.rack_of_server;
    std::fill(of_server.begin() + tree.servers.first, of_server.begin() + tree.servers.last, i);
  }
  if (!data.parts.domains.empty()) data.domain_of_server.assign(servers.size(), kNoDomain);
  for (std::uint32_t d = 0; d < data.parts.domains.size(); ++d) {
    const IndexRange range = data.parts.domains[d].servers;
    std::fill(data.domain_of_server.begin() + range.first,
              data.domain_of_server.begin() + range.last, d);
  }
  const std::uint32_t gpus = servers.empty() ? 0 : servers.back().gpus.last;
  data.server_of_gpu.reserve(gpus);
  data.island_of_gpu.reserve(gpus);
  std::uint32_t islands = 0;
  for (std::uint32_t s = 0; s < servers.size(); ++s) {
    const std::uint32_t count = servers[s].gpus.size();
    const std::uint32_t per_island = servers[s].gpus_per_island;
    for (std::uint32_t g = 0; g < count; ++g) {
      data.server_of_gpu.push_back(s);
      data.island_of_gpu.push_back(
          islands + (servers[s].switch_islands ? switch_at(servers[s], g) : g / per_island));
    }
    islands += servers[s].switch_islands ? static_cast<std::uint32_t>(servers[s].switches.size())
                                         : count / per_island + (count % per_island != 0 ? 1 : 0);
  }
}

const Topology::Parts& Topology::parts() const noexcept { return data_->parts; }
const std::string& Topology::name() const noexcept { return data_->parts.name; }
std::uint32_t Topology::gpu_count() const noexcept {
  return static_cast<std::uint32_t>(data_->server_of_gpu.size());
}
std::uint32_t Topology::server_count() const noexcept {
  return static_cast<std::uint32_t>(data_->parts.servers.size());
}
std::span<const GpuType> Topology::gpu_types() const noexcept { return data_->parts.gpu_types; }
std::span<const Server> Topology::servers() const noexcept { return data_->parts.servers; }
const Server& Topology::server(ServerId id) const noexcept {
  STARLING_CHECK(id.value < data_->parts.servers.size());
  return data_->parts.servers[id.value];
}
std::span<const Subtree> Topology::subtrees() const noexcept { return data_->parts.subtrees; }
std::span<const ScaleUpDomain> Topology::domains() const noexcept { return data_->parts.domains; }
std::span<const NetworkNode> Topology::network_nodes() const noexcept { return data_->parts.nodes; }
std::span<const NetworkLink> Topology::network_links() const noexcept { return data_->parts.links; }

ServerId Topology::server_of(GpuId gpu) const noexcept {
  STARLING_CHECK(gpu.value < data_->server_of_gpu.size());
  return ServerId(data_->server_of_gpu[gpu.value]);
}
std::uint32_t Topology::rack_of(ServerId server) const noexcept {
  STARLING_CHECK(server.value < data_->rack_of_server.size());
  return data_->rack_of_server[server.value];
}
std::uint32_t Topology::pod_of(ServerId server) const noexcept {
  STARLING_CHECK(server.value < data_->pod_of_server.size());
  return data_->pod_of_server[server.value];
}
std::uint32_t Topology::domain_of(ServerId server) const noexcept {
  if (data_->domain_of_server.empty()) return kNoDomain;
  STARLING_CHECK(server.value < data_->domain_of_server.size());
  return data_->domain_of_server[server.value];
}
std::uint32_t Topology::island_of(GpuId gpu) const noexcept {
  STARLING_CHECK(gpu.value < data_->island_of_gpu.size());
  return data_->island_of_gpu[gpu.value];
}
GpuTypeId Topology::type_of(GpuId gpu) const noexcept {
  return data_->parts.servers[server_of(gpu).value].gpu_type;
}
std::uint32_t Topology::switch_of(GpuId gpu) const noexcept {
  const Server& of = server(server_of(gpu));
  return switch_at(of, gpu.value - of.gpus.first);
}
double Topology::gpu_speed(GpuId gpu) const noexcept {
  const Server& of = server(server_of(gpu));
  return of.gpu_speeds.empty() ? 1 : of.gpu_speeds[gpu.value - of.gpus.first];
}

std::uint32_t Topology::socket_of(GpuId gpu) const noexcept {
  const Server& of = server(server_of(gpu));
  return of.switches.empty() ? 0 : of.switches[switch_of(gpu)].socket;
}

Tier Topology::tier_of(std::span<const GpuId> gpus) const noexcept {
  Tier tier = Tier::island;
  if (gpus.empty()) return tier;
  const ServerId server = server_of(gpus[0]);
  const std::uint32_t island = island_of(gpus[0]);
  const std::uint32_t rack = rack_of(server);
  const std::uint32_t domain = domain_of(server);
  for (const GpuId gpu : gpus.subspan(1)) {
    if (island_of(gpu) == island) continue;
    const ServerId other = server_of(gpu);
    if (domain != kNoDomain && domain_of(other) == domain) {
      tier = std::max(tier, Tier::domain);
    } else if (other == server) {
      tier = std::max(tier, Tier::server);
    } else if (rack_of(other) == rack) {
      tier = std::max(tier, Tier::rack);
    } else {
      return Tier::network;
    }
  }
  return tier;
}

Route Topology::route(ServerId from, ServerId to) const {
  Data& data = *data_;
  STARLING_CHECK(from.value < data.parts.servers.size() && to.value < data.parts.servers.size());
  if (from == to || data.parts.nodes.empty()) return {};
  std::call_once(data.routes_once, [&data] {
    data.routes = std::make_unique<RouteTable>(data.parts.nodes.size(), data.parts.links);
  });
  return data.routes->find(from.value, to.value);
}

}  // namespace starling
