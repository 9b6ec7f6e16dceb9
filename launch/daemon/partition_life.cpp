// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/partition_life.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "agents/check_journal.h"
#include "base/counted.h"
#include "base/login_name.h"
#include "bus/flock.h"
#include "launch/daemon/goodbye_line.h"
#include "launch/daemon/hosted_memory.h"
#include "launch/daemon/hosted_speed.h"
#include "launch/daemon/out_of_reach.h"
#include "launch/daemon/room_line.h"
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

/// A peer knows more of this partition than this life. Either it has been taken over, which etcd
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

/// One life of a partition at one seat.
class SeatLife {
 public:
  SeatLife(const DaemonParts& host, const HostedSeat& seat, PartitionState& partition)
      : host_(host),
        seat_(seat),
        partition_(partition),
        prefix_(seat.seat == 0 ? "" : "partition " + std::to_string(seat.partition.value) + ": "),
        local_(host.deployment.state.empty()) {}

  /// The journal in present numbers, and what the agent that goes on from it is to know.
  Result<AgentConfig> take_up();
  /// Serves until the end, whose reason is as that of live().
  Status run(AgentConfig core, std::unique_ptr<Policy> policy, Endpoint& bus,
             const std::atomic<bool>& wanted);

 private:
  [[nodiscard]] std::filesystem::path own_file(const char* what) const {
    return host_.state.path() / (std::string(what) + "-" + std::to_string(seat_.partition.value));
  }
  /// At every heartbeat: an error ends it.
  Status keep(const Node& node, const std::atomic<bool>& wanted,
              const std::vector<OwnedExecutor>& executors);
  Status end(const Node& node, const Status& ended);

  const DaemonParts& host_;
  const HostedSeat& seat_;
  PartitionState& partition_;
  std::string prefix_;
  bool local_;  ///< its state is a file of this host's
  Incarnation life_;
  OutOfReach out_of_reach_;
  Doubted doubted_;
};

Result<AgentConfig> SeatLife::take_up() {
  const Deployment& deployment = host_.deployment;
  const AgentId me{seat_.partition.value};
  const DeployedNode* node_of_me = deployment.find("agent-" + std::to_string(me.value));
  if (node_of_me == nullptr) return {Errc::invalid, "the flock has no such agent"};
  if (Status s = renumber_journal(*node_of_me, deployment, host_.topology, *partition_.journal,
                                  partition_.recovered,
                                  [&] { partition_.authority->renew(partition_.mine); });
      !s.ok())
    return s.error();
  auto core = agent_config(deployment, host_.topology, me);
  if (!core) return core.error();
  // The journal knows all lives that ever said anything; this host's counter only those of its own
  // partition.
  life_ =
      after_last_life(seat_.seat == 0 ? host_.incarnation : Incarnation{1}, partition_.recovered);
  core.value().incarnation = life_;
  core.value().epoch = partition_.mine.epoch;
  core.value().protocol = host_.protocol;
  if (::geteuid() != 0) core.value().only_user = login_name();
  // An epoch in etcd is proof that this is the newest state; elsewhere everybody is asked first.
  if (local_) core.value().roll_call = core.value().timers.heartbeat * kRollCallBeats;
  if (Status fits = check_journal(core.value(), partition_.recovered); !fits.ok())
    return fits.error();
  return core;
}

