// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/file/gpu_speeds.h"
#include "topology/file/spec.h"
#include "topology/generate/server_templates.h"
#include "topology/gpu_catalogue.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

constexpr std::uint32_t kGpusPerServerMax = 256;
constexpr std::uint32_t kSwitchesMax = 4096;  // of one rule: per rack, per pod, in the core
constexpr std::uint32_t kNicsMax = 256;
constexpr double kGbpsMin = 0.001;
constexpr double kGbpsMax = 1e6;
constexpr double kLatencyUsMax = 1e6;
constexpr std::size_t kGpuTypesMax = 1024;

struct Template {
  Server like;
  std::uint32_t gpus = 0;
};

class SpecReader {
 public:
  explicit SpecReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  TopologySpec read(const YAML::Node& root, const std::string& default_name) {
    const YamlMap top(diagnostics_, root, "the topology",
                      {"name", "gpu_types", "server_templates", "pods", "racks", "servers",
                       "scale_up_domains", "gpu_speeds", "network"});
    if (!root.IsMap()) return std::move(spec_);
    spec_.name = top.name("name", default_name);
    if (top.has("gpu_types")) read_gpu_types(top.get("gpu_types"));
    read_templates(top);
    read_tree(top);
    read_domains(top);
    if (top.has("gpu_speeds"))
      spec_.gpu_speeds = read_gpu_speeds(top.get("gpu_speeds"), diagnostics_);
    if (top.has("network")) read_network(top.get("network"));
    return std::move(spec_);
  }

 private:
  // The entries of a mapping whose keys are names; a name that comes twice is reported.
  std::vector<std::pair<std::string, YAML::Node>> named(const YAML::Node& node,
                                                        const std::string& what) {
    std::vector<std::pair<std::string, YAML::Node>> entries;
    if (!node.IsMap() || node.size() == 0) {
      diagnostics_.add(place_of(node),
                       what + " must be a mapping from names; write " + what + ": {NAME: {...}}");
      return entries;
    }
    std::map<std::string, bool> seen;
    for (const auto& entry : node) {
      const auto name = read_name(diagnostics_, entry.first, "a name in " + what);
      if (!name) continue;
      if (!seen.emplace(*name, true).second) {
        diagnostics_.add(place_of(entry.first),
                         "'" + *name + "' is given twice in " + what + "; keep one of them");
        continue;
      }
      entries.emplace_back(*name, entry.second);
    }
    return entries;
  }

  void read_gpu_types(const YAML::Node& node) {
    for (const auto& [name, body] : named(node, "gpu_types")) {
      const YamlMap map(diagnostics_, body, "GPU type '" + name + "'", {"memory_gib"});
      spec_.gpu_types.push_back({name, map.number("memory_gib", 0.001, 1e5, std::nullopt)});
    }
    if (spec_.gpu_types.size() > kGpuTypesMax) {
      diagnostics_.add(place_of(node), "more than 1024 GPU types; keep those that are used");
      spec_.gpu_types.resize(kGpuTypesMax);
    }
  }

  GpuTypeId type_of(const std::string& name, SourcePlace place) {
    auto& types = spec_.gpu_types;
    const auto at = std::find_if(types.begin(), types.end(),
                                 [&name](const GpuType& type) { return type.name == name; });
    if (at != types.end()) return GpuTypeId(static_cast<std::uint16_t>(at - types.begin()));
    const auto known = known_gpu_type(name);
    if (known && types.size() < kGpuTypesMax) {
      types.push_back(*known);
      return GpuTypeId(static_cast<std::uint16_t>(types.size() - 1));
    }
    std::vector<std::string> names;
    names.reserve(types.size() + known_gpu_types().size());
    for (const GpuType& type : types) names.push_back(type.name);
    for (const GpuType& type : known_gpu_types()) names.push_back(type.name);
    diagnostics_.add(place, "unknown GPU type '" + name + "'" + suggestion(name, names) +
                                " (or declare it under gpu_types)");
    return {};
  }

  void read_templates(const YamlMap& top) {
    if (!top.has("server_templates")) {
      diagnostics_.add(top.place(),
                       "the topology lacks 'server_templates'; add server_templates: "
                       "{NAME: {gpus: 8, gpu_type: V100, cpus: 64, memory_gib: 512}}");
      return;
    }
    for (const auto& [name, body] : named(top.get("server_templates"), "server_templates")) {
      const YamlMap map(diagnostics_, body, "server template '" + name + "'",
                        {"gpus", "gpu_type", "cpus", "memory_gib", "island", "nic_gbps",
                         "nvlink_gbps", "pcie_gbps", "nics", "sockets", "like"});
      templates_.emplace(name, map.has("like") ? read_variant(map) : read_template(map, nullptr));
      template_names_.push_back(name);
    }
  }

