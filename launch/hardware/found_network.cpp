// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/found_network.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/counted.h"

namespace starling {
namespace {

/// node7.cluster.example is node7.
std::string short_name(const std::string& name) { return name.substr(0, name.find('.')); }

/// The server of that name, or empty.
class Names {
 public:
  explicit Names(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      by_.emplace(short_name(name), name);
      by_[name] = name;
    }
  }
  [[nodiscard]] std::string find(const std::string& said) const {
    auto at = by_.find(said);
    if (at == by_.end()) at = by_.find(short_name(said));
    return at == by_.end() ? "" : at->second;
  }

 private:
  std::map<std::string, std::string> by_;
};

/// Between the first two quotes from `from` on; `end` is behind the second one.
std::string quoted(const std::string& line, std::size_t from, std::size_t& end) {
  const auto open = line.find('"', from);
  const auto close = open == std::string::npos ? open : line.find('"', open + 1);
  end = close == std::string::npos ? close : close + 1;
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

/// "MF0;leaf1:MQM8700/U1" calls itself leaf1; what vendors write where nothing was set is no name.
std::string called(const std::string& description) {
  const auto semicolon = description.find(';');
  if (semicolon == std::string::npos)
    return description.find(' ') == std::string::npos ? description : "";
  const auto colon = description.find(':', semicolon);
  return description.substr(semicolon + 1,
                            colon == std::string::npos ? std::string::npos : colon - semicolon - 1);
}

/// "4xHDR" is 200 Gbit/s; 0: it is no speed.
double gbps_of(const std::string& word) {
  struct Lane {
    const char* name;
    double gbps;
  };
  static constexpr Lane kLanes[] = {{"SDR", 2},   {"DDR", 4},  {"QDR", 8},  {"FDR10", 10},
                                    {"FDR", 14},  {"EDR", 25}, {"HDR", 50}, {"NDR", 100},
                                    {"XDR", 200}, {"GDR", 400}};
  const auto cross = word.find('x');
  if (cross == std::string::npos) return 0;
  for (const Lane& lane : kLanes) {
    if (word.substr(cross + 1) == lane.name) return std::atof(word.c_str()) * lane.gbps;
  }
  return 0;
}

std::string last_word(const std::string& line) {
  const auto end = line.find_last_not_of(" \t\r");
  if (end == std::string::npos) return "";
  const auto begin = line.find_last_of(" \t", end);
  return line.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Reads the sections of switches: each of their ports has a line. Sections of adapters say the
/// same from the other side.
class IbReader {
 public:
  IbReader(const std::string& file, const std::vector<std::string>& names)
      : file_(file), names_(names) {}

  Result<FoundNetwork> read(const std::string& text) {
    std::size_t at = 0;
    for (int number = 1; at < text.size(); ++number) {
      const auto end = std::min(text.find('\n', at), text.size());
      if (Status good = line(text.substr(at, end - at), number); !good.ok()) return good.error();
      at = end + 1;
    }
    if (switches_.empty())
      return {Errc::invalid, file_ + ":1: there is no switch; write what ibnetdiscover prints"};
    return finish();
  }

 private:
  struct Port {
    std::string from, to, description;
    double gbps = 0;
  };

  Status line(const std::string& text, int number) {
    const bool head =
        text.starts_with("Switch") || text.starts_with("Ca") || text.starts_with("Rt");
    if (head) {
      std::size_t end = 0;
      const std::string id = quoted(text, 0, end);
      if (id.empty()) return wrong(number, "a section without a \"GUID\"");
      section_ = text.starts_with("Switch") ? id : "";
      if (section_.empty()) return done();
      switches_[id] = end == std::string::npos ? "" : called(quoted(text, end, end));
      return done();
    }
    if (!text.starts_with("[") || section_.empty()) return done();
    std::size_t end = 0;
    Port port;
    port.from = section_;
    port.to = quoted(text, 0, end);
    if (port.to.size() < 3 || end == std::string::npos)
      return wrong(number, "a port without the \"GUID\" at its other end");
    port.description = quoted(text, end, end);
    port.gbps = gbps_of(last_word(text));
    ports_.push_back(std::move(port));
    return done();
  }

  Status wrong(int number, const char* what) const {
    return {Errc::invalid, file_ + ":" + std::to_string(number) + ": " + what +
                               "; write what ibnetdiscover prints"};
  }

  std::string switch_name(const std::string& id) const {
    const std::string& name = switches_.at(id);
    const auto same = std::count_if(switches_.begin(), switches_.end(),
                                    [&](const auto& each) { return each.second == name; });
    return name.empty() || same > 1 || !names_.find(name).empty() ? id : name;
  }

  FoundNetwork finish() const {
    FoundNetwork out;
    std::set<std::string> others;
    for (const Port& port : ports_) {
      const std::string from = switch_name(port.from);
      if (switches_.contains(port.to)) {
        // Both ends have a line; one of the two counts.
        if (port.from < port.to) out.links.push_back({from, switch_name(port.to), port.gbps});
        continue;
      }
      const std::string host = port.description.substr(0, port.description.find(' '));
      const std::string server = names_.find(host);
      if (server.empty()) {
        others.insert(host);
      } else {
        out.links.push_back({server, from, port.gbps});
      }
    }
    if (!others.empty())
      out.remarks.push_back("left out: " + counted(others.size(), "host") + " of " + file_ +
                            " that were not looked at, as " + *others.begin());
    return out;
  }

  std::string file_;
  Names names_;
  std::string section_;  // the switch whose ports follow; empty: an adapter's
  std::map<std::string, std::string> switches_;  // by GUID: what they are called
  std::vector<Port> ports_;
};

}  // namespace

Result<FoundNetwork> read_ibnetdiscover(const std::string& text, const std::string& file,
                                        const std::vector<std::string>& names) {
  return IbReader(file, names).read(text);
}

FoundNetwork network_of(const Topology& described, const std::vector<std::string>& names) {
  FoundNetwork out;
  const Names known(names);
  const auto nodes = described.network_nodes();
  std::set<std::string> others;
  const auto name_at = [&](std::uint32_t node) {
    if (!nodes[node].is_server) return nodes[node].name;
    std::string name = known.find(nodes[node].name);
    if (name.empty()) others.insert(nodes[node].name);
    return name;
  };
  for (const NetworkLink& link : described.network_links()) {
    const std::string a = name_at(link.a), b = name_at(link.b);
    if (!a.empty() && !b.empty()) out.links.push_back({a, b, 0});
  }
  for (std::size_t d = 0; d < described.domains().size(); ++d) {
    const ScaleUpDomain& domain = described.domains()[d];
    for (std::uint32_t s = domain.servers.first; s < domain.servers.last; ++s) {
      const std::string name = known.find(described.server(ServerId{s}).name);
      if (!name.empty()) out.domains[name] = "domain " + std::to_string(d);
    }
  }
  if (!others.empty())
    out.remarks.push_back("left out: " + counted(others.size(), "server") +
                          " of the network's description that were not looked at, as " +
                          *others.begin());
  return out;
}

FoundNetwork network_heard(const std::vector<MachineFound>& machines) {
  FoundNetwork out;
  for (const MachineFound& machine : machines) {
    double fastest = 0;
    for (const NicFound& nic : machine.nics) fastest = std::max(fastest, nic.gbps);
    for (const NeighbourFound& neighbour : machine.neighbours) {
      const auto nic = std::find_if(machine.nics.begin(), machine.nics.end(),
                                    [&](const NicFound& n) { return n.name == neighbour.port; });
      const double gbps = nic == machine.nics.end() ? 0 : nic->gbps;
      if (gbps > 0 && gbps < fastest) continue;
      out.links.push_back({machine.name, neighbour.switch_name, gbps});
    }
  }
  return out;
}

}  // namespace starling
