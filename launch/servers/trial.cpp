// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/trial.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "launch/deployment/deployment_check.h"
#include "launch/deployment/health_file.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/generations.h"
#include "launch/servers/own_numbers.h"
#include "launch/system/files.h"
#include "topology/compare.h"
#include "topology/file/load.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Record>> own_records(const DeployedNode& me, const fs::path& flock,
                                        const fs::path& dir) {
  std::error_code ignored;
  if (!fs::exists(dir / "journal.db", ignored)) return std::vector<Record>{};
  const auto state = StateDir::take(dir);
  if (!state) return state.error();
  auto journal = open_own_journal(me, flock, state.value());
  if (!journal) return journal.error();
  return journal.value()->recover();
}

/// Whether what the node has written down can be said with the servers of `next`.
Status can_go_over(const DeployedNode& me, const std::vector<Generation>& earlier,
                   const Deployment& next, const Topology& topology, HeldPartitions& held) {
  const bool in_etcd = me.role == Role::agent && !next.state.empty();
  const auto recovered =
      in_etcd ? held.take(me) : own_records(me, next.dir, next.node_dir(me.name) / "state");
  if (!recovered) return recovered.error();
  const auto records = in_new_numbers(me, earlier, next, topology, recovered.value());
  if (records) return done();
  return {records.error().code, me.name + ": " + records.error().message};
}

}  // namespace

Status try_servers(const Deployment& now, const Deployment& next, const std::string& host,
                   HeldPartitions& held) {
  if (next.generation != now.generation + 1)
    return {Errc::invalid, "the flock's servers have been changed otherwise meanwhile"};
  const auto topology = load_topology((next.dir / next.topology).string());
  if (!topology) return {Errc::invalid, topology.error().message};
  if (Status fits = fits_topology(next, topology.value()); !fits.ok()) return fits;
  const auto earlier = earlier_generations(next);
  if (!earlier) return earlier.error();
  // Executors first: one that waits for something to end should not have taken anything.
  for (const Role role : {Role::executor, Role::agent}) {
    for (const DeployedNode* node : now.with_role(role)) {
      if (node->host != host) continue;
      Status s = can_go_over(*node, earlier.value(), next, topology.value(), held);
      if (!s.ok()) return s;
    }
  }
  return held.still_held();
}

Status health_files_allow(const Deployment& flock, const std::string& host, const Topology& before,
                          const Topology& after) {
  const auto numbers = renumbering(before, after);
  if (!numbers) return numbers.error();
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    if (node->host != host) continue;
    const IndexRange gpus{before.server(ServerId{node->servers.first}).gpus.first,
                          before.server(ServerId{node->servers.last - 1}).gpus.last};
    bool same = true;
    for (std::uint32_t g = gpus.first; g < gpus.last; ++g)
      same = same && numbers.value().gpus[g] == g;
    const auto file = flock.node_dir(node->name) / "health";
    const auto text = read_text(file);
    if (same || !text) continue;
    const auto sick = parse_health(text.value(), gpus);
    if (sick && sick.value().empty()) continue;
    return {Errc::invalid, file.string() +
                               " names GPUs by their numbers, which change; empty it, "
                               "drain their servers, and write the new numbers after"};
  }
  return done();
}

}  // namespace starling