Status SeatLife::run(AgentConfig core, std::unique_ptr<Policy> policy, Endpoint& bus,
                     const std::atomic<bool>& wanted) {
  const Deployment& deployment = host_.deployment;
  log_info(prefix_ + "life " + std::to_string(life_.value) + ", " +
           counted(partition_.recovered.size(), "record") + " recovered" +
           (local_ ? "" : ", epoch " + std::to_string(partition_.mine.epoch.value)));
  HostedMemory memory(deployment, partition_.mine, own_file("policy"), prefix_);
  const std::string learned = memory.read();
  HostedSpeed speed(deployment, host_.topology, own_file("speed"), prefix_);
  const Rng rng = Rng(deployment.seed).fork(core.me.value).fork(life_.value);
  const ScaledClock clock(deployment.speedup);
  // How long jobs have waited counts over all lives; in stretched time there is no calendar.
  if (deployment.speedup == 1) core.calendar = std::chrono::system_clock::now().time_since_epoch();
  ScaledEndpoint endpoint(bus, clock);
  NodeOptions options = node_options(clock, local_, partition_.found);
  options.stopwatch = &machine_clock();
  AgentNode node(Agent(std::move(core), host_.topology, speed.model(), std::move(policy), rng,
                       partition_.recovered),
                 endpoint, *partition_.journal, options);
  node.recall(partition_.recovered);
  if (speed.learns()) node.teach(speed.model(), speed);
  if (const Status taken =
          node.remember(deployment.policy, &memory, std::as_bytes(std::span(learned)), clock.now());
      !taken.ok())
    log_error(prefix_ + taken.error().message);
  Housekeeping house;
  house.inherited = partition_.recovered.size();
  partition_.recovered = {};
  StatusLine line(prefix_);
  GoodbyeLine goodbye;
  house.pulse = [&] {
    line.say(node.core().status(), node.counters());
    goodbye.say(node);
    node.keep_learned();
    memory.flush(false);
    speed.say();
  };
  // A snapshot of everything is no use of the last room.
  RoomLine room;
  house.compact = [&] { return room.is_short() ? Result<bool>(false) : node.compact_some(); };
  house.bytes = [&] { return partition_.journal->bytes(); };
  house.keep = [&] {
    room.say(*partition_.journal);
    return keep(node, wanted, node.core().state().owner.executors);
  };
  house.may_speak_until = [&] { return may_speak_until(partition_, clock); };
  log_info(prefix_ + "serving with policy " + deployment.policy);
  const Status ended = serve(node, clock, house);
  house.pulse();  // keeps what was learned
  memory.flush(true);
  return end(node, ended);
}

Status SeatLife::keep(const Node& node, const std::atomic<bool>& wanted,
                      const std::vector<OwnedExecutor>& executors) {
  if (wanted) return {Errc::busy, "the host that should serve it asks for it"};
  if (!local_ && out_of_reach_.look(executors, machine_clock().now()))
    return {Errc::expired, "most of its executors are reached by others, and not from here"};
  Status kept = keep_partition(partition_);
  if (!kept.ok() || local_ || !node.outlived()) return kept;
  if (!doubted_.for_sure(machine_clock().now(), partition_.authority->holds_for(partition_.mine)))
    return kept;
  const std::uint64_t at = partition_.journal->position();
  return note_told_in_etcd(host_.deployment, partition_.mine, life_, at,
                           told_by(host_, *node.outlived(), at));
}

Status SeatLife::end(const Node& node, const Status& ended) {
  const bool given_up =
      ended.ok() || ended.error().code == Errc::busy || ended.error().code == Errc::expired;
  if (given_up) partition_.authority->release(partition_.mine);
  if (!ended.ok() && local_ && node.outlived())
    return note_outlived(host_, node, life_, partition_.journal->position());
  return ended;
}

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
  auto policy = all_policies().make(host.deployment.policy);
  if (!policy) return policy.error();
  SeatLife life(host, seat, partition);
  auto core = life.take_up();
  if (!core) {
    partition.authority->release(partition.mine);
    return core.error();
  }
  auto bus =
      open_endpoint(host.deployment, agent_node(core.value().me), seat.keys, Limits{}, seat.seat);
  if (!bus) {
    partition.authority->release(partition.mine);
    const bool may_pass = bus.error().code == Errc::io;
    return {may_pass ? Errc::not_ready : Errc::invalid, bus.error().message};
  }
  return life.run(std::move(core).value(), std::move(policy).value(), *bus.value(), wanted);
}

}  // namespace starling
