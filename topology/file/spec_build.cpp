// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/limits.h"
#include "base/short_number.h"
#include "topology/builder.h"
#include "topology/file/gpu_speeds.h"
#include "topology/file/spec.h"

namespace starling {
namespace {

constexpr std::uint64_t kLinksMax = 8U << 20U;

// Replaces each {} by `number`.
std::string numbered(const std::string& pattern, std::size_t number) {
  std::string name = pattern;
  const std::string digits = std::to_string(number);
  for (std::size_t at = name.find("{}"); at != std::string::npos;
       at = name.find("{}", at + digits.size())) {
    name.replace(at, 2, digits);
  }
  return name;
}

class SpecBuilder {
 public:
  SpecBuilder(const TopologySpec& spec, Diagnostics& diagnostics)
      : spec_(spec), diagnostics_(diagnostics), builder_(spec.name) {}

  Result<Topology> build() {
    check_totals();
    if (diagnostics_.any()) return diagnostics_.error();
    for (const GpuType& type : spec_.gpu_types) builder_.gpu_type(type);
    for (const TopologySpec::Pod& pod : spec_.pods) {
      for (std::uint32_t i = 0; i < pod.count; ++i) add_pod(pod);
    }
    add_domains();
    set_gpu_speeds(spec_.gpu_speeds, builder_.parts().servers, diagnostics_);
    if (spec_.has_network) add_network();
    if (diagnostics_.any()) return diagnostics_.error();
    return std::move(builder_).build();
  }

 private:
  // In double, because counts nest and their product may pass 64 bits.
  void check_totals() {
    double servers = 0;
    double gpus = 0;
    double racks_all = 0;
    const double most = Limits{}.gpus_total;
    SourcePlace passed;
    for (const TopologySpec::Pod& pod : spec_.pods) {
      for (const TopologySpec::Rack& rack : pod.racks) {
        const double racks = static_cast<double>(pod.count) * rack.count;
        racks_all += racks;
        for (const TopologySpec::Servers& entry : rack.servers) {
          servers += racks * entry.count;
          gpus += racks * entry.count * entry.gpus;
          if (passed.line == 0 && std::max({gpus, servers, racks_all}) > most) passed = entry.place;
        }
      }
    }
    if (gpus > most || servers > most || racks_all > most) {
      diagnostics_.add(passed, "in all " + std::to_string(static_cast<long long>(gpus)) +
                                   " GPUs in " + std::to_string(static_cast<long long>(servers)) +
                                   " servers; at most " + std::to_string(Limits{}.gpus_total) +
                                   " of each are possible, so lower a count");
    }
  }

  void take_name(std::unordered_set<std::string>& names, const char* what, const std::string& name,
                 SourcePlace place) {
    if (!names.insert(name).second) {
      diagnostics_.add(place, std::string("the name '") + name + "' of a " + what +
                                  " occurs twice; put {} into the name, which becomes its number");
    }
  }

  void add_pod(const TopologySpec::Pod& pod) {
    take_name(tree_names_, "pod", builder_.begin_pod(numbered(pod.name, pods_++)), pod.place);
    const std::uint32_t first = next_server();
    for (const TopologySpec::Rack& rack : pod.racks) {
      for (std::uint32_t i = 0; i < rack.count; ++i) {
        take_name(tree_names_, "rack", builder_.begin_rack(numbered(rack.name, racks_++)),
                  rack.place);
        const std::uint32_t first_of_rack = next_server();
        for (const TopologySpec::Servers& servers : rack.servers) add_servers(servers);
        note_domain(first_of_rack, rack.scale_up_gbps, rack.place);
      }
    }
    note_domain(first, pod.scale_up_gbps, pod.place);
  }

  std::uint32_t next_server() {
    return static_cast<std::uint32_t>(builder_.parts().servers.size());
  }

  // The servers from `first` on, if they are a domain.
  void note_domain(std::uint32_t first, double gbps, SourcePlace place) {
    if (gbps > 0) domains_.push_back({{{first, next_server()}, gbps}, place});
  }

  void add_domains() {
    if (!spec_.domains.empty()) name_domains();
    const auto first = [](const PlacedDomain& d) { return d.domain.servers.first; };
    std::ranges::stable_sort(domains_, {}, first);
    std::uint32_t next = 0;
    for (const PlacedDomain& each : domains_) {
      const std::string wrong = wrong_with(each.domain, next);
      if (!wrong.empty()) {
        diagnostics_.add(each.place, wrong);
        return;  // what else is wrong is likely the same, times a count
      }
      next = each.domain.servers.last;
      builder_.parts().domains.push_back(each.domain);
    }
  }

