// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/switch_tree.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/generate/server_templates.h"
#include "topology/gpu_catalogue.h"

namespace starling {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

class TreeBuilder {
 public:
  TreeBuilder(const SwitchTree& tree, const std::string& name, Diagnostics& diagnostics,
              const SwitchTreeOptions& options)
      : tree_(tree), diagnostics_(diagnostics), options_(options), builder_(name) {}

  Result<Topology> build() {
    check();
    if (diagnostics_.any()) return diagnostics_.error();
    const auto known = known_server_template(options_.server_template);
    if (!known) diagnostics_.add({}, "no server template '" + options_.server_template + "'");
    if (diagnostics_.any()) return diagnostics_.error();
    usual_ = *known;
    in_domain_ = known_server_template(options_.domain_template).value_or(usual_);
    for (const auto& [node, domain] : tree_.domains) ++domain_size_[domain];
    for (std::size_t i = 0; i < tree_.switches.size(); ++i) {
      if (parent_[i] == kNone) visit(i);
    }
    if (diagnostics_.any()) return diagnostics_.error();
    add_domains();
    wire();
    return std::move(builder_).build();
  }

 private:
  void check() {
    std::set<std::string> nodes;
    for (std::size_t i = 0; i < tree_.switches.size(); ++i) {
      const SwitchTree::Switch& each = tree_.switches[i];
      if (!index_.emplace(each.name, i).second) {
        report(i, "switch '" + each.name + "' is given twice; keep one of them");
      }
      if (each.children.empty() == each.nodes.empty()) {
        report(i, "switch '" + each.name + "' holds " +
                      (each.nodes.empty() ? "nothing" : "both switches and nodes") +
                      "; write either its switches or its nodes");
      }
      for (const std::string& node : each.nodes) {
        if (!nodes.insert(node).second) {
          report(i, "node '" + node + "' occurs twice; put it below one switch");
        }
      }
    }
    for (std::size_t i = 0; i < tree_.switches.size(); ++i) {
      if (nodes.count(tree_.switches[i].name) > 0) {
        report(i, "'" + tree_.switches[i].name + "' is both a switch and a node; rename one");
      }
    }
    if (nodes.empty()) diagnostics_.add({1, 0}, "there are no nodes; write some below a switch");
    if (nodes.size() * 16 > Limits{}.gpus_total) {
      diagnostics_.add({1, 0}, "too many nodes; import a part of them");
    }
    parent_.assign(tree_.switches.size(), kNone);
    for (std::size_t i = 0; i < tree_.switches.size(); ++i) {
      for (const std::string& child : tree_.switches[i].children) {
        const auto at = index_.find(child);
        if (at == index_.end()) {
          report(i, "switch '" + tree_.switches[i].name + "' holds '" + child +
                        "', which is no switch; add it or leave it out");
        } else if (parent_[at->second] != kNone) {
          report(i, "switch '" + child + "' is below two switches; keep one of them");
        } else {
          parent_[at->second] = i;
        }
      }
    }
    for (std::size_t i = 0; i < tree_.switches.size() && !diagnostics_.any(); ++i) {
      std::size_t up = i;
      for (std::size_t steps = 0; parent_[up] != kNone; up = parent_[up]) {
        if (++steps > tree_.switches.size()) {
          report(i, "switch '" + tree_.switches[i].name + "' is below itself; break the loop");
          return;
        }
      }
    }
  }

  void report(std::size_t at, const std::string& message) {
    diagnostics_.add(tree_.switches[at].place, message);
  }

  // The racks right below a switch come first, so that its pod is one range.
  void visit(std::size_t at) {
    const SwitchTree::Switch& each = tree_.switches[at];
    if (!each.nodes.empty()) {
      if (parent_[at] == kNone) builder_.begin_pod("pod-" + each.name);
      add_rack(each);
      return;
    }
    bool open = false;
    for (const bool racks : {true, false}) {
      for (const std::string& child : each.children) {
        const std::size_t below = index_.at(child);
        if (tree_.switches[below].nodes.empty() == racks) continue;
        if (racks && !open) builder_.begin_pod(each.name);
        open = true;
        visit(below);
      }
    }
  }

