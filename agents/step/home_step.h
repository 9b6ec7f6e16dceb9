// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/step/owner_step.h"
#include "scheduling/feedback.h"

namespace starling {

/// The home of jobs: from their acceptance to their end, and which of them the policy starts where.
struct HomeStep : OwnerStep {
  using OwnerStep::lost;
  using OwnerStep::on;
  using OwnerStep::OwnerStep;

  // home.cpp: jobs of this home
  void on(NodeId from, const Submit& submit);
  void take_in(NodeId from, const Submit& submit);
  void on(NodeId from, const Cancel& cancel);
  void on(NodeId from, const Query& query);
  void on(NodeId from, const ListJobs& list);
  /// Of clients' jobs, or of those that other homes hand over.
  [[nodiscard]] bool is_full(NodeId from) const;
  void accept(NodeId client, const Submit& submit, std::vector<AgentId> offered);
  void end(Job& job, JobPhase phase, ExitStatus exit = {});
  void wait_again(Job& job, bool after_backoff);
  void tell_client(const Job& job);
  void send_archived(NodeId to, const JobId& job, std::uint64_t chunk);

  // standing.cpp: what jobs wait for beside GPUs
  bool queue(Job& job, bool blocked);
  void queue_again(Job& job);
  [[nodiscard]] JobReason why_back(Job& job);
  void enter_array(Job& job);
  void leave_array(Job& job);
  [[nodiscard]] std::optional<JobPhase> end_of(const JobId& id) const;
  bool look_at_others(Job& job);
  void ask_for(const JobId& id, OtherJob& other);
  void forget_other(const JobId& id, const JobId& waiting);
  void heard_of_other(AgentId from, const JobState& state);
  void wake_waiting(const JobId& ended);
  void leave_others(Job& job);

  // change_job.cpp: what users change
  void on(NodeId from, const ChangeJob& asked);
  [[nodiscard]] std::string hold(Job& job);
  void release(Job& job);
  [[nodiscard]] std::string requeue(Job& job, const ChangeJob& asked);

  // job_timer.cpp
  void on_job_timer(Job& job);

  // forward.cpp: jobs that change their home
  bool may_offer(Job& job, AgentId to);
  bool offer_job(Job& job, AgentId to);
  void send_offer(Job& job);
  void on(NodeId from, const Accepted& accepted);
  void on(NodeId from, const Busy& busy);
  void on(NodeId from, const Rejected& rejected);
  void moved_on(Job& job);
  void taken_elsewhere(Job& job);
  void heard_of_offer(AgentId from, const JobState& state);

  // put_away.cpp: jobs that are over
  void put_away();
  void ask_offerers();
  void on(NodeId from, const JobState& state);

  // attempt.cpp: from starting to the end
  [[nodiscard]] AttemptId open_attempt(const Job& job);
  bool start_here(Job& job, const Placement& gpus, const Allocation& how);
  bool start_again(Job& job, Placement here, const Allocation& how);
  void send_starts(Job& job);
  void drain(Job& job, AfterDrain after, Placement restart_at = {},
             const Allocation& restart_as = {});
  void send_releases(Job& job);
  void drained(Job& job);
  [[nodiscard]] std::pair<Job*, Participant*> participant(NodeId from, AttemptId attempt,
                                                          PartitionId partition);
  void on(NodeId from, const Started& started);
  void part_started(Job& job, Participant& part);
  void on(NodeId from, const Released& released);
  void on_home(NodeId from, const Exited& exited);
  void on(NodeId from, const AttemptQuery& query);
  void on_home(NodeId from, const Progress& progress);
  void see(Job& job, Job::Run& run, const Progress& progress);

  // gang.cpp: rounds over several partitions, up to starting
  bool open_round(Job& job, const Spread& spread);
  void choose(Job& job);
  void send_reserves(Job& job);
  void send_commits(Job& job);
  void start_gang(Job& job);
  void give_up_round(Job& job, std::string why);
  void leave_round(Job& job);
  void abort_round(Job& job, const std::string& why);
  void on(NodeId from, const Offer& offer);
  void on(NodeId from, const NoOffer& none);
  void on(NodeId from, const Reserved& reserved);
  void on(NodeId from, const ReserveRefused& refused);
  void on(NodeId from, const Committed& committed);
  void on(NodeId from, const CommitRefused& refused);

  // shared_round.cpp: a gang that would share GPUs
  [[nodiscard]] std::size_t add_shared(Job& job, std::size_t need);
  void give_up_sharing(Job& job);