  void name_domains() {
    std::map<std::string, std::uint32_t> index;
    const std::vector<Server>& servers = builder_.parts().servers;
    for (std::uint32_t s = 0; s < servers.size(); ++s) index.emplace(servers[s].name, s);
    for (const TopologySpec::Domain& each : spec_.domains) {
      const auto from = index.find(each.from);
      const auto to = index.find(each.to);
      for (const auto& [end, name] : {std::pair{from, &each.from}, std::pair{to, &each.to}}) {
        if (end != index.end()) continue;
        std::vector<std::string> names;
        names.reserve(servers.size());
        for (const Server& server : servers) names.push_back(server.name);
        diagnostics_.add(each.place, "a scale-up domain ends at '" + *name +
                                         "', which is no server" + suggestion(*name, names));
      }
      if (from == index.end() || to == index.end()) continue;
      if (to->second < from->second) {
        diagnostics_.add(each.place, "a scale-up domain goes from '" + each.from + "' back to '" +
                                         each.to + "'; write them in the order of the file");
        continue;
      }
      domains_.push_back({{{from->second, to->second + 1}, each.gbps}, each.place});
    }
  }

  // `next`: the first server that is in no domain yet.
  std::string wrong_with(const ScaleUpDomain& domain, std::uint32_t next) {
    const std::vector<Server>& servers = builder_.parts().servers;
    if (domain.servers.first < next)
      return "server '" + servers[domain.servers.first].name +
             "' is in two scale-up domains; leave one of them out";
    std::uint32_t with_gpus = 0;
    for (std::uint32_t s = domain.servers.first; s < domain.servers.last; ++s) {
      if (servers[s].gpus.size() == 0) continue;
      ++with_gpus;
      if (domain.gbps <= servers[s].nic_gbps)
        return "a scale-up domain of " + short_number(domain.gbps) +
               " Gbit/s a GPU is no faster than the network of its server '" + servers[s].name +
               "', nic_gbps " + short_number(servers[s].nic_gbps) + "; write more, or leave it out";
    }
    if (with_gpus > 1) return {};
    return "a scale-up domain has GPUs of " + std::to_string(with_gpus) + " server" +
           (with_gpus == 1 ? "" : "s") +
           "; write it where there are at least 2, and nvlink_gbps and island for those of one";
  }

  void add_servers(const TopologySpec::Servers& entry) {
    const std::uint32_t first = next_server();
    for (std::uint32_t i = 0; i < entry.count; ++i) {
      Server server = entry.like;
      server.name = entry.names.empty() ? numbered(entry.name, builder_.parts().servers.size())
                                        : entry.names[i];
      take_name(node_names_, "server", builder_.add_server(std::move(server), entry.gpus),
                entry.place);
    }
    note_domain(first, entry.scale_up_gbps, entry.place);
  }

  void add_network() {
    Topology::Parts& parts = builder_.parts();
    const NetworkSize size = size_of(spec_.plan, parts);
    if (size.links > kLinksMax || size.switches > kLinksMax) {
      diagnostics_.add(spec_.network_place,
                       "the network would have " + std::to_string(size.switches) +
                           " switches and " + std::to_string(size.links) + " links; at most " +
                           std::to_string(kLinksMax) + " are possible, so use fewer switches");
      return;
    }
    wire(spec_.plan, parts);
    if (spec_.plan.rack_switches == 0 && spec_.plan.rail_switches == 0) {
      for (std::uint32_t s = 0; s < parts.servers.size(); ++s) {
        parts.nodes.push_back({parts.servers[s].name, true, ServerId(s)});
      }
    }
    for (std::size_t i = parts.servers.size(); i < parts.nodes.size(); ++i) {
      take_name(node_names_, "switch", parts.nodes[i].name, spec_.network_place);
    }
    for (const TopologySpec::Switch& added : spec_.switches) {
      take_name(node_names_, "switch", added.name, added.place);
      parts.nodes.push_back({added.name, false, {}});
    }
    if (!spec_.links.empty()) add_links(parts);
  }

  void add_links(Topology::Parts& parts) {
    std::map<std::string, std::uint32_t> index;
    for (std::uint32_t i = 0; i < parts.nodes.size(); ++i) index.emplace(parts.nodes[i].name, i);
    for (const TopologySpec::Link& link : spec_.links) {
      const auto a = index.find(link.a);
      const auto b = index.find(link.b);
      for (const auto& [end, name] : {std::pair{a, &link.a}, std::pair{b, &link.b}}) {
        if (end != index.end()) continue;
        std::vector<std::string> names;
        for (const NetworkNode& node : parts.nodes) names.push_back(node.name);
        diagnostics_.add(link.place, "a link ends at '" + *name +
                                         "', which is no server and no switch" +
                                         suggestion(*name, names));
      }
      if (a == index.end() || b == index.end()) continue;
      if (a == b) {
        diagnostics_.add(link.place,
                         "a link goes from '" + link.a + "' to itself; name two different ends");
        continue;
      }
      parts.links.push_back({a->second, b->second, link.gbps, link.latency_us});
    }
  }

  struct PlacedDomain {
    ScaleUpDomain domain;
    SourcePlace place;
  };

  const TopologySpec& spec_;
  Diagnostics& diagnostics_;
  TopologyBuilder builder_;
  std::size_t pods_ = 0;
  std::size_t racks_ = 0;
  std::vector<PlacedDomain> domains_;
  std::unordered_set<std::string> tree_names_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

Result<Topology> build_spec(const TopologySpec& spec, Diagnostics& diagnostics) {
  return SpecBuilder(spec, diagnostics).build();
}

}  // namespace starling
