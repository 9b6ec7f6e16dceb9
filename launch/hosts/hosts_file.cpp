// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/hosts_file.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/counted.h"
#include "launch/hosts/ipv4.h"
#include "topology/builder.h"
#include "topology/partition.h"
#include "topology/reading/yaml_reader.h"
#include "workload/text/text_file.h"
#include "workload/yaml_documents.h"

namespace starling {
namespace {

constexpr std::size_t kFileBytes = std::size_t{4} << 20U;
constexpr std::uint32_t kNone = 0xffff'ffffU;

/// Does `text` match `pattern`, in which * stands for any characters?
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*')
    return !text.empty() && text.front() == pattern.front() &&
           matches(pattern.substr(1), text.substr(1));
  for (std::size_t skip = 0; skip <= text.size(); ++skip) {
    if (matches(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

/// ~/FILE is in the home of the user who runs this.
std::string at_home(const std::string& file) {
  const char* home = std::getenv("HOME");
  return file.starts_with("~/") && home != nullptr ? home + file.substr(1) : file;
}

class Reader {
 public:
  /// `any_servers`: what hosts say of servers is not looked at.
  Reader(Diagnostics& diagnostics, const Topology& topology, std::string flock_name,
         bool any_servers = false)
      : diagnostics_(diagnostics),
        topology_(topology),
        flock_name_(std::move(flock_name)),
        any_servers_(any_servers) {
    set_.server_host.assign(topology.server_count(), kNone);
    for (std::uint32_t s = 0; s < topology.server_count(); ++s)
      numbers_.emplace(topology.server(ServerId{s}).name, s);
  }

  HostSet read(const YAML::Node& root) {
    const YamlMap map(diagnostics_, root, "the hosts file", {"hosts", "defaults"});
    Host defaults;
    if (map.has("defaults")) {
      const YamlMap given(diagnostics_, map.get("defaults"), "defaults",
                          {"user", "port", "identity", "known_hosts", "program", "directory"});
      connection(given, defaults);
      defaults.directory = given.name("directory", "");
    }
    for (const YAML::Node& node : map.list("hosts", true)) host(node, defaults);
    if (diagnostics_.any()) return set_;
    if (!named_servers_) {
      set_.server_host = spread_servers(topology_.server_count(), set_.hosts.size());
    } else {
      const auto unhosted = std::find(set_.server_host.begin(), set_.server_host.end(), kNone);
      if (unhosted != set_.server_host.end()) {
        const auto s = static_cast<std::uint32_t>(unhosted - set_.server_host.begin());
        diagnostics_.add(map.place("hosts"),
                         "server '" + topology_.server(ServerId{s}).name +
                             "' of the topology lives on no host; name it under a host's servers");
      }
    }
    return set_;
  }

 private:
  /// How ssh gets there, where it says so.
  void connection(const YamlMap& map, Host& host) const {
    host.user = map.name("user", host.user);
    host.port = map.whole("port", 1, 65'535, host.port);
    host.identity = at_home(map.name("identity", host.identity));
    host.known_hosts = at_home(map.name("known_hosts", host.known_hosts));
    host.program = map.name("program", host.program);
  }

  void host(const YAML::Node& node, const Host& defaults) {
    const YamlMap map(diagnostics_, node, "a host",
                      {"name", "address", "ssh", "user", "port", "identity", "known_hosts",
                       "program", "servers", "agents", "directory"});
    Host host = defaults;
    host.name = map.name("name", std::nullopt);
    const bool plain = host.name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                           "UVWXYZ0123456789._-") == std::string::npos;
    if (!plain)
      diagnostics_.add(map.place("name"),
                       "name '" + host.name + "' has other characters than letters, digits, . _ -");
    if (!host.name.empty() && !names_.insert(host.name).second)
      diagnostics_.add(map.place("name"), "host '" + host.name + "' is listed twice");
    const std::string address = map.name("address", host.name);
    const SourcePlace at = map.has("address") ? map.place("address") : map.place();
    if (!address.empty() && plain) {
      if (const auto ip = ipv4_of(address)) {
        host.address = *ip;
      } else {
        diagnostics_.add(at, "host '" + host.name + "': '" + address +
                                 "' is no address and no name that this machine can resolve; give "
                                 "address: as an IPv4 address");
      }
    }
    host.ssh = map.name("ssh", address);
    if (host.ssh.starts_with("-"))
      diagnostics_.add(map.place("ssh"), "ssh '" + host.ssh + "' begins with '-'; give a host");
    connection(map, host);
    const std::string usual = ".starling/" + flock_name_ + "/" + host.name;
    host.directory = map.name("directory", defaults.directory.empty() ? usual : defaults.directory);
    if (host.directory == "/" || host.directory.find("..") != std::string::npos)
      diagnostics_.add(map.place("directory"),
                       "directory '" + host.directory + "' is no folder for a flock alone");
    if (map.has("agents")) host.agents = map.whole("agents", 0, 4096, 0);
    const auto index = static_cast<std::uint32_t>(set_.hosts.size());
    if (map.has("servers") && !any_servers_) servers(map.get("servers"), index, host.name);
    set_.hosts.push_back(std::move(host));
  }

  /// One text or a list: names, names with *, and A..B.
  void servers(const YAML::Node& node, std::uint32_t host, const std::string& who) {
    named_servers_ = true;
    if (node.IsScalar()) return give_servers(node, host, who);
    if (!node.IsSequence() || node.size() == 0)
      return diagnostics_.add(place_of(node), "host '" + who +
                                                  "': servers is a list of the topology's servers, "
                                                  "as [server-0, rack1-*, node3..node9]");
    for (const YAML::Node& item : node) give_servers(item, host, who);
  }

  void give_servers(const YAML::Node& node, std::uint32_t host, const std::string& who) {
    const auto text = read_name(diagnostics_, node, "a server");
    if (!text) return;
    const SourcePlace at = place_of(node);
    const auto take = [&](std::uint32_t server) {
      std::uint32_t& holder = set_.server_host[server];
      if (holder != kNone && holder != host) {
        diagnostics_.add(at, "server '" + topology_.server(ServerId{server}).name +
                                 "' lives on host '" + set_.hosts.at(holder).name + "' already");
      }
      holder = host;
    };
    if (const auto known = numbers_.find(*text); known != numbers_.end())
      return take(known->second);
    if (const auto dots = text->find(".."); dots != std::string::npos) {
      const auto first = numbers_.find(text->substr(0, dots));
      const auto last = numbers_.find(text->substr(dots + 2));
      if (first == numbers_.end() || last == numbers_.end() || first->second > last->second) {
        return diagnostics_.add(at, "host '" + who + "': '" + *text +
                                        "' is no range; both ends are servers of the topology, in "
                                        "its order");
      }
      for (std::uint32_t s = first->second; s <= last->second; ++s) take(s);
      return;
    }
    bool any = false;
    if (text->find('*') != std::string::npos) {
      for (const auto& [name, server] : numbers_) {
        if (!matches(*text, name)) continue;
        any = true;
        take(server);
      }
    }
    if (any) return;
    std::vector<std::string> known;
    for (const auto& [name, server] : numbers_) known.push_back(name);
    diagnostics_.add(at, "host '" + who + "': the topology has no server '" + *text + "'" +
                             suggestion(*text, known));
  }

  Diagnostics& diagnostics_;
  const Topology& topology_;
  std::string flock_name_;
  bool any_servers_;
  HostSet set_;
  std::map<std::string, std::uint32_t> numbers_;
  std::set<std::string> names_;
  bool named_servers_ = false;
};

/// GPUs of a partition by host.
std::vector<std::uint32_t> gpus_by_host(const HostSet& set, const Topology& topology,
                                        const Partition& part) {
  std::vector<std::uint32_t> gpus(set.hosts.size());
  for (std::uint32_t s = part.servers.first; s < part.servers.last; ++s)
    gpus[set.server_host[s]] += topology.server(ServerId{s}).gpus.size();
  return gpus;
}

Result<HostSet> read_hosts(const std::string& text, const std::filesystem::path& file,
                           const Topology& topology, const std::string& flock_name,
                           bool any_servers) {
  Diagnostics diagnostics(file.string());
  try {
    if (const auto second = second_document(text)) {
      diagnostics.add({second->line + 1, second->column + 1},
                      "a second document starts; a hosts file is one mapping");
      return diagnostics.error();
    }
    HostSet set = Reader(diagnostics, topology, flock_name, any_servers).read(YAML::Load(text));
    if (diagnostics.any()) return diagnostics.error();
    return set;
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    diagnostics.add(known ? SourcePlace{error.mark.line + 1, error.mark.column + 1} : SourcePlace{},
                    "this is not YAML: " + error.msg);
    return diagnostics.error();
  }
}

Result<std::string> text_of_hosts(const std::filesystem::path& file) {
  Result<std::string> text = read_text_file(file, kFileBytes);
  if (text) return text;
  return {Errc::invalid,
          text.error().message + "; give a hosts file, see docs/hosts.md and examples/hosts/"};
}

}  // namespace

std::vector<std::uint32_t> spread_servers(std::uint32_t servers, std::size_t hosts) {
  std::vector<std::uint32_t> host_of(servers);
  for (std::uint32_t s = 0; s < servers; ++s)
    host_of[s] = static_cast<std::uint32_t>(std::uint64_t{s} * hosts / servers);
  return host_of;
}

std::uint32_t default_agents(const HostSet& set, const Topology& topology) {
  std::uint32_t wanted = 0, most = 0;
  for (const Host& host : set.hosts) wanted += host.agents.value_or(1);
  for (const Server& server : topology.servers()) most += server.gpus.size() > 0 ? 1 : 0;
  return std::max(1U, std::min(wanted, most));
}

Result<std::vector<std::uint32_t>> place_agents(const HostSet& set, const Topology& topology,
                                                std::uint32_t agents) {
  auto parts = partition(topology, agents);
  if (!parts) return parts.error();
  std::uint32_t said = 0, open = 0;
  for (const Host& host : set.hosts) {
    said += host.agents.value_or(0);
    open += host.agents ? 0 : 1;
  }
  if (said > agents || (open == 0 && said < agents)) {
    return {Errc::invalid, "the hosts file places " + counted(said, "agent") + ", but " +
                               std::to_string(agents) +
                               " are wanted; change a host's agents:, or --agents"};
  }
  std::vector<std::uint32_t> room;
  std::uint32_t rest = agents - said, left = open;
  for (const Host& host : set.hosts) {
    const std::uint32_t share = left == 0 ? 0 : (rest + left - 1) / left;
    room.push_back(host.agents.value_or(share));
    if (host.agents) continue;
    rest -= share;
    --left;
  }
  std::vector<std::uint32_t> host_of;
  for (const Partition& part : parts.value()) {
    const auto gpus = gpus_by_host(set, topology, part);
    std::uint32_t best = kNone;
    for (std::uint32_t h = 0; h < room.size(); ++h) {
      if (room[h] > 0 && (best == kNone || gpus[h] > gpus[best])) best = h;
    }
    --room[best];
    host_of.push_back(best);
  }
  return host_of;
}

Result<HostSet> parse_hosts(const std::string& text, const std::filesystem::path& file,
                            const Topology& topology, const std::string& flock_name) {
  return read_hosts(text, file, topology, flock_name, false);
}

Result<HostSet> load_hosts(const std::filesystem::path& file, const Topology& topology,
                           const std::string& flock_name) {
  const auto text = text_of_hosts(file);
  if (!text) return text.error();
  return parse_hosts(text.value(), file, topology, flock_name);
}

Result<HostSet> load_host_list(const std::filesystem::path& file) {
  const auto text = text_of_hosts(file);
  if (!text) return text.error();
  return read_hosts(text.value(), file, TopologyBuilder("none").build(), "discover", true);
}

}  // namespace starling