  // Of an earlier template of the file, or of a known machine.
  Template read_variant(const YamlMap& map) {
    const std::string like = map.name("like", std::nullopt);
    const auto earlier = templates_.find(like);
    if (earlier != templates_.end()) return read_template(map, &earlier->second);
    if (const auto known = known_server_template(like)) {
      Template base{known->server, known->gpus};
      if (!map.has("gpu_type")) base.like.gpu_type = type_of(known->gpu_type, map.place("like"));
      return read_template(map, &base);
    }
    std::vector<std::string> names = template_names_;
    for (const ServerTemplate& each : known_server_templates()) names.push_back(each.name);
    if (!like.empty()) {
      diagnostics_.add(map.place("like"), "there is no server template '" + like + "' to be like" +
                                              suggestion(like, names));
    }
    return read_template(map, nullptr);
  }

  // `base` gives what the map leaves out; without it some keys are required.
  Template read_template(const YamlMap& map, const Template* base) {
    Template made = base != nullptr ? *base : Template{};
    Server& like = made.like;
    const auto default_of = [base](auto value) {
      return base != nullptr ? std::optional(value) : std::nullopt;
    };
    made.gpus = map.whole("gpus", 0, kGpusPerServerMax, default_of(made.gpus));
    const std::string type =
        map.name("gpu_type",
                 made.gpus == 0 || base != nullptr ? std::optional<std::string>("") : std::nullopt);
    if (!type.empty()) like.gpu_type = type_of(type, map.place("gpu_type"));
    like.cpus = map.number("cpus", 0, 1e5, like.cpus);
    like.memory_gib = map.number("memory_gib", 0, 1e7, like.memory_gib);
    like.nic_gbps = map.number("nic_gbps", kGbpsMin, kGbpsMax, like.nic_gbps);
    like.nics = map.whole("nics", 1, kNicsMax, like.nics);
    like.island_gbps = map.number("nvlink_gbps", kGbpsMin, kGbpsMax, like.island_gbps);
    like.server_gbps = map.number("pcie_gbps", kGbpsMin, kGbpsMax, like.server_gbps);
    const bool resized = base != nullptr && base->gpus != made.gpus;
    if (resized || map.has("sockets")) like.switches.clear();
    if (map.has("sockets")) read_sockets(map, made);
    const std::uint32_t most = made.gpus == 0 ? kGpusPerServerMax : made.gpus;
    const std::uint32_t usual = base != nullptr  ? base->like.gpus_per_island
                                : made.gpus == 0 ? 1
                                                 : 4;
    const bool nvlink = map.has("island") || (base != nullptr && !base->like.switch_islands);
    if (nvlink || like.switches.empty()) {
      like.gpus_per_island = map.whole("island", 1, most, std::min(usual, most));
      like.switch_islands = false;
    } else {
      islands_by_switch(like);
    }
    return made;
  }

  // [[2, 2], [2, 2]]: two sockets of two PCIe switches of two GPUs.
  void read_sockets(const YamlMap& map, Template& made) {
    std::uint32_t socket = 0;
    std::uint64_t gpus = 0;
    bool right = true;
    for (const YAML::Node& node : map.list("sockets", true)) {
      right = right && node.IsSequence();
      for (std::size_t i = 0; right && i < node.size(); ++i) {
        const std::uint32_t below = node[i].as<std::uint32_t>(0);
        right = below >= 1 && below <= kGpusPerServerMax;
        made.like.switches.push_back({socket, below});
        gpus += below;
      }
      ++socket;
    }
    if (right && gpus == made.gpus) return;
    diagnostics_.add(map.place("sockets"),
                     (right ? "sockets hold " + std::to_string(gpus) + " GPUs, the server has " +
                                  std::to_string(made.gpus)
                            : std::string("sockets cannot be read")) +
                         "; write for each socket the GPUs below each PCIe switch, such as "
                         "[[2, 2], [2, 2]] for 8 GPUs");
    made.like.switches.clear();
  }

