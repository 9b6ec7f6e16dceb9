// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/own_numbers.h"

#include <algorithm>
#include <chrono>

#include "agents/agent/agent.h"
#include "agents/check_journal.h"
#include "agents/executor/executor_state.h"
#include "agents/renumber.h"
#include "interference/models.h"
#include "launch/servers/core_config.h"
#include "launch/system/log.h"
#include "launch/wiring/wiring.h"

namespace starling {
namespace {

Result<std::vector<Record>> agent_snapshot(const Generation& was, AgentId me,
                                           const std::vector<Record>& recovered) {
  auto config = agent_config(was.flock, was.topology, me);
  if (!config) return config.error();
  auto policy = all_policies().make(was.flock.policy);
  if (!policy) return policy.error();
  AgentConfig& core = config.value();
  const LifeBegan last = last_life(recovered);
  core.incarnation = last.incarnation;
  core.epoch = last.epoch;
  if (was.flock.speedup == 1) core.calendar = std::chrono::system_clock::now().time_since_epoch();
  if (Status fits = check_journal(core, recovered); !fits.ok()) return fits.error();
  const std::unique_ptr<SpeedModel> speed = make_flat_speed();
  return Agent(core, was.topology, *speed, std::move(policy).value(), Rng(1), recovered).snapshot();
}

Result<std::vector<Record>> executor_snapshot(const Generation& was, const DeployedNode& me,
                                              const std::vector<Record>& recovered) {
  auto config = executor_config(was.flock, me);
  if (!config) return config.error();
  ExecutorConfig& core = config.value();
  core.incarnation = last_life(recovered).incarnation;
  core.topology = was.fingerprint;
  if (Status fits = fits_journal(core, was.topology, recovered); !fits.ok()) return fits.error();
  return Executor(core, was.topology, recovered).snapshot();
}

/// The earlier generation in whose numbers the records are; none: in today's. `invalid`: in those
/// of one that is not known here, as where an earlier description of the flock was put back.
Result<const Generation*> writer_of(const DeployedNode& me, const std::vector<Generation>& earlier,
                                    std::uint64_t now, const std::vector<Record>& recovered) {
  const std::uint64_t read = topology_read(recovered);
  const Generation* const none = nullptr;
  if (read == now) return none;
  if (read == 0) return earlier.empty() ? none : &earlier.front();
  const auto was = std::find_if(earlier.rbegin(), earlier.rend(),
                                [&](const Generation& g) { return g.fingerprint == read; });
  if (was != earlier.rend()) return &*was;
  // An executor that has read a wrong file may go on where nothing runs: fits_journal().
  if (me.role != Role::agent) return none;
  return {Errc::invalid,
          "the journal of " + me.name +
              " was written with servers that the flock's description does not know; put back the "
              "newer deployment.json, with its folder 'servers', or restore both from one backup"};
}

Result<std::vector<Record>> from(const Generation& was, const DeployedNode& me,
                                 const Deployment& now, const Topology& topology,
                                 const std::vector<Record>& recovered) {
  const DeployedNode* then = was.flock.find(me.name);
  if (then == nullptr)
    return {Errc::invalid, me.name + " has a journal of a time when it was not there"};
  const auto numbers = renumbering(was.topology, topology);
  if (!numbers) return numbers.error();
  auto snapshot = me.role == Role::agent
                      ? agent_snapshot(was, AgentId{me.partition.value}, recovered)
                      : executor_snapshot(was, *then, recovered);
  if (!snapshot) return snapshot.error();
  return renumbered_journal(std::move(snapshot).value(), recovered, numbers.value(), was.topology,
                            fingerprint_in(now, topology));
}

}  // namespace

Result<std::vector<Record>> in_new_numbers(const DeployedNode& me,
                                           const std::vector<Generation>& earlier,
                                           const Deployment& now, const Topology& topology,
                                           const std::vector<Record>& recovered) {
  if (recovered.empty()) return std::vector<Record>{};
  const auto was = writer_of(me, earlier, fingerprint_in(now, topology), recovered);
  if (!was) return was.error();
  if (was.value() == nullptr) return std::vector<Record>{};
  return from(*was.value(), me, now, topology, recovered);
}

Status renumber_journal(const DeployedNode& me, const Deployment& now, const Topology& topology,
                        Journal& journal, std::vector<Record>& recovered,
                        const std::function<void()>& progress) {
  const std::uint64_t fingerprint = fingerprint_in(now, topology);
  if (recovered.empty()) {
    if (now.generation == 1) return done();
    recovered = {TopologyRead{fingerprint}};
    return journal.append(recovered);
  }
  // As at most starts, and while a partition is taken over: no other topology has to be read.
  if (topology_read(recovered) == fingerprint) return done();
  const auto earlier = earlier_generations(now);
  if (!earlier) return earlier.error();
  const auto writer = writer_of(me, earlier.value(), fingerprint, recovered);
  if (!writer) return writer.error();
  const Generation* was = writer.value();
  if (was == nullptr) return done();
  auto records = from(*was, me, now, topology, recovered);
  if (!records) {
    return {Errc::invalid, "the servers have changed, and " + records.error().message +
                               "; give the flock its earlier servers back: starling configure "
                               "--topology " +
                               (now.dir / was->flock.topology).string()};
  }
  const auto numbers = renumbering(was->topology, topology);
  if (!numbers) return numbers.error();
  if (Status put =
          replace_renumbered(journal, records.value(), numbers.value(), was->topology, progress);
      !put.ok())
    return put;
  recovered = std::move(records).value();
  log_info("the journal was written with other servers (generation " +
           std::to_string(was->flock.generation) + "); its numbers are those of generation " +
           std::to_string(now.generation) + " now");
  return done();
}

}  // namespace starling
