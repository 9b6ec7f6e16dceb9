// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/step/flock_step.h"

namespace starling {

/// The owner of this partition's GPUs: what homes ask of it, and its executors.
struct OwnerStep : FlockStep {
  using FlockStep::FlockStep;
  using FlockStep::on;

  // owner.cpp: what homes ask of this partition
  void on(NodeId from, const BidRequest& request);
  void on(NodeId from, const Reserve& reserve);
  void on(NodeId from, const Commit& commit);
  void on(NodeId from, const StartAttempt& start);
  void on(NodeId from, const Release& release);
  void on(NodeId from, const AttemptAnswer& answer);
  void on(NodeId from, const ExitedAck& ack);
  [[nodiscard]] bool admit(NodeId from, const Fence& fence);
  void lapse();

  // allocation.cpp
  /// Every executor of these GPUs starts attempts by allocations. False for GPUs of others.
  [[nodiscard]] bool knows_allocations(const Placement& gpus) const;

  // shared_rooms.cpp: jobs that may share their GPUs with a gang of another home
  [[nodiscard]] std::vector<SharedRoom> rooms_to_share(const BidRequest& request);

  // share.cpp: processes of this partition's executors
  void launch(AttemptId attempt, OwnedShare& share);
  void send_launches(AttemptId attempt, OwnedShare& share, TaskGroup::State of);
  void release_share(AttemptId attempt, OwnedShare& share);
  void send_kills(AttemptId attempt, OwnedShare& share);
  void check_released(AttemptId attempt);
  void fail_share(AttemptId attempt, OwnedShare& share, ExitStatus exit);
  void tell_exited(AttemptId attempt, OwnedShare& share);
  void on(NodeId from, const LaunchResult& result);
  void on(NodeId from, const Killed& killed);
  void on_executor(NodeId from, const Exited& exited);
  void on_executor(NodeId from, const Progress& progress);
  void group_exited(AttemptId attempt, OwnedShare& share, TaskGroup& group, const ExitStatus& exit,
                    Duration served);

  // share_timer.cpp
  void on_share_timer(AttemptId attempt, OwnedShare& share);

  // output_pages.cpp: what jobs have printed
  void on(NodeId from, const ReadOutput& read);
  void on(NodeId from, const OutputPage& page);

  // sample.cpp: measured speeds, for the speed model
  void sample(NodeId from, OwnedShare& share, const Progress& progress);

  // reconcile.cpp: what runs at executors, compared with the ledger
  void request_inventory(OwnedExecutor& executor);
  void on(NodeId from, const Inventory& inventory);
  /// False: it runs there without a right to, and is being stopped.
  [[nodiscard]] bool reconcile(std::uint32_t index, const InventoryItem& item);
  /// This home has the job, or had it to its end, and goes on without that attempt.
  [[nodiscard]] bool is_over_here(AttemptId attempt) const;
  void ask_home(AttemptId attempt, OwnedShare& share);

  // liveness.cpp, session.cpp: what follows for executors that are not heard, or begin anew
  void heartbeat();
  void on(NodeId from, const Hello& hello);

  // drain.cpp: servers and GPUs that are not to be used
  void on(NodeId from, const SetDrain& drain);
  void on(NodeId from, const GpuHealth& health);
  void give_up(IndexRange gpus, const std::string& why);
  void take_health(OwnedExecutor& executor, std::uint64_t version, const Placement& sick);

  // unfit.cpp: executors whose starts fail
  void rest(OwnedExecutor& executor);
  void start_began(const TaskGroup& group);
  void judge_start(const OwnedShare& share, const TaskGroup& group, const ExitStatus& exit,
                   Duration served);
  void look_at_rests();

  // lost.cpp: what follows from long silence
  void executor_lost(std::uint32_t index);
  [[nodiscard]] bool unwanted(const OwnedShare& share) const;
  void watch_home(AttemptId attempt, OwnedShare& share);
  [[nodiscard]] AttemptQuery question(AttemptId attempt, OwnedShare& share);
  [[nodiscard]] static bool answered(OwnedShare& share, const AttemptAnswer& answer);
  void relay_confirmation(AttemptId attempt, const OwnedShare& share);

  // turn.cpp: a gang whose turn it is
  [[nodiscard]] std::uint32_t most_here(const JobSpec& spec) const;
  [[nodiscard]] bool more_urgent_waits(const BidRequest& request);
  [[nodiscard]] std::optional<Refusal> admit_claim(AgentId home, const BidRequest& request);
  void keep_servers(Claim& claim, const BidRequest& request) const;
  void end_claim(AttemptId attempt);

  // decide.cpp: what the policy may look at
  [[nodiscard]] View view(const Occupancy& gpus);
};

/// What Policy::explain_now() may look at. Valid until the state changes.
[[nodiscard]] View view_for_people(AgentState& s, Instant now);
/// A line for each executor whose starts fail.
[[nodiscard]] std::vector<std::string> resting_executors(const AgentState& s);

}  // namespace starling