  std::uint32_t count_of(const YamlMap& map) const {
    return map.whole("count", 1, Limits{}.gpus_total, 1);
  }

  static double scale_up_of(const YamlMap& map) {
    return map.number("scale_up_gbps", kGbpsMin, kGbpsMax, 0);
  }

  void read_domains(const YamlMap& top) {
    for (const YAML::Node& node : top.list("scale_up_domains", false)) {
      const YamlMap map(diagnostics_, node, "a scale-up domain", {"from", "to", "gbps"});
      spec_.domains.push_back({map.name("from", std::nullopt), map.name("to", std::nullopt),
                               map.number("gbps", kGbpsMin, kGbpsMax, std::nullopt), map.place()});
    }
  }

  void read_tree(const YamlMap& top) {
    const int given =
        (top.has("pods") ? 1 : 0) + (top.has("racks") ? 1 : 0) + (top.has("servers") ? 1 : 0);
    if (given != 1) {
      diagnostics_.add(top.place(),
                       given == 0
                           ? "the topology lacks its servers; add one of pods, racks or servers"
                           : "pods, racks and servers exclude one another here; keep the outermost "
                             "and put the others inside it");
      return;
    }
    if (top.has("pods")) {
      for (const YAML::Node& node : top.list("pods", true)) {
        const YamlMap map(diagnostics_, node, "a pod", {"count", "name", "scale_up_gbps", "racks"});
        spec_.pods.push_back(
            {count_of(map), map.name("name", ""), read_racks(map), scale_up_of(map), map.place()});
      }
      return;
    }
    TopologySpec::Pod pod;
    pod.place = top.place();
    if (top.has("racks")) {
      pod.racks = read_racks(top);
    } else {
      pod.racks.push_back({1, "", read_servers(top), 0, top.place()});
    }
    spec_.pods.push_back(std::move(pod));
  }

  std::vector<TopologySpec::Rack> read_racks(const YamlMap& parent) {
    std::vector<TopologySpec::Rack> racks;
    for (const YAML::Node& node : parent.list("racks", true)) {
      const YamlMap map(diagnostics_, node, "a rack",
                        {"count", "name", "scale_up_gbps", "servers"});
      racks.push_back(
          {count_of(map), map.name("name", ""), read_servers(map), scale_up_of(map), map.place()});
    }
    return racks;
  }

  std::vector<TopologySpec::Servers> read_servers(const YamlMap& parent) {
    std::vector<TopologySpec::Servers> all;
    for (const YAML::Node& node : parent.list("servers", true)) {
      const YamlMap map(diagnostics_, node, "an entry of servers",
                        {"template", "count", "name", "names", "scale_up_gbps"});
      TopologySpec::Servers servers;
      servers.place = map.place();
      const std::string used = map.name("template", std::nullopt);
      const auto known = templates_.find(used);
      if (known != templates_.end()) {
        servers.like = known->second.like;
        servers.gpus = known->second.gpus;
      } else if (!used.empty()) {
        diagnostics_.add(map.place("template"), "unknown server template '" + used + "'" +
                                                    suggestion(used, template_names_));
      }
      servers.count = count_of(map);
      servers.name = map.name("name", "");
      servers.scale_up_gbps = scale_up_of(map);
      for (const YAML::Node& name : map.list("names", false)) {
        servers.names.push_back(read_name(diagnostics_, name, "a name of a server").value_or("?"));
      }
      if (!servers.names.empty()) {
        if (map.has("name")) {
          diagnostics_.add(map.place("name"), "name and names exclude one another; keep one");
        }
        if (map.has("count") && servers.count != servers.names.size()) {
          diagnostics_.add(map.place("count"),
                           "count is " + std::to_string(servers.count) + " but there are " +
                               std::to_string(servers.names.size()) + " names; leave count out");
        }
        servers.count = static_cast<std::uint32_t>(servers.names.size());
      }
      all.push_back(std::move(servers));
    }
    return all;
  }

