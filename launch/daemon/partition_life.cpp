// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/partition_life.h"

#include <unistd.h>

#include "agents/check_journal.h"
#include "base/counted.h"
#include "base/login_name.h"
#include "bus/flock.h"
#include "launch/daemon/goodbye_line.h"
#include "launch/daemon/hosted_memory.h"
#include "launch/daemon/hosted_speed.h"
#include "launch/daemon/out_of_reach.h"
#include "launch/deployment/etcd_loss.h"
#include "launch/deployment/transport.h"
#include "launch/servers/core_config.h"
#include "launch/servers/own_numbers.h"
#include "launch/system/log.h"
#include "launch/wiring/wiring.h"

namespace starling {
namespace {

constexpr int kRollCallBeats = 4;

/// Says how things stand, when they have changed.
class StatusLine {
 public:
  explicit StatusLine(std::string prefix) : prefix_(std::move(prefix)) {}

  void say(const AgentStatus& s, const NodeCounters& c) {
    const std::string line =
        prefix_ + counted(s.accepted, "job") + " accepted, " + std::to_string(s.waiting) +
        " waiting, " + std::to_string(s.running) + " running, " + std::to_string(s.finished) +
        " finished, " + std::to_string(s.failed) + " failed; " + std::to_string(s.free) + " of " +
        counted(s.gpus, "GPU") + " free, " + std::to_string(s.quarantined) + " quarantined; " +
        std::to_string(c.bad_frames + c.unauthorised) + " frames refused, " +
        std::to_string(c.dropped) + " dropped";
    if (line != last_) log_info(line);
    last_ = line;
  }

 private:
  std::string prefix_, last_;
};

/// Somebody knows more of this partition than this life. Either it has been taken over, which etcd
/// will say, or its state in etcd is an old copy: that is sure once the lease, renewed since, has
/// outlasted any that another could have had.
class Doubted {
 public:
  bool for_sure(Instant now, Duration lease_left) {
    if (lease_left <= Duration{0})
      since_ = kNever;
    else if (since_ == kNever)
      since_ = now;
    return since_ != kNever && now >= later(since_, kDoubt);
  }

