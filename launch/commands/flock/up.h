// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/wiring/wiring.h"
#include "topology/topology.h"
#include "workload/queue_tree.h"

namespace starling {

/// The options of `starling up`.
struct UpOptions {
  std::string flock, topology, policy{kDefaultPolicy}, launcher = "process", physics = "trace",
                                                       speed, state, hosts, health, queue_file;
  std::optional<QueueTree> queues;  ///< of `queue_file`
  EtcdAccess etcd;
  std::uint32_t agents = 1, partitions = 0, servers_per_executor = 8, standbys = kUsualStandbys;
  std::uint32_t protocol = kNewestProtocol;
  std::set<std::string> given;  ///< options that stand on the command line
  bool no_restart = false, json = false, detach = false, adopt = false;
  double speedup = 1, most_skew_s = 5;
};

/// --speed as daemons are to read it, wherever they run. Weights that cannot be used stop no flock:
/// its agents fall back to the analytic model, and stderr says so.
[[nodiscard]] Result<std::string> usable_speed(const UpOptions& o);

/// The data centre and what of the plan does not depend on where it runs; `invalid` names the
/// option that is wrong.
struct UpPlan {
  Topology topology;
  DeploymentPlan plan;
};
[[nodiscard]] Result<UpPlan> up_plan(const UpOptions& o, const std::filesystem::path& dir);

/// What to say on stderr of standbys that a flock with this state cannot have; empty: nothing.
[[nodiscard]] std::string idle_standbys(const UpOptions& o, const std::string& state);

/// The file of --health is right, if there is one; and a copy of it in the flock's directory.
[[nodiscard]] Status check_health(const UpOptions& o);
[[nodiscard]] Status keep_health(const UpOptions& o, const std::filesystem::path& dir);

/// Reads the file of --queues, if there is one.
[[nodiscard]] Status read_queues(UpOptions& o);
/// Puts its queues into force in a flock that is up; why they are not, or empty.
[[nodiscard]] std::string set_queues_of(const UpOptions& o, const std::filesystem::path& dir);

/// `up` with --hosts, or for a directory whose flock is on hosts. The exit status.
int up_on_hosts(const UpOptions& o, const std::filesystem::path& dir);

}  // namespace starling
