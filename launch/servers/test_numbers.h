// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/exchange.h"
#include "store/sqlite/sqlite_journal.h"
#include "topology/file/load.h"
#include "topology/fingerprint.h"

// For tests: a flock whose servers change, and journals that speak of them.

namespace starling {

/// Servers of two GPUs.
inline Topology of(const std::string& names) {
  const auto read = parse_topology_yaml(
      "name: t\nserver_templates: {x: {gpus: 2, gpu_type: V100}}\nracks:\n  - {name: r, servers: "
      "[{template: x, names: [" +
          names + "]}]}\n",
      "t.yaml");
  REQUIRE_MESSAGE(read.ok(), (read ? std::string() : read.error().message));
  return read.value();
}

inline const AttemptId kAttempt{JobId{0, 1}, Epoch{1}, 1};

/// A flock of one agent on servers a, b, c, one executor each, that is to have others.
struct Rig {
  explicit Rig(const std::string& after_names, const std::string& state = "")
      : after(of(after_names)) {
    DeploymentPlan plan;
    plan.dir = folder.path / "flock";
    plan.state = state;
    plan.clients = 1;
    plan.servers_per_executor = 1;
    before = create_deployment(plan, of("a, b, c")).value();
    servers = plan_servers(before, of("a, b, c"), after, 1, 3).value();
  }
  void write(const std::string& node, const std::vector<Record>& records) const {
    const std::filesystem::path dir = before.node_dir(node) / "state";
    const auto state = StateDir::take(dir).value();
    auto journal = SqliteJournal::open(dir / "journal.db").value();
    REQUIRE(journal->append(records).ok());
    REQUIRE(state.note_begun().ok());
  }
  [[nodiscard]] std::vector<Record> of_agent(std::uint32_t gpu) const {
    JobAccepted accepted;
    accepted.submit.spec.id = kAttempt.job;
    accepted.submit.spec.workers = 1;
    accepted.submit.spec.gpus_per_worker = 1;
    ShareCommitted share{kAttempt, AgentId{0}, {}};
    share.commit.attempt = kAttempt;
    share.commit.spec = accepted.submit.spec;
    share.commit.gang = {{PartitionId{0}, {GpuId{gpu}}}};
    return {LifeBegan{Incarnation{3}, Epoch{1}}, accepted,
            AttemptStarting{kAttempt, share.commit.gang}, share, ShareLaunched{kAttempt}};
  }
  [[nodiscard]] std::vector<Record> of_executor(std::uint32_t gpu) const {
    ProcessLaunching launching;
    launching.launch.attempt = kAttempt;
    launching.launch.spec.id = kAttempt.job;
    launching.launch.spec.workers = 1;
    launching.launch.spec.gpus_per_worker = 1;
    launching.launch.gang = {{PartitionId{0}, {GpuId{gpu}}}};
    launching.launch.here = {GpuId{gpu}};
    return {LifeBegan{Incarnation{3}, Epoch{1}}, TopologyRead{fingerprint_of(of("a, b, c"))},
            launching};
  }
  Status go_over() const {
    if (Status s = prepare_servers(before, servers, after); !s.ok()) return s;
    if (Status s = ask_for_servers(servers.flock); !s.ok()) return s;
    return take_servers(before.dir);
  }
  TestFolder folder{"own-numbers"};
  Topology after;
  Deployment before;
  NewServers servers;
};

template <class R>
std::vector<R> all(const std::vector<Record>& records) {
  std::vector<R> found;
  for (const Record& record : records) {
    if (const auto* r = std::get_if<R>(&record)) found.push_back(*r);
  }
  return found;
}

}  // namespace starling
