// SPDX-License-Identifier: Apache-2.0
#include "agents/step/state.h"

#include <algorithm>

#include "base/check.h"
#include "topology/shape.h"

namespace starling {

namespace {

const Partition& partition_in(const AgentConfig& config) {
  STARLING_CHECK(config.me.value < config.flock.size());
  STARLING_CHECK(config.flock[config.me.value].agent == config.me);
  return config.flock[config.me.value].partition;
}

}  // namespace

AgentState::AgentState(AgentConfig agent_config, const Topology& data_center,
                       const SpeedModel& speed_model, std::shared_ptr<Policy> chosen_policy,
                       Rng agent_rng, std::uint32_t room)
    : config(std::move(agent_config)),
      topology(data_center),
      speed(speed_model),
      policy(std::move(chosen_policy)),
      rng(agent_rng.fork(1)),
      policy_rng(agent_rng.fork(2)),
      partition(partition_in(config)),
      ledger(topology, partition.servers, config.limits, room) {
  STARLING_CHECK(policy != nullptr);
  pings = config.incarnation.value << 32U;
  server_gpus = shape_of(ledger.gpus()).server;
  supply.resize(topology.gpu_types().size());
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() == 0) continue;
    Supply& of_type = supply[server.gpu_type.value];
    of_type.gpus += server.gpus.size();
    of_type.largest_server = std::max(of_type.largest_server, server.gpus.size());
  }
  seat_of.assign(partition.servers.size(), 0);
  std::uint32_t server = partition.servers.first;
  for (const ExecutorSeat& seat : config.executors) {
    STARLING_CHECK(seat.servers.first == server && seat.servers.size() > 0);
    for (; server < seat.servers.last; ++server) {
      seat_of[server - partition.servers.first] = static_cast<std::uint32_t>(seats.size());
    }
    SeatState state;
    state.seat = seat;
    seat_index.emplace(seat.node, static_cast<std::uint32_t>(seats.size()));
    seats.push_back(std::move(state));
  }
  STARLING_CHECK(server == partition.servers.last);
  for (const PeerAgent& peer : config.flock) {
    STARLING_CHECK(peer.agent.value == peers.size());
    PeerState state;
    state.peer = peer;
    peers.push_back(std::move(state));
  }
  peers[config.me.value].epoch = config.epoch;
}

bool AgentState::reconciling() const noexcept {
  return !std::all_of(seats.begin(), seats.end(), [](const SeatState& s) { return s.answered; });
}

bool AgentState::heard_all_out() const noexcept {
  return std::all_of(seats.begin(), seats.end(), [](const SeatState& s) { return s.heard_out; });
}

bool AgentState::calling_roll() const noexcept {
  return roll_call > now &&
         !(heard_all_out() && std::all_of(peers.begin(), peers.end(), [&](const PeerState& peer) {
             return peer.answered || peer.peer.agent == config.me;
           }));
}

const PeerState* AgentState::owner_of(PartitionId id) const noexcept {
  // Partition p starts with agent p, and ownership is static.
  if (id.value < peers.size() && peers[id.value].peer.partition.id == id) return &peers[id.value];
  for (const PeerState& peer : peers) {
    if (peer.peer.partition.id == id) return &peer;
  }
  return nullptr;
}

bool AgentState::wants_running() const noexcept {
  const PolicyFacts& facts = policy->facts();
  return facts.preemptive || facts.elastic || facts.needs_running;
}

void AgentState::enter_waiting(const Job& job, bool blocked) {
  JobView view;
  view.spec = job.spec.get();
  view.submitted = job.submitted;
  view.order = job.order;
  view.served = job.served;
  view.failed_rounds = job.failed_rounds;
  view.blocked = blocked;
  view.forwards = job.forwards;
  view.offered = job.offered;
  ++waiting_jobs;
  waiting_gpus += job.spec->gpus();
  waiting.add(std::move(view));
}

JobView* AgentState::waiting_view(const Job& job) { return waiting.find(job.order); }

void AgentState::leave_waiting(const Job& job) {
  if (!waiting.leave(job.order)) return;
  --waiting_jobs;
  waiting_gpus -= job.spec->gpus();
}