 private:
  static constexpr Duration kDoubt = std::chrono::seconds(10);  // twice a lease
  Instant since_ = kNever;
};

}  // namespace

Result<std::vector<HostedSeat>> seats_of(const DaemonParts& host) {
  std::vector<HostedSeat> seats{{host.me.partition, 0, host.keys}};
  auto members = read_flock(host.deployment.dir / "flock.json");
  if (!members) return members.error();
  const std::uint32_t agents = host.deployment.agents();
  for (const DeployedNode* node : host.deployment.with_role(Role::agent)) {
    const auto member = members.value().find(node->id);
    if (member == members.value().end()) continue;
    for (std::uint32_t i = 1; i < member->second.seats(); ++i) {
      if (host_of_seat(node->partition, i, agents).value != host.me.partition.value) continue;
      seats.push_back(
          {node->partition, i, host.keys.parent_path() / "seats" / (node->name + ".json")});
    }
  }
  return seats;
}

Status live(const DaemonParts& host, const HostedSeat& seat, PartitionState& partition,
            const std::atomic<bool>& wanted) {
  const Deployment& deployment = host.deployment;
  const std::string prefix =
      seat.seat == 0 ? "" : "partition " + std::to_string(seat.partition.value) + ": ";
  auto policy = all_policies().make(deployment.policy);
  if (!policy) return policy.error();
  const AgentId me{seat.partition.value};
  const DeployedNode* node_of_me = deployment.find("agent-" + std::to_string(me.value));
  if (node_of_me == nullptr) return {Errc::invalid, "the flock has no such agent"};
  if (Status s = renumber_journal(*node_of_me, deployment, host.topology, *partition.journal,
                                  partition.recovered,
                                  [&] { partition.authority->renew(partition.mine); });
      !s.ok()) {
    partition.authority->release(partition.mine);
    return s;
  }
  auto core = agent_config(deployment, host.topology, me);
  if (!core) return core.error();
  // The journal knows all lives that ever said anything; this host's counter only those of its own
  // partition.
  const Incarnation life =
      after_last_life(seat.seat == 0 ? host.incarnation : Incarnation{1}, partition.recovered);
  core.value().incarnation = life;
  core.value().epoch = partition.mine.epoch;
  core.value().protocol = host.protocol;
  if (::geteuid() != 0) core.value().only_user = login_name();
  // An epoch in etcd is proof that this is the newest state; elsewhere everybody is asked first.
  if (deployment.state.empty())
    core.value().roll_call = core.value().timers.heartbeat * kRollCallBeats;
  if (Status fits = check_journal(core.value(), partition.recovered); !fits.ok()) {
    partition.authority->release(partition.mine);
    return fits;
  }
  auto bus = open_endpoint(deployment, agent_node(me), seat.keys, Limits{}, seat.seat);
  if (!bus) {
    partition.authority->release(partition.mine);
    const bool may_pass = bus.error().code == Errc::io;
    return {may_pass ? Errc::not_ready : Errc::invalid, bus.error().message};
  }
  log_info(
      prefix + "life " + std::to_string(life.value) + ", " +
      counted(partition.recovered.size(), "record") + " recovered" +
      (deployment.state.empty() ? "" : ", epoch " + std::to_string(partition.mine.epoch.value)));
  HostedMemory memory(deployment, partition.mine,
                      host.state.path() / ("policy-" + std::to_string(seat.partition.value)),
                      prefix);
  const std::string learned = memory.read();
  HostedSpeed speed(deployment, host.topology,
                    host.state.path() / ("speed-" + std::to_string(seat.partition.value)), prefix);
  const Rng rng = Rng(deployment.seed).fork(me.value).fork(life.value);
  const ScaledClock clock(deployment.speedup);
  // How long jobs have waited counts over all lives; in stretched time there is no calendar.
  if (deployment.speedup == 1) {
    core.value().calendar = std::chrono::system_clock::now().time_since_epoch();
  }
  ScaledEndpoint endpoint(*bus.value(), clock);
  const bool local = deployment.state.empty();
  NodeOptions options = node_options(clock, local, partition.found);
  options.stopwatch = &machine_clock();
  AgentNode node(Agent(std::move(core).value(), host.topology, speed.model(),
                       std::move(policy).value(), rng, partition.recovered),
                 endpoint, *partition.journal, options);
  node.recall(partition.recovered);
  if (speed.learns()) node.teach(speed.model(), speed);
  if (const Status taken =
          node.remember(deployment.policy, &memory, std::as_bytes(std::span(learned)), clock.now());
      !taken.ok())
    log_error(prefix + taken.error().message);
  Housekeeping house;
  house.inherited = partition.recovered.size();
  partition.recovered = {};
  StatusLine line(prefix);
  GoodbyeLine goodbye;
  const auto pulse = [&] {
    line.say(node.core().status(), node.counters());
    goodbye.say(node);
    node.keep_learned();
    memory.flush(false);
    speed.say();
  };
  OutOfReach out_of_reach;
  Doubted doubted;
  log_info(prefix + "serving with policy " + deployment.policy);
  house.compact = [&] { return node.compact_some(); };
  house.bytes = [&] { return partition.journal->bytes(); };
  house.keep = [&]() -> Status {
    if (wanted) return {Errc::busy, "the host that should serve it asks for it"};
    if (!deployment.state.empty() &&
        out_of_reach.look(node.core().state().owner.executors, machine_clock().now())) {
      return {Errc::expired, "most of its executors are reached by others, and not from here"};
    }
    const Status kept = keep_partition(partition);
    if (!kept.ok() || local || !node.outlived()) return kept;
    if (!doubted.for_sure(machine_clock().now(), partition.authority->holds_for(partition.mine)))
      return kept;
    const std::uint64_t at = partition.journal->position();
    return note_told_in_etcd(deployment, partition.mine, life, at,
                             told_by(host, *node.outlived(), at));
  };
  house.may_speak_until = [&] { return may_speak_until(partition, clock); };
  house.pulse = pulse;
  const Status ended = serve(node, clock, house);
  pulse();  // keeps what was learned
  memory.flush(true);
  const bool given_up =
      ended.ok() || ended.error().code == Errc::busy || ended.error().code == Errc::expired;
  if (given_up) partition.authority->release(partition.mine);
  if (!ended.ok() && local && node.outlived())
    return note_outlived(host, node, life, partition.journal->position());
  return ended;
}

}  // namespace starling
