// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/topology_found.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/visible.h"
#include "launch/hardware/server_found.h"
#include "topology/builder.h"
#include "topology/file/load.h"

namespace starling {
namespace {

constexpr std::size_t kMostGpus = 256;

/// Names in an order in which rack2 comes before rack10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (digit(a[i]) && digit(b[k])) {
      const auto run = [&](const std::string& text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t first = at;
        while (at < text.size() && digit(text[at])) ++at;
        return text.substr(first, at - first);
      };
      const std::string x = run(a, i), y = run(b, k);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[k]) {
      return a[i] < b[k];
    } else {
      ++i, ++k;
    }
  }
  return a.size() - i != b.size() - k ? a.size() - i < b.size() - k : a < b;
}

/// "leaf1", "leaf1+leaf2", "leaf1+7".
std::string name_of_switches(const std::set<std::string>& switches) {
  std::string name = *switches.begin();
  if (switches.size() == 2) name += "+" + *std::next(switches.begin());
  if (switches.size() > 2) name += "+" + std::to_string(switches.size() - 1);
  return name;
}

class FoundBuilder {
 public:
  FoundBuilder(const std::vector<MachineFound>& machines, const FoundNetwork& network,
               const std::string& name)
      : machines_(machines), network_(network), builder_(name) {}

