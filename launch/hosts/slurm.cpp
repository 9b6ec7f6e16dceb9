// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/slurm.h"

#include <sys/random.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "launch/hosts/hosts_file.h"
#include "launch/hosts/ipv4.h"
#include "launch/processes/subprocess.h"

namespace starling {
namespace {

/// NodeAddr of a node, as an IPv4 address.
std::optional<std::string> address_of(const std::string& node) {
  const Finished shown = run_program({"scontrol", "show", "node", node});
  const std::string key = "NodeAddr=";
  const auto at = shown.out.find(key);
  if (!shown.ok() || at == std::string::npos) return std::nullopt;
  const auto begin = at + key.size();
  return ipv4_of(shown.out.substr(begin, shown.out.find_first_of(" \n", begin) - begin));
}

/// The folder in the nodes' temporary one, where all users make theirs: no user can have
/// made it beforehand without knowing its name.
Result<std::string> slurm_ground(const std::string& job) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    return {Errc::io, "--hosts slurm: the system has no random numbers"};
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return "starling-" + std::to_string(getuid()) + "-" + job + "-" + text;
}

}  // namespace

Result<HostSet> slurm_hosts(const Topology& topology, const std::string& flock_name) {
  const char* list = std::getenv("SLURM_JOB_NODELIST");
  const char* job = std::getenv("SLURM_JOB_ID");
  if (list == nullptr || job == nullptr) {
    return {Errc::invalid,
            "--hosts slurm: SLURM_JOB_NODELIST is not set; run it inside an allocation, by salloc "
            "or sbatch"};
  }
  const Finished shown = run_program({"scontrol", "show", "hostnames", list});
  if (!shown.ok())
    return {Errc::io, "scontrol show hostnames " + std::string(list) + ": " + last_words(shown)};
  const auto ground = slurm_ground(job);
  if (!ground) return ground.error();
  HostSet set;
  set.way = Way::slurm;
  std::map<std::string, std::uint32_t> index;
  std::istringstream in(shown.out);
  for (std::string name; in >> name;) {
    Host host;
    host.name = host.ssh = name;
    const auto address = address_of(name);
    if (!address) return {Errc::io, "--hosts slurm: node " + name + " has no IPv4 address"};
    host.address = *address;
    host.directory = ground.value() + "/" + flock_name + "/" + name;
    index.emplace(name, static_cast<std::uint32_t>(set.hosts.size()));
    set.hosts.push_back(std::move(host));
  }
  if (set.hosts.empty()) return {Errc::io, "--hosts slurm: the allocation has no nodes"};
  std::vector<std::string> unhosted;
  for (const Server& server : topology.servers()) {
    const auto at = index.find(server.name);
    if (at == index.end()) unhosted.push_back(server.name);
    set.server_host.push_back(at == index.end() ? 0 : at->second);
  }
  if (unhosted.size() == topology.server_count()) {
    set.server_host = spread_servers(topology.server_count(), set.hosts.size());
  } else if (!unhosted.empty()) {
    return {Errc::invalid, "--hosts slurm: server '" + unhosted.front() +
                               "' of the topology is no node of the allocation (" + list +
                               "), others are; give a topology of these nodes"};
  }
  return set;
}

}  // namespace starling
