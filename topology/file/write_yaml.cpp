// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "topology/file/gpu_speeds.h"
#include "topology/file/load.h"
#include "topology/network_plan.h"

namespace starling {
namespace {

std::string number(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};  // shortest that reads back equal
}

std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-';
  };
  const bool word = !text.empty() && text[0] != '-' && text[0] != '.' && text != "null" &&
                    text != "Null" && text != "NULL";
  if (word && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Repetitions of one text, written once with its count.
struct Run {
  std::string body;
  std::string name;  // empty: the default name, so that equal neighbours join
  std::uint32_t count = 1;
};

void append(std::vector<Run>& runs, std::string body, std::string name) {
  if (name.empty() && !runs.empty() && runs.back().name.empty() && runs.back().body == body) {
    ++runs.back().count;
    return;
  }
  runs.push_back({std::move(body), std::move(name), 1});
}

std::string written(const std::vector<Run>& runs, const std::string& indent) {
  std::string out;
  for (const Run& run : runs) {
    out += indent + "- count: " + std::to_string(run.count) + "\n";
    if (!run.name.empty()) out += indent + "  name: " + quoted(run.name) + "\n";
    out += run.body;
  }
  return out;
}

class Writer {
 public:
  explicit Writer(const Topology& topology)
      : parts_(topology.parts()), in_tree_(parts_.domains.size(), false) {}

  std::string write() {
    out_ = "name: " + quoted(parts_.name) + "\n";
    if (!parts_.gpu_types.empty()) out_ += "gpu_types:\n";
    for (const GpuType& type : parts_.gpu_types) {
      out_ += "  " + quoted(type.name) + ": {memory_gib: " + number(type.memory_gib) + "}\n";
    }
    write_templates();
    out_ += "pods:\n" + pods();
    write_domains();
    out_ += gpu_speeds_yaml(parts_.servers, quoted);
    write_network();
    return std::move(out_);
  }

 private:
  static std::uint32_t first_of(const ScaleUpDomain& domain) { return domain.servers.first; }

  static bool alike(const Server& a, const Server& b) {
    return a.gpus.size() == b.gpus.size() && a.gpu_type == b.gpu_type &&
           a.gpus_per_island == b.gpus_per_island && a.cpus == b.cpus &&
           a.memory_gib == b.memory_gib && a.nic_gbps == b.nic_gbps &&
           a.island_gbps == b.island_gbps && a.server_gbps == b.server_gbps && a.nics == b.nics &&
           a.switches == b.switches && a.switch_islands == b.switch_islands;
  }

  std::string type_name(const Server& server) const {
    return server.gpu_type.value < parts_.gpu_types.size()
               ? parts_.gpu_types[server.gpu_type.value].name
               : "";
  }

  void write_templates() {
    out_ += "server_templates:\n";
    std::vector<const Server*> examples;
    std::set<std::string> used;
    for (const Server& server : parts_.servers) {
      std::size_t at = template_of_.empty() ? examples.size() : template_of_.back();
      if (at == examples.size() || !alike(*examples[at], server)) {
        at = 0;
        while (at < examples.size() && !alike(*examples[at], server)) ++at;
      }
      template_of_.push_back(at);
      if (at < examples.size()) continue;
      const std::uint32_t gpus = server.gpus.size();
      const std::string stem = gpus == 0 ? "cpu" : type_name(server) + "x" + std::to_string(gpus);
      std::string name = stem;
      for (int i = 2; !used.insert(name).second; ++i) name = stem + "-" + std::to_string(i);
      examples.push_back(&server);
      template_names_.push_back(name);
      out_ += "  " + quoted(name) + ": {gpus: " + std::to_string(gpus);
      const std::string type = type_name(server);
      if (!type.empty()) out_ += ", gpu_type: " + quoted(type);
      out_ += ", cpus: " + number(server.cpus) + ", memory_gib: " + number(server.memory_gib) +
              (server.switch_islands ? "" : ", island: " + std::to_string(server.gpus_per_island)) +
              ",\n    nic_gbps: " + number(server.nic_gbps) +
              ", nvlink_gbps: " + number(server.island_gbps) +
              ", pcie_gbps: " + number(server.server_gbps) +
              (server.nics == 1 ? "" : ", nics: " + std::to_string(server.nics)) +
              (server.switches.empty() ? "" : ",\n    sockets: " + sockets(server)) + "}\n";
    }
  }

  static std::string sockets(const Server& server) {
    std::string out;
    std::uint32_t socket = 0;
    for (const PcieSwitch& below : server.switches) {
      for (; socket < below.socket; ++socket) out += out.empty() ? "[], [" : "], [";
      out += (out.empty() ? "[" : out.back() == '[' ? "" : ", ") + std::to_string(below.gpus);
    }
    return "[" + out + "]]";
  }

  std::string pods() {
    std::vector<Run> runs;
    const auto& trees = parts_.subtrees;
    std::uint32_t pod_number = 0;
    for (std::size_t i = 1; i < trees.size();) {
      const Subtree& pod = trees[i];
      std::vector<Run> racks;
      std::uint32_t rack_number = 0;
      for (++i; i < trees.size() && trees[i].level == Level::rack; ++i) {
        const std::string usual = pod.name + "-r" + std::to_string(rack_number++);
        append(racks, scale_up(trees[i].servers, "      ") + "      servers:\n" + servers(trees[i]),
               trees[i].name == usual ? "" : trees[i].name);
      }
      append(runs, scale_up(pod.servers, "    ") + "    racks:\n" + written(racks, "    "),
             pod.name == "p" + std::to_string(pod_number) ? "" : pod.name);
      ++pod_number;
    }
    return written(runs, "  ");
  }

  // Of a rack or pod that is a domain; a pod of one rack leaves it to that.
  std::string scale_up(IndexRange servers, const std::string& indent) {
    const auto at = std::ranges::lower_bound(parts_.domains, servers.first, {}, first_of);
    const auto i = static_cast<std::size_t>(at - parts_.domains.begin());
    if (at == parts_.domains.end() || at->servers != servers || in_tree_[i]) return {};
    in_tree_[i] = true;
    return indent + "scale_up_gbps: " + number(at->gbps) + "\n";
  }

  void write_domains() {
    bool begun = false;
    for (std::size_t i = 0; i < parts_.domains.size(); ++i) {
      if (in_tree_[i]) continue;
      const ScaleUpDomain& domain = parts_.domains[i];
      if (!std::exchange(begun, true)) out_ += "scale_up_domains:\n";
      out_ += "  - {from: " + quoted(parts_.servers[domain.servers.first].name) +
              ", to: " + quoted(parts_.servers[domain.servers.last - 1].name) +
              ", gbps: " + number(domain.gbps) + "}\n";
    }
  }

  std::string servers(const Subtree& rack) const {
    std::string out;
    const auto usual = [&](std::uint32_t s) {
      return parts_.servers[s].name == rack.name + "-s" + std::to_string(s - rack.servers.first);
    };
    for (std::uint32_t s = rack.servers.first; s < rack.servers.last;) {
      std::uint32_t end = s + 1;
      while (end < rack.servers.last && template_of_[end] == template_of_[s] &&
             usual(end) == usual(s)) {
        ++end;
      }
      out += "      - {template: " + quoted(template_names_[template_of_[s]]) + ", ";
      if (usual(s)) {
        out += "count: " + std::to_string(end - s);
      } else {
        out += "names: [";
        for (std::uint32_t i = s; i < end; ++i) {
          if (i > s) out += (i - s) % 6 == 0 ? ",\n          " : ", ";
          out += quoted(parts_.servers[i].name);
        }
        out += "]";
      }
      out += "}\n";
      s = end;
    }
    return out;
  }

  void write_network() {
    if (parts_.nodes.empty()) return;
    out_ += "network:\n";
    const auto plan = infer_plan(parts_);
    if (plan) {
      write_plan(*plan);
      return;
    }
    std::string switches;
    for (std::size_t i = parts_.servers.size(); i < parts_.nodes.size(); ++i) {
      switches += "    - " + quoted(parts_.nodes[i].name) + "\n";
    }
    if (!switches.empty()) out_ += "  switches:\n" + switches;
    if (!parts_.links.empty()) out_ += "  links:\n";
    for (const NetworkLink& link : parts_.links) {
      out_ += "    - {a: " + quoted(parts_.nodes[link.a].name) +
              ", b: " + quoted(parts_.nodes[link.b].name) + ", gbps: " + number(link.gbps) +
              ", latency_us: " + number(link.latency_us) + "}\n";
    }
    if (switches.empty() && parts_.links.empty()) out_.replace(out_.size() - 1, 1, " {}\n");
  }

  void write_plan(const NetworkPlan& plan) {
    if (plan.rail_switches > 0) {
      out_ += "  rail_switches: {count: " + std::to_string(plan.rail_switches) +
              ", latency_us: " + number(plan.rail_latency_us) + "}\n";
    }
    if (plan.rack_switches > 0) {
      out_ += "  rack_switches: {count: " + std::to_string(plan.rack_switches) +
              ", latency_us: " + number(plan.rack_latency_us) + "}\n";
    }
    if (plan.pod_switches > 0) {
      out_ += "  pod_switches: {count: " + std::to_string(plan.pod_switches) +
              ", gbps: " + number(plan.pod_gbps) + ", latency_us: " + number(plan.pod_latency_us) +
              "}\n";
    }
    if (plan.core_switches > 0) {
      out_ += "  core_switches: {count: " + std::to_string(plan.core_switches) +
              ", gbps: " + number(plan.core_gbps) +
              ", latency_us: " + number(plan.core_latency_us) +
              (plan.striped ? ", wiring: striped" : "") + "}\n";
    }
  }

  const Topology::Parts& parts_;
  std::string out_;
  std::vector<bool> in_tree_;             // by domain: written with its rack or pod
  std::vector<std::size_t> template_of_;  // by server
  std::vector<std::string> template_names_;
};

}  // namespace

std::string to_yaml(const Topology& topology) { return Writer(topology).write(); }

}  // namespace starling