  Result<FoundTopology> build() {
    if (Status good = check(); !good.ok()) return good.error();
    keep_cables();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      found_.push_back(server_found(machines_[i], guesses_));
      places_.push_back(place_of(i));
    }
    name_groups();
    add_servers();
    add_domains();
    std::vector<std::string> remarks;
    const bool wired = !network_.links.empty();
    if (wired) wire();
    Topology made = wired ? std::move(builder_).build() : std::move(builder_).build(NetworkPlan{});
    if (!wired)
      remarks_.emplace_back(
          "guessed: all servers are one rack below one switch; nothing says how "
          "they are wired (--lldp, --ibnetdiscover, --topograph)");
    for (const std::string& line : guesses_.lines()) remarks.push_back(line);
    remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
    remarks.insert(remarks.end(), network_.remarks.begin(), network_.remarks.end());
    for (const MachineFound& machine : machines_) {
      for (const std::string& remark : machine.remarks)
        remarks.push_back("not seen: " + machine.name + ": " + remark);
    }
    for (std::string& remark : remarks) remark = visible_line(remark);
    return FoundTopology{std::move(made), std::move(remarks)};
  }

 private:
  struct Place {
    std::set<std::string> leaves, above;
    std::string domain, rack, pod;
  };

  Status check() {
    if (machines_.empty()) return {Errc::invalid, "there is no machine"};
    for (const MachineFound& machine : machines_) {
      if (!names_.insert(machine.name).second)
        return {Errc::invalid, "two machines are called '" + machine.name +
                                   "'; give one of them another name in the hosts file"};
      if (machine.gpus.size() > kMostGpus)
        return {Errc::invalid, machine.name + " has " + counted(machine.gpus.size(), "GPU") +
                                   "; a server has 256 at most"};
    }
    return done();
  }

  /// Neighbours and files of others may say anything.
  void keep_cables() {
    auto& links = network_.links;
    const auto to_itself = [](const FoundNetwork::Link& link) { return link.a == link.b; };
    const auto of_servers = [this](const FoundNetwork::Link& link) {
      return is_server(link.a) && is_server(link.b);
    };
    std::erase_if(links, to_itself);
    if (const std::size_t some = std::erase_if(links, of_servers); some > 0)
      remarks_.push_back("left out: " + counted(some, "cable") +
                         " from server to server, where a topology has switches");
    for (FoundNetwork::Link& link : links) {
      if (!std::isfinite(link.gbps)) link.gbps = 0;
    }
  }

  Place place_of(std::size_t i) const {
    const MachineFound& machine = machines_[i];
    Place place;
    for (const FoundNetwork::Link& link : network_.links) {
      if (link.a == machine.name) place.leaves.insert(link.b);
      if (link.b == machine.name) place.leaves.insert(link.a);
    }
    for (const FoundNetwork::Link& link : network_.links) {
      const bool a = place.leaves.contains(link.a), b = place.leaves.contains(link.b);
      if (a && !b && link.b != machine.name && !is_server(link.b)) place.above.insert(link.b);
      if (b && !a && link.a != machine.name && !is_server(link.a)) place.above.insert(link.a);
    }
    if (const auto said = network_.domains.find(machine.name); said != network_.domains.end())
      place.domain = said->second;
    if (!machine.gpus.empty() && !machine.gpus.front().cluster.empty())
      place.domain =
          machine.gpus.front().cluster + " clique " + std::to_string(machine.gpus.front().clique);
    return place;
  }

  [[nodiscard]] bool is_server(const std::string& name) const { return names_.contains(name); }

  void name_groups() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Place& place = places_[i];
      place.rack = place.leaves.empty() ? "" : name_of_switches(place.leaves);
      place.pod = place.above.empty() ? "" : name_of_switches(place.above);
      if (place.leaves.empty() && !network_.links.empty())
        guesses_.add("rack: no switch of the network is known to have it", machines_[i].name);
    }
  }

  /// Pod by pod and rack by rack; in a rack by domain, and else as they were given.
  void add_servers() {
    for (std::size_t i = 0; i < machines_.size(); ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      const Place &x = places_[a], &y = places_[b];
      if (x.above != y.above)
        return x.pod == y.pod ? x.above < y.above : natural_less(x.pod, y.pod);
      if (x.leaves != y.leaves)
        return x.rack == y.rack ? x.leaves < y.leaves : natural_less(x.rack, y.rack);
      return natural_less(x.domain, y.domain);
    });
    std::set<std::string> names;
    const auto unused = [&names](const std::string& name) {
      std::string tried = name;
      for (int n = 2; !tried.empty() && !names.insert(tried).second; ++n)
        tried = name + "-" + std::to_string(n);
      return tried;
    };
    const Place* last = nullptr;
    for (const std::size_t i : order_) {
      const Place& place = places_[i];
      const bool pod = last == nullptr || last->above != place.above;
      if (pod) builder_.begin_pod(unused(place.pod.empty() ? "" : "pod-" + place.pod));
      if (pod || last->leaves != place.leaves)
        builder_.begin_rack(unused(place.rack.empty() ? "" : "rack-" + place.rack));
      Server server = found_[i].server;
      const auto gpus = static_cast<std::uint32_t>(machines_[i].gpus.size());
      if (gpus > 0) server.gpu_type = builder_.gpu_type(found_[i].type);
      builder_.add_server(std::move(server), gpus);
      last = &place;
    }
  }

  void add_domains() {
    std::map<std::string, std::uint32_t> sizes;
    for (const Place& place : places_) ++sizes[place.domain];
    for (std::uint32_t s = 0; s < order_.size();) {
      const std::string& domain = places_[order_[s]].domain;
      std::uint32_t end = s;
      double gbps = 0, nic = 0;
      bool all_linked = true;
      for (; end < order_.size() && places_[order_[end]].domain == domain; ++end) {
        const ServerFound& server = found_[order_[end]];
        all_linked = all_linked && server.nvlink_gbps > 0;
        gbps = end == s ? server.nvlink_gbps : std::min(gbps, server.nvlink_gbps);
        nic = std::max(nic, server.server.nic_gbps);
      }
      const bool whole = !domain.empty() && end - s == sizes[domain] && end - s >= 2;
      if (whole && all_linked && gbps > nic) {
        builder_.parts().domains.push_back({{s, end}, gbps});
      } else if (!domain.empty() && sizes[domain] >= 2) {
        const std::string why = !whole ? "its servers are not next to one another"
                                       : "its NVLink is not faster than the servers' NICs";
        left_out_.insert("left out: the NVLink domain of " + machines_[order_[s]].name + ": " +
                         why);
      }
      s = end;
    }
    remarks_.insert(remarks_.end(), left_out_.begin(), left_out_.end());
  }

  void wire() {
    Topology::Parts& parts = builder_.parts();
    std::map<std::string, std::uint32_t> node;
    std::map<std::string, std::size_t> ports;  // of a server, to anything
    for (std::uint32_t s = 0; s < parts.servers.size(); ++s) {
      node.emplace(parts.servers[s].name, s);
      parts.nodes.push_back({parts.servers[s].name, true, ServerId(s)});
    }
    for (const FoundNetwork::Link& link : network_.links) {
      for (const std::string& end : {link.a, link.b}) {
        ++ports[end];
        if (node.emplace(end, static_cast<std::uint32_t>(parts.nodes.size())).second)
          parts.nodes.push_back({end, false, {}});
      }
    }
    // Several cables between two are one link.
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> links;
    std::map<std::string, double> below;  // of a leaf
    std::vector<const FoundNetwork::Link*> unknown;
    bool guessed = false;
    for (const FoundNetwork::Link& link : network_.links) {
      const std::uint32_t a = node.at(link.a), b = node.at(link.b);
      const std::uint32_t server = std::min(a, b);
      double gbps = link.gbps;
      if (server < parts.servers.size()) {
        const std::string& name = parts.servers[server].name;
        if (gbps <= 0)
          gbps = parts.servers[server].nic_gbps / static_cast<double>(ports.at(name)),
          guessed = true;
        below[link.a == name ? link.b : link.a] += gbps;
      } else if (gbps <= 0) {
        unknown.push_back(&link);
        continue;
      }
      links[{std::min(a, b), std::max(a, b)}] += gbps;
    }
    if (guessed)
      remarks_.emplace_back("guessed: gbps of servers' links: equal parts of their NICs");
    add_uplinks(unknown, below, node, links);
    for (const auto& [ends, gbps] : links)
      parts.links.push_back({ends.first, ends.second, gbps, 1});
    remarks_.emplace_back("guessed: latency_us of all links");
  }

  /// Links between switches whose speed is not known, and a core where leaves have no way to one
  /// another.
  void add_uplinks(const std::vector<const FoundNetwork::Link*>& unknown,
                   const std::map<std::string, double>& below,
                   std::map<std::string, std::uint32_t>& node,
                   std::map<std::pair<std::uint32_t, std::uint32_t>, double>& links) {
    double all = 0;
    std::map<std::string, std::size_t> ways;
    for (const auto& [leaf, gbps] : below) all += gbps;
    for (const FoundNetwork::Link* link : unknown) {
      if (below.contains(link->a)) ++ways[link->a];
      if (below.contains(link->b)) ++ways[link->b];
    }
    for (const FoundNetwork::Link* link : unknown) {
      const std::string& leaf = below.contains(link->a) ? link->a : link->b;
      const double gbps =
          below.contains(leaf) ? below.at(leaf) / static_cast<double>(ways.at(leaf)) : all;
      const std::uint32_t a = node.at(link->a), b = node.at(link->b);
      links[{std::min(a, b), std::max(a, b)}] += gbps;
    }
    if (!unknown.empty())
      remarks_.emplace_back("guessed: gbps of links between switches: no oversubscription");
    const bool joined = below.size() < 2 || links_switches();
    if (joined) return;
    auto& parts = builder_.parts();
    const auto core = static_cast<std::uint32_t>(parts.nodes.size());
    std::string name = "core0";
    while (node.contains(name)) name += "-guessed";
    parts.nodes.push_back({name, false, {}});
    for (const auto& [leaf, gbps] : below) links[{node.at(leaf), core}] = gbps;
    remarks_.push_back("guessed: " + name +
                       " joins all switches without oversubscription; nothing says what is above "
                       "them");
  }

  [[nodiscard]] bool links_switches() const {
    return std::any_of(network_.links.begin(), network_.links.end(),
                       [this](const FoundNetwork::Link& link) {
                         return !is_server(link.a) && !is_server(link.b);
                       });
  }

  const std::vector<MachineFound>& machines_;
  FoundNetwork network_;
  TopologyBuilder builder_;
  std::set<std::string> names_;  // of machines
  Guesses guesses_;
  std::vector<ServerFound> found_;
  std::vector<Place> places_;
  std::vector<std::size_t> order_;
  std::set<std::string> left_out_;
  std::vector<std::string> remarks_;
};

}  // namespace

Result<FoundTopology> topology_found(const std::vector<MachineFound>& machines,
                                     const FoundNetwork& network, const std::string& name) {
  auto found = FoundBuilder(machines, network, name).build();
  if (!found) return found;
  const auto read = parse_topology_yaml(to_yaml(found.value().topology), "what was found");
  if (!read) return {Errc::invalid, read.error().message};
  if (read.value() != found.value().topology)
    return {Errc::invalid, "what was found holds names that a topology file cannot hold"};
  return found;
}

}  // namespace starling
