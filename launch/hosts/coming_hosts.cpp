// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/coming_hosts.h"

#include <map>

#include "launch/hosts/hosts_file.h"

namespace starling {
namespace {

std::string names_of(const HostFlock& hosts) {
  std::string names;
  for (const Host& host : hosts.hosts) names += (names.empty() ? "" : ", ") + host.name;
  return names;
}

Result<std::vector<std::string>> from_file(const HostFlock& hosts, const Topology& after,
                                           const std::string& file) {
  const auto set = load_hosts(file, after, "flock");
  if (!set) return set.error();
  std::vector<std::string> where;
  for (const std::uint32_t h : set.value().server_host) {
    const std::string& name = set.value().hosts[h].name;
    if (hosts.find(name) == nullptr) {
      return {Errc::invalid, file + ": the flock has no host '" + name + "', only " +
                                 names_of(hosts) +
                                 "; servers can come on these, other hosts need a new flock"};
    }
    where.push_back(name);
  }
  return where;
}

}  // namespace

Result<std::vector<std::string>> coming_hosts(const HostFlock& hosts, const Deployment& flock,
                                              const Topology& before, const Topology& after,
                                              const std::string& file) {
  if (!file.empty()) return from_file(hosts, after, file);
  std::map<std::string, std::string> host_of;
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    for (std::uint32_t s = node->servers.first; s < node->servers.last; ++s)
      host_of[before.server(ServerId{s}).name] = node->host;
  }
  std::vector<std::string> where;
  for (std::uint32_t s = 0; s < after.server_count(); ++s) {
    const std::string& name = after.server(ServerId{s}).name;
    const auto found = host_of.find(name);
    if (found == host_of.end()) {
      return {Errc::invalid, "it is not said on which host server '" + name +
                                 "' is; give --hosts HOSTS.yaml, where every server has a host (" +
                                 names_of(hosts) + ")"};
    }
    where.push_back(found->second);
  }
  return where;
}

}  // namespace starling
