#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "launch/deployment.h"
#include "topology/topology.h"

namespace starling {

/// Agents that may take over a partition, where nobody says otherwise.
constexpr std::uint32_t kUsualStandbys = 3;

/// A flock on this machine that is to be made.
struct DeploymentPlan {
  std::filesystem::path dir;
  std::string policy = "fifo";
  std::string physics = "trace";
  std::string launcher = "emulated";
  std::uint32_t agents = 1;  ///< and partitions
  std::uint32_t servers_per_executor = 8;
  std::uint32_t clients = 4;  ///< that can talk to it at one time
  std::uint64_t seed = 1;
  double speedup = 1;
  std::string state;           ///< as Deployment::state; a flock without a name gets one
  std::uint32_t standbys = 0;  ///< agents that may take over a partition; needs `state`
};

/// Makes the run directory, with free loopback ports and fresh keys. Everybody in it is let in and
/// nobody else.
/// Where the state is to be in etcd, that must answer.
[[nodiscard]] Result<Deployment> create_deployment(const DeploymentPlan& plan,
                                                   const Topology& topology);

/// `count` TCP ports on loopback that nobody uses now, below those that the system hands to
/// outgoing connections.
[[nodiscard]] Result<std::vector<std::uint16_t>> free_ports(std::size_t count);

/// Executors of all partitions: each serves at most `servers_per_executor` consecutive servers of
/// one.
[[nodiscard]] Result<std::vector<DeployedNode>> executor_nodes(const Topology& topology,
                                                               std::uint32_t agents,
                                                               std::uint32_t servers_per_executor);

}  // namespace starling