void AgentState::enter_running(Job& job) {
  ++running_jobs;
  passing.started(job.spec->priority, job.order);
  if (!wants_running()) return;
  Job::Run& run = *job.run();
  run.number = ++runs;
  JobView view;
  view.spec = job.spec.get();
  view.submitted = job.submitted;
  view.order = job.order;
  view.served = job.served;
  view.placement = job.placement;
  view.blocked = true;
  view.forwards = job.forwards;
  if (policy->facts().by_end) return ends.add(run.number, std::move(view), run.started);
  running.push_back(std::move(view));
  running_clocks.push_back({run.number, run.started, job.served});
}

JobView* AgentState::running_view(const Job& job) {
  const std::uint64_t number = job.run()->number;
  if (policy->facts().by_end) return ends.find(number);
  const auto at =
      std::lower_bound(running_clocks.begin(), running_clocks.end(), number,
                       [](const Clock& clock, std::uint64_t run) { return clock.run < run; });
  if (at == running_clocks.end() || at->run != number) return nullptr;
  JobView& view = running[static_cast<std::size_t>(at - running_clocks.begin())];
  return view.spec == nullptr ? nullptr : &view;
}

void AgentState::started_running(const Job& job) {
  JobView* view = running_view(job);
  if (view == nullptr) return;
  view->blocked = job.spec->no_requeue;  // who must not be started again is never stopped
  const Job::Run& run = *job.run();
  if (policy->facts().by_end) return ends.restart(run.number, run.started);
  running_clocks[static_cast<std::size_t>(view - running.data())].since = run.started;
}

void AgentState::leave_running(const Job& job) {
  --running_jobs;
  JobView* view = running_view(job);
  if (view == nullptr) return;
  if (policy->facts().by_end) return ends.remove(job.run()->number);
  view->spec = nullptr;
  ++running_left;
}

std::span<const JobView> AgentState::running_views(Instant when) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (running[i].spec == nullptr) continue;
    if (kept != i) {
      running[kept] = std::move(running[i]);
      running_clocks[kept] = running_clocks[i];
    }
    const Clock& clock = running_clocks[kept];
    running[kept].served =
        clock.before + (clock.since == kNever ? Duration{0} : when - clock.since);
    ++kept;
  }
  running.resize(kept);
  running_clocks.resize(kept);
  running_left = 0;
  return running;
}

void AgentState::set_timer(const JobId& id, Job& job, Instant when) {
  if (job.timer == when) return;
  if (job.timer != kNever) job_timers.erase({job.timer, id});
  job.timer = when;
  if (when != kNever) job_timers.emplace(when, id);
}

void AgentState::set_timer(AttemptId attempt, OwnedShare& share, Instant when) {
  if (share.timer == when) return;
  if (share.timer != kNever) share_timers.erase({share.timer, attempt});
  share.timer = when;
  if (when != kNever) share_timers.emplace(when, attempt);
}

void AgentState::set_lapse(AttemptId attempt, Instant when) {
  const auto at = lapse_at.find(attempt);
  if (at != lapse_at.end()) {
    lapses.erase({at->second, attempt});
    lapse_at.erase(at);
  }
  if (when == kNever) return;
  lapses.emplace(when, attempt);
  lapse_at.emplace(attempt, when);
}

void AgentState::drop_share(AttemptId attempt) {
  const auto at = shares.find(attempt);
  if (at == shares.end()) return;
  set_timer(attempt, at->second, kNever);
  shares.erase(at);
}

std::vector<Piece> AgentState::pieces_of(const Placement& gpus, Piece::State state) const {
  std::vector<Piece> pieces;
  for (const GpuId gpu : gpus) {
    const std::uint32_t server = topology.server_of(gpu).value - partition.servers.first;
    const std::uint32_t seat = seat_of[server];
    if (pieces.empty() || pieces.back().seat != seat) {
      pieces.emplace_back();
      pieces.back().seat = seat;
      pieces.back().state = state;
    }
    pieces.back().gpus.push_back(gpu);
  }
  return pieces;
}

}  // namespace starling
