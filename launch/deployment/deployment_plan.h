// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "bus/flock.h"
#include "launch/deployment/deployment.h"
#include "topology/topology.h"

namespace starling {

/// Agents that may take over a partition, where nothing says otherwise.
constexpr std::uint32_t kUsualStandbys = 3;

/// Where nodes of one host may listen: as many addresses (tcp://A:P) of each host as were asked
/// for, by the host's name.
using AddressBook = std::map<std::string, std::vector<std::string>>;
using AddressSource =
    std::function<Result<AddressBook>(const std::map<std::string, std::size_t>& wanted)>;

/// Free loopback ports, for hosts that are all this machine.
[[nodiscard]] Result<AddressBook> loopback_addresses(
    const std::map<std::string, std::size_t>& wanted);

/// A flock that is to be made.
struct DeploymentPlan {
  std::filesystem::path dir;
  std::string policy = "fifo";
  std::string physics = "trace";
  std::string launcher = "emulated";
  std::string speed = {};    ///< as Deployment::speed
  std::uint32_t agents = 1;  ///< and partitions
  std::uint32_t servers_per_executor = 8;
  std::uint32_t clients = 4;  ///< that can talk to it at one time
  std::string user = {};      ///< who has their keys; empty: the flock knows no users
  std::uint64_t seed = 1;
  double speedup = 1;
  bool for_chaos = false;      ///< as Deployment::for_chaos
  std::string state;           ///< as Deployment::state; a flock without a name gets one
  bool adopt = false;          ///< it goes on with what another flock left in `state`
  EtcdAccess etcd = {};        ///< files as the user named them; the flock gets copies
  std::uint32_t standbys = 0;  ///< agents that may take over a partition; needs `state`
  std::vector<std::string> server_hosts = {};  ///< host of each server; empty: all are here
  std::vector<std::string> agent_hosts = {};   ///< and of each agent
  AddressSource addresses = loopback_addresses;
};

/// Makes the run directory, with addresses of the source and fresh keys. All nodes in it are let in
/// and no other. Where the state is to be in etcd, that must answer.
[[nodiscard]] Result<Deployment> create_deployment(const DeploymentPlan& plan,
                                                   const Topology& topology);

/// The folder, configuration and new keys of a node that joins `flock`; the member that it becomes
/// at `address`. One that was made before, and never belonged to the flock, gets new keys.
[[nodiscard]] Result<Member> make_node(const Deployment& flock, const DeployedNode& node,
                                       const std::string& address);

/// `count` TCP ports at `address` (of this machine) that are not in use now, below those that the
/// system hands to outgoing connections. `invalid` if the address is not one of this machine's.
[[nodiscard]] Result<std::vector<std::uint16_t>> free_ports(
    std::size_t count, const std::string& address = "127.0.0.1");

/// Executors of all partitions: each serves at most `servers_per_executor` consecutive servers of
/// one partition and, where `server_hosts` says so, of one host.
[[nodiscard]] Result<std::vector<DeployedNode>> executor_nodes(
    const Topology& topology, std::uint32_t agents, std::uint32_t servers_per_executor,
    const std::vector<std::string>& server_hosts = {});

}  // namespace starling
