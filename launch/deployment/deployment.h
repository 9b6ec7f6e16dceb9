// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/message.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/etcd/etcd_address.h"
#include "topology/topology.h"

namespace starling {

/// One process of a deployed flock. Its folder is nodes/NAME.
struct DeployedNode {
  NodeId id;
  std::string name;  ///< agent-0, executor-3, client-0
  Role role = Role::unknown;
  PartitionId partition;  ///< agents and executors
  IndexRange servers;     ///< executors
  std::string host = {};  ///< of those of several (launch/hosts): where it lives; else empty
};

/// A flock on one data centre, as its run directory says: deployment.json (what it is), flock.json
/// (which nodes are let in, where: bus/flock.h), topology.yaml, and nodes/NAME/ with each node's
/// keys, configuration, state and log; and, in nodes/agent-H/seats/agent-P.json, the keys with
/// which H stands in for P.
struct Deployment {
  std::filesystem::path dir;               ///< where it was read from; not stored
  std::string topology = "topology.yaml";  ///< relative to dir
  std::string policy = "fifo";
  std::string physics = "trace";      ///< of emulated jobs: trace, full or full:goodput
  std::string launcher = "emulated";  ///< or process
  /// What agents ask how fast jobs run (interference/models/speed_choice.h); empty: analytic where
  /// speeds vary (physics full), else nothing.
  std::string speed;
  double speedup = 1;  ///< its clocks run so much faster (scaled_clock.h)
  std::uint64_t seed = 1;
  std::string state;  ///< of agents: empty, in nodes/NAME/state; or etcd://HOST:PORT,.../FLOCK
  EtcdAccess etcd;    ///< with what they get at it; files relative to dir
  /// Its daemons let `chaos live` reach into them (launch/hooks/hooks.h).
  bool for_chaos = false;
  /// Grows by one whenever the servers change (launch/servers); the first one has the cut of
  /// topology/partition.h, later ones keep its borders.
  std::uint32_t generation = 1;
  std::uint64_t fingerprint = 0;    ///< of `topology`, in generations after the first
  std::vector<DeployedNode> nodes;  ///< agents, executors, clients

  /// Speeds of emulated jobs vary.
  [[nodiscard]] bool full_physics() const { return physics != "trace"; }
  /// What larger batches are worth counts there (FullPhysicsOptions).
  [[nodiscard]] bool goodput() const { return physics == "full:goodput"; }
  [[nodiscard]] std::filesystem::path node_dir(const std::string& name) const {
    return dir / "nodes" / name;
  }
  [[nodiscard]] const DeployedNode* find(const std::string& name) const;
  [[nodiscard]] std::vector<const DeployedNode*> with_role(Role role) const;
  [[nodiscard]] std::uint32_t agents() const;
  [[nodiscard]] bool has_agent_on(const std::string& host) const;
};

/// The client place of a user whom 'keys grant' has let in, by its name and back.
[[nodiscard]] std::string granted_name(const std::string& user);
[[nodiscard]] bool is_granted(const DeployedNode& node);

/// Which agent's process has seat `seat` of partition `p`'s agent: its own has seat 0, the next
/// ones in the circle of `agents` its standby seats.
[[nodiscard]] AgentId host_of_seat(PartitionId p, std::uint32_t seat, std::uint32_t agents);

/// True if `dir` holds one.
[[nodiscard]] bool is_deployment(const std::filesystem::path& dir);
/// `not_found` without one, `invalid` names the file and the entry that is wrong, or says that this
/// user may not read it.
[[nodiscard]] Result<Deployment> read_deployment(const std::filesystem::path& dir);
[[nodiscard]] Status write_deployment(const Deployment& deployment);
/// The same in another file of the flock's directory `dir`: an earlier or a coming one.
[[nodiscard]] Result<Deployment> read_deployment_in(const std::filesystem::path& dir,
                                                    const std::filesystem::path& file);
[[nodiscard]] Status write_deployment_in(const std::filesystem::path& file,
                                         const Deployment& deployment);

/// That this user may not read a file of the flock in `dir`, and what helps.
[[nodiscard]] Error not_for_us(const std::filesystem::path& file, const std::filesystem::path& dir);

/// The configuration of one daemon, nodes/NAME/config.json: which flock, which node, where its keys
/// and state live. Relative paths are relative to the file.
struct NodeFile {
  std::filesystem::path flock;
  std::string node;
  std::filesystem::path state;
  std::filesystem::path keys;
};
[[nodiscard]] Result<NodeFile> read_node_file(const std::filesystem::path& file);
[[nodiscard]] Status write_node_file(const std::filesystem::path& file, const NodeFile& node);

/// `option` if given, else $STARLING_FLOCK; `invalid` if neither is.
[[nodiscard]] Result<std::filesystem::path> flock_dir(const std::string& option);

}  // namespace starling
