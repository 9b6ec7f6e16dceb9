#include "launch/daemon/daemon.h"

#include <sys/resource.h>

#include <cstdlib>

#include "launch/chaos/hooks.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/signals.h"
#include "launch/transport.h"
#include "launch/wiring.h"
#include "topology/fingerprint.h"
#include "topology/load.h"

namespace starling {
namespace {

/// A journal with this many records since it was last replaced is replaced by a snapshot.
constexpr std::uint64_t kCompactAfter = 200'000;
constexpr Duration kPulse = std::chrono::seconds(10);
constexpr Duration kSlice = std::chrono::milliseconds(500);

}  // namespace

Result<DaemonParts> open_daemon(const std::filesystem::path& config, Role role,
                                std::uint16_t protocol) {
  auto file = read_node_file(config);
  if (!file) return file.error();
  log_as(file.value().node);
  auto deployment = read_deployment(file.value().flock);
  if (!deployment) return deployment.error();
  if (const char* state = std::getenv(chaos_live::kStateVariable)) deployment.value().state = state;
  const DeployedNode* me = deployment.value().find(file.value().node);
  if (me == nullptr || me->role != role) {
    return {Errc::invalid, config.string() + ": the flock has no such " +
                               (role == Role::agent ? "agent" : "executor") + " as '" +
                               file.value().node + "'"};
  }
  auto topology = load_topology((file.value().flock / deployment.value().topology).string());
  if (!topology) return {Errc::invalid, topology.error().message};
  auto state = StateDir::take(file.value().state);
  if (!state) return state.error();
  auto incarnation = state.value().next_incarnation();
  if (!incarnation) return incarnation.error();
  return DaemonParts{std::move(deployment).value(),
                     *me,
                     std::move(topology).value(),
                     std::move(state).value(),
                     incarnation.value(),
                     file.value().keys,
                     protocol};
}

int daemon_failed(const Error& error) {
  if (error.code == Errc::not_ready && stop_requested()) {
    log_info(error.message);
    return kDone;
  }
  if (error.code != Errc::io) return bad_input(error.message);
  log_error(error.message);
  return kDiskFailed;
}

Status serve(Node& node, const ScaledClock& clock, Housekeeping house) {
  const Clock& machine = machine_clock();
  Instant next_pulse = later(machine.now(), kPulse);
  Instant next_keep = machine.now();
  std::uint64_t compacted = 0;
  while (!stop_requested()) {
    const auto turned = node.run_until(later(clock.now(), clock.stretched(kSlice)));
    Status kept = turned ? done() : Status(turned.error());
    if (kept.ok() && house.inherited + node.counters().records > compacted + kCompactAfter) {
      kept = house.compact();
      house.inherited = 0;
      compacted = node.counters().records;
    }
    if (!kept.ok())
      return {kept.error().code, "the journal cannot be written: " + kept.error().message};
    if (machine.now() >= next_keep) {
      if (const Status mine = house.keep(); !mine.ok()) return mine;
      next_keep = later(machine.now(), kSlice);
    }
    if (machine.now() >= next_pulse) {
      house.pulse();
      next_pulse = later(machine.now(), kPulse);
    }
  }
  return done();
}

namespace {

/// What the owner's ledger and the executors must agree on.
Result<Limits> limits_of(const Deployment& deployment) {
  const auto policy = all_policies().make(deployment.policy);
  if (!policy) return policy.error();
  Limits limits;
  limits.jobs_per_gpu = jobs_per_gpu(policy.value()->facts(), deployment.physics == "full");
  return limits;
}

}  // namespace

Result<AgentConfig> agent_config(const Deployment& deployment, const Topology& topology,
                                 AgentId me) {
  auto parts = partition(topology, deployment.agents());
  if (!parts) return parts.error();
  const auto limits = limits_of(deployment);
  if (!limits) return limits.error();
  AgentConfig config;
  config.me = me;
  config.limits = limits.value();
  config.timers = stretched(config.timers, deployment.speedup);
  config.topology = fingerprint_of(topology);
  for (const Partition& part : parts.value())
    config.flock.push_back({AgentId{part.id.value}, part});
  for (const DeployedNode* node : deployment.with_role(Role::executor)) {
    if (node->partition.value == me.value) config.executors.push_back({node->id, node->servers});
  }
  return config;
}

Result<ExecutorConfig> executor_config(const Deployment& deployment, const DeployedNode& me) {
  const auto limits = limits_of(deployment);
  if (!limits) return limits.error();
  ExecutorConfig config;
  config.limits = limits.value();
  config.timers = stretched(config.timers, deployment.speedup);
  config.me = me.id;
  config.partition = me.partition;
  config.owner = AgentId{me.partition.value};
  config.servers = me.servers;
  return config;
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace starling