  // lost.cpp: what follows from long silence
  [[nodiscard]] bool lost(const Job& job, const Participant& part) const;
  [[nodiscard]] bool any_lost(const Job& job) const;
  void count_lost(Job& job);
  void watch_participants(Job& job);
  void sweep();

  // quota.cpp: what jobs of a queue may have at once
  [[nodiscard]] std::optional<Rejected> why_not_queued_here(const JobSpec& spec) const;
  [[nodiscard]] std::string beyond_quota(const Job& job, std::size_t gpus) const;
  void keep_back_for_quota(Job& job);
  [[nodiscard]] Job* to_take_back(const QuotaAccount& account, bool all);
  void take_back(Job& job);
  void fit_quota(const QuotaAccount& account);
  void mind_quota();
  void ask_keeper();
  void take_queues(const QueueTree& tree);
  void regate(const QueueTree& tree);
  void on(NodeId from, const QuotaGrant& grant);

  // queue_keeper.cpp: who keeps the flock's queues
  void on(NodeId from, const Hello& hello);
  void on(NodeId from, const SetQueues& set);
  void on(NodeId from, const QueuesQuery& query);
  void on(NodeId from, const QuotaAsk& ask);
  [[nodiscard]] std::string who_knows_no_queues() const;
  [[nodiscard]] QueuesState queues_state() const;
  [[nodiscard]] bool knows_homes() const;
  void share_out_queues();
  void begin_keeping();
  void mind_homes();
  void tell_queues(AgentId home);

  // turn.cpp: no gang starves
  void look_for_turn();
  [[nodiscard]] std::uint32_t most_there(const PeerState& peer, const JobSpec& spec) const;
  void open_turn(Job& job);
  void claim(Job& job);
  void turn_offer(Job& job, PartitionId partition, const Placement& gpus);
  void end_turn(Job& job, std::optional<Refusal> why_not);
  void free_claims(const Job& job, bool all);

  // decide.cpp
  void decide();
  [[nodiscard]] std::optional<DecisionFault> apply(const Start& decision);
  [[nodiscard]] std::optional<DecisionFault> start_within_quota(Job& job, const Start& decision);
  [[nodiscard]] std::optional<DecisionFault> apply(const Resize& decision);
  [[nodiscard]] std::optional<DecisionFault> apply(const Preempt& decision);
  [[nodiscard]] std::optional<DecisionFault> apply(const Forward& decision);
  [[nodiscard]] std::optional<DecisionFault> apply(const Spread& decision);
  /// Why a Start or a Spread that makes sense has not been carried out.
  [[nodiscard]] DecisionFault why_not_started(JobId id, const Placement& gpus) const;
  /// Why the job may not be stopped to wait or to start elsewhere; nothing: it may.
  [[nodiscard]] std::optional<DecisionFault> cannot_stop(JobId id) const;
  [[nodiscard]] Job* free_to_decide(JobId id);
  [[nodiscard]] bool good_placement(const JobSpec& spec, const Placement& gpus) const;
  /// So many GPUs, `here` in this partition, are a size that the job may have if it runs by `how`.
  [[nodiscard]] bool good_size(const Job& job, std::size_t gpus, const Placement& here,
                               const Allocation& how) const;
  [[nodiscard]] std::optional<DecisionFault> why_not_spread(const JobSpec& spec,
                                                            const Placement& here) const;
  [[nodiscard]] bool is_as_it_runs(const Job& job, const Placement& here, std::size_t gpus,
                                   const Allocation& how) const;

  // allocation.cpp
  [[nodiscard]] bool good_allocation(const JobSpec& spec, std::size_t gpus,
                                     const Allocation& how) const;
  /// What an attempt on `gpus` GPUs, `here` of them in this partition, is given of what was
  /// decided: all of it, with its workers, or nothing where a partition would leave it out.
  [[nodiscard]] Allocation carried_out(const Job& job, const Allocation& how, const Placement& here,
                                       std::size_t gpus) const;
  void agree_on_allocation(const Job& job, Attempt& attempt) const;
};

/// When its user lets it begin; Instant::min(): at any time.
[[nodiscard]] Instant begins_at(const Job& job);
[[nodiscard]] JobState state_of(const AgentState& s, const Job& job, Instant now);
/// With what people ask for.
[[nodiscard]] JobState full_state_of(const AgentState& s, const Job& job, Instant now);

}  // namespace starling