  void read_network(const YAML::Node& node) {
    const YamlMap map(
        diagnostics_, node, "network",
        {"rack_switches", "pod_switches", "rail_switches", "core_switches", "switches", "links"});
    spec_.has_network = true;
    spec_.network_place = map.place();
    NetworkPlan& plan = spec_.plan;
    plan.rack_switches = 0;
    const bool rules = map.has("rack_switches");
    const bool rails = map.has("rail_switches");
    if (rails && (rules || map.has("pod_switches"))) {
      diagnostics_.add(map.place("rail_switches"),
                       "rail_switches take the place of rack_switches and pod_switches; keep one");
    }
    if (!rules && !rails && (map.has("pod_switches") || map.has("core_switches"))) {
      diagnostics_.add(map.place(),
                       "network lacks 'rack_switches', which pod_switches and "
                       "core_switches link to; add rack_switches: {count: 1}");
    }
    if (rails && !rules && !map.has("pod_switches")) {
      const YamlMap rail(diagnostics_, map.get("rail_switches"), "rail_switches",
                         {"count", "latency_us"});
      plan.rail_switches = rail.whole("count", 1, kSwitchesMax, std::nullopt);
      plan.rail_latency_us = rail.number("latency_us", 0, kLatencyUsMax, 1);
    }
    if (rules) {
      const YamlMap rack(diagnostics_, map.get("rack_switches"), "rack_switches",
                         {"count", "latency_us"});
      plan.rack_switches = rack.whole("count", 1, kSwitchesMax, 1);
      plan.rack_latency_us = rack.number("latency_us", 0, kLatencyUsMax, 1);
    }
    if (map.has("pod_switches")) {
      const YamlMap pod(diagnostics_, map.get("pod_switches"), "pod_switches",
                        {"count", "gbps", "latency_us"});
      plan.pod_switches = pod.whole("count", 1, kSwitchesMax, 1);
      plan.pod_gbps = pod.number("gbps", kGbpsMin, kGbpsMax, std::nullopt);
      plan.pod_latency_us = pod.number("latency_us", 0, kLatencyUsMax, 1);
    }
    if (map.has("core_switches")) read_core(map.get("core_switches"));
    read_links(map);
  }

  void read_core(const YAML::Node& node) {
    NetworkPlan& plan = spec_.plan;
    const YamlMap core(diagnostics_, node, "core_switches",
                       {"count", "gbps", "latency_us", "wiring"});
    plan.core_switches = core.whole("count", 1, 65536, 1);
    plan.core_gbps = core.number("gbps", kGbpsMin, kGbpsMax, std::nullopt);
    plan.core_latency_us = core.number("latency_us", 0, kLatencyUsMax, 1);
    const std::string wiring = core.name("wiring", "all");
    if (wiring != "all" && wiring != "striped") {
      diagnostics_.add(core.place("wiring"), "wiring is '" + wiring +
                                                 "'; write all (every switch below to every core "
                                                 "switch) or striped (a fat-tree)");
    }
    plan.striped = wiring == "striped";
    const std::uint32_t below = std::max(
        {1U, plan.rail_switches, plan.pod_switches > 0 ? plan.pod_switches : plan.rack_switches});
    if (plan.striped && plan.core_switches % below != 0) {
      diagnostics_.add(core.place("count"),
                       "striped wiring deals " + std::to_string(plan.core_switches) +
                           " core switches to " + std::to_string(below) +
                           " switches below; write a multiple of " + std::to_string(below));
    }
  }

  void read_links(const YamlMap& network) {
    for (const YAML::Node& node : network.list("switches", false)) {
      const auto name = read_name(diagnostics_, node, "a switch");
      if (name) spec_.switches.push_back({*name, place_of(node)});
    }
    for (const YAML::Node& node : network.list("links", false)) {
      const YamlMap map(diagnostics_, node, "a link", {"a", "b", "gbps", "latency_us"});
      spec_.links.push_back({map.name("a", std::nullopt), map.name("b", std::nullopt),
                             map.number("gbps", kGbpsMin, kGbpsMax, std::nullopt),
                             map.number("latency_us", 0, kLatencyUsMax, 1), map.place()});
    }
  }

  Diagnostics& diagnostics_;
  TopologySpec spec_;
  std::map<std::string, Template> templates_;
  std::vector<std::string> template_names_;
};

}  // namespace

TopologySpec read_spec(const std::string& text, const std::string& default_name,
                       Diagnostics& diagnostics) {
  const int documents = documents_in(text);
  if (documents != 1) {
    diagnostics.add({1, 1}, documents == 0
                                ? "the file is empty; write a topology (docs/topology-format.md)"
                                : "the file has several YAML documents, or begins with a stray "
                                  "character; keep one document");
    return {};
  }
  return SpecReader(diagnostics).read(YAML::Load(text), default_name);
}

}  // namespace starling
