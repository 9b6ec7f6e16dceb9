#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/spec.h"

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
    Place passed;
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

  void claim(std::unordered_set<std::string>& names, const char* what, const std::string& name,
             Place place) {
    if (!names.insert(name).second) {
      diagnostics_.add(place, std::string("the name '") + name + "' of a " + what +
                                  " occurs twice; put {} into the name, which becomes its number");
    }
  }

  void add_pod(const TopologySpec::Pod& pod) {
    claim(tree_names_, "pod", builder_.begin_pod(numbered(pod.name, pods_++)), pod.place);
    for (const TopologySpec::Rack& rack : pod.racks) {
      for (std::uint32_t i = 0; i < rack.count; ++i) {
        claim(tree_names_, "rack", builder_.begin_rack(numbered(rack.name, racks_++)), rack.place);
        for (const TopologySpec::Servers& servers : rack.servers) add_servers(servers);
      }
    }
  }

  void add_servers(const TopologySpec::Servers& entry) {
    for (std::uint32_t i = 0; i < entry.count; ++i) {
      Server server = entry.like;
      server.name = entry.names.empty() ? numbered(entry.name, builder_.parts().servers.size())
                                        : entry.names[i];
      claim(node_names_, "server", builder_.add_server(std::move(server), entry.gpus), entry.place);
    }
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
      claim(node_names_, "switch", parts.nodes[i].name, spec_.network_place);
    }
    for (const TopologySpec::Switch& added : spec_.switches) {
      claim(node_names_, "switch", added.name, added.place);
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

  const TopologySpec& spec_;
  Diagnostics& diagnostics_;
  TopologyBuilder builder_;
  std::size_t pods_ = 0;
  std::size_t racks_ = 0;
  std::unordered_set<std::string> tree_names_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

Result<Topology> build_spec(const TopologySpec& spec, Diagnostics& diagnostics) {
  return SpecBuilder(spec, diagnostics).build();
}

}  // namespace starling
