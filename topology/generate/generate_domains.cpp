// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "topology/generate/generate_parts.h"

namespace starling {
namespace {

constexpr std::uint32_t kTraysOfRack = 18;

Error invalid(std::string message) { return {Errc::invalid, std::move(message)}; }

// `per_domain` servers each. The rest of them, if it is one server, is in none.
Result<Topology> with_domains(const GeneratorOptions& o, const std::string& kind,
                              GeneratedShape shape, std::uint64_t per_domain) {
  if (o.scale_up_gbps < 0) return invalid("the speed of a scale-up domain must be at least 0");
  const double gbps = o.scale_up_gbps > 0 ? o.scale_up_gbps : o.nvlink_gbps;
  if (gbps <= o.nic_gbps) {
    return invalid(
        "a scale-up domain must be faster than the network: its Gbit/s a GPU are no "
        "more than those of a server's NICs");
  }
  const auto network = leaf_spine_network(o);
  if (!network) return network.error();
  TopologyBuilder builder = lay_out(o, kind, shape);
  const auto servers = static_cast<std::uint32_t>(servers_of(o));
  for (std::uint64_t first = 0; first + 1 < servers; first += per_domain) {
    const auto last =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(servers, first + per_domain));
    if (last - first > 1)
      builder.parts().domains.push_back({{static_cast<std::uint32_t>(first), last}, gbps});
  }
  return std::move(builder).build(network.value());
}

}  // namespace

Result<Topology> generate_nvl72(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  constexpr std::uint32_t racks_max = 65'536;
  if (o.racks == 0 || o.racks > racks_max) return invalid("an nvl72 has 1 to 65536 racks");
  o.server_template = "gb200-nvl72";
  o.servers_per_rack = kTraysOfRack;
  o.servers = o.racks * kTraysOfRack;
  o.groups.clear();
  if (auto error = settle(o)) return *error;
  return with_domains(o, "nvl72", {kTraysOfRack, o.racks}, kTraysOfRack);
}

Result<Topology> generate_torus_pods(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  if (o.racks_per_pod == 0) return invalid("a pod has at least 1 rack");
  const std::uint64_t pod = std::uint64_t{o.servers_per_rack} * o.racks_per_pod;
  if (pod < 2) return invalid("a pod of one server has no torus; use more servers or racks");
  return with_domains(o, "torus-pods", {o.servers_per_rack, o.racks_per_pod}, pod);
}

}  // namespace starling