  void add_rack(const SwitchTree::Switch& leaf) {
    builder_.begin_rack(leaf.name);
    for (const std::string& node : leaf.nodes) {
      const ServerTemplate& like = domain_of(node).empty() ? usual_ : in_domain_;
      Server server = like.server;
      std::uint32_t gpus = like.gpus;
      std::string type = like.gpu_type;
      if (!options_.hardware.empty()) {
        const auto at = options_.hardware.find(node);
        gpus = 0;
        server.switches.clear();
        if (at != options_.hardware.end()) {
          type = at->second.gpu_type;
          std::uint32_t socket = 0;
          for (const std::uint32_t here : at->second.gpus_by_socket) {
            if (here > 0) server.switches.push_back({socket, here});
            gpus += here;
            ++socket;
          }
        }
        server.gpus_per_island = std::clamp(gpus, 1U, server.gpus_per_island);
      }
      server.name = node;
      if (gpus > 0) {
        server.gpu_type =
            builder_.gpu_type(gpu_type_in(type).value_or(GpuType{type, GpuType{}.memory_gib}));
      }
      builder_.add_server(std::move(server), gpus);
    }
  }

  // Empty: none, or one of its own.
  std::string domain_of(const std::string& node) const {
    const auto at = tree_.domains.find(node);
    return at == tree_.domains.end() || domain_size_.at(at->second) < 2 ? "" : at->second;
  }

  void add_domains() {
    Topology::Parts& parts = builder_.parts();
    for (std::uint32_t s = 0; s < parts.servers.size();) {
      const std::string domain = domain_of(parts.servers[s].name);
      std::uint32_t end = s + 1;
      while (end < parts.servers.size() && domain_of(parts.servers[end].name) == domain) ++end;
      if (!domain.empty() && end - s == domain_size_.at(domain))
        parts.domains.push_back({{s, end}, in_domain_.server.island_gbps});
      s = end;
    }
  }

  void wire() {
    Topology::Parts& parts = builder_.parts();
    std::map<std::string, std::uint32_t> server_at;
    for (std::uint32_t s = 0; s < parts.servers.size(); ++s) {
      parts.nodes.push_back({parts.servers[s].name, true, ServerId(s)});
      server_at.emplace(parts.servers[s].name, s);
    }
    const auto first = static_cast<std::uint32_t>(parts.servers.size());
    std::vector<double> below(tree_.switches.size());
    for (std::uint32_t i = 0; i < tree_.switches.size(); ++i) {
      parts.nodes.push_back({tree_.switches[i].name, false, {}});
      for (const std::string& node : tree_.switches[i].nodes) {
        const std::uint32_t s = server_at.at(node);
        const double gbps = parts.servers[s].nic_gbps;
        parts.links.push_back({s, first + i, gbps, 1});
        for (std::size_t up = i; up != kNone; up = parent_[up]) below[up] += gbps;
      }
    }
    for (std::uint32_t i = 0; i < tree_.switches.size(); ++i) {
      if (parent_[i] == kNone || below[i] <= 0) continue;
      parts.links.push_back(
          {first + i, first + static_cast<std::uint32_t>(parent_[i]), below[i], 1});
    }
  }

  const SwitchTree& tree_;
  Diagnostics& diagnostics_;
  const SwitchTreeOptions& options_;
  TopologyBuilder builder_;
  ServerTemplate usual_, in_domain_;
  std::map<std::string, std::size_t> domain_size_;  // nodes
  std::map<std::string, std::size_t> index_;
  std::vector<std::size_t> parent_;
};

}  // namespace

Result<Topology> build_switch_tree(const SwitchTree& tree, const std::string& file_name,
                                   Diagnostics& diagnostics, const SwitchTreeOptions& options) {
  if (diagnostics.any()) return diagnostics.error();
  const std::string stem = std::filesystem::path(file_name).stem().string();
  return TreeBuilder(tree, stem.empty() ? "topology" : stem, diagnostics, options).build();
}

}  // namespace starling
