// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "agents/step/state.h"

namespace starling {

/// One step of an Agent: the state, the instant and where the outcome goes. Handlers stand in files
/// by subject; what a repeat or a latecomer does stands at each. Internal to agents/.
struct Step {
  AgentState& s;
  Instant now;
  Output& out;
  Asker by = {};  ///< who stands behind what a client says in this step

  // agent.cpp
  void begin();
  void receive(NodeId from, const Message& message);
  void settle();  ///< handles what the agent says to itself
  void tick();
  void on_job_timer(Job& job);
  void on_share_timer(AttemptId attempt, OwnedShare& share);

  // Saying things.
  [[nodiscard]] AgentId me() const { return s.config.me; }
  [[nodiscard]] bool is_agent(NodeId node) const {
    return node.value > 0 && node.value <= s.peers.size();
  }
  [[nodiscard]] AgentId agent_of(NodeId node) const { return AgentId{node.value - 1}; }
  [[nodiscard]] SeatState* seat_of(NodeId node);
  void tell(AgentId to, Message message);
  void send(NodeId to, Message message) { out.send.push_back({to, std::move(message)}); }
  void persist(Record record) { out.persist.push_back(std::move(record)); }
  void refuse() { ++s.counters.refused_frames; }
  /// Doubles `backoff` within the limits; half of it plus a random part of the other half from now.
  [[nodiscard]] Instant retry_at(Duration& backoff);
  void change(TriggerKind kind);
  [[nodiscard]] Fence fence_of(PartitionId partition) const;

  // home.cpp: jobs of this home
  void on(NodeId from, const Submit& submit);
  void take_in(NodeId from, const Submit& submit);
  void on(NodeId from, const Cancel& cancel);
  void on(NodeId from, const Query& query);
  void on(NodeId from, const ListJobs& list);
  /// Of clients' jobs, or of those that other homes hand over.
  [[nodiscard]] bool is_full(bool forwarded) const;
  void accept(NodeId client, const Submit& submit, std::vector<AgentId> offered);
  [[nodiscard]] std::string never_fits(const JobSpec& spec) const;
  void end(Job& job, JobPhase phase, ExitStatus exit = {});
  void wait_again(Job& job, bool after_backoff);
  void tell_client(const Job& job);
  void send_archived(NodeId to, const JobId& job, std::uint64_t chunk);

  // forward.cpp: jobs that change their home
  bool offer_job(Job& job, AgentId to);
  void send_offer(Job& job);
  void on(NodeId from, const Accepted& accepted);
  void on(NodeId from, const Busy& busy);
  void on(NodeId from, const Rejected& rejected);
  void moved_on(Job& job);

  // archive.cpp: jobs that are over
  void put_away();
  void ask_offerers();
  void on(NodeId from, const JobState& state);

  // attempt.cpp: from starting to the end
  [[nodiscard]] AttemptId open_attempt(const Job& job);
  bool start_here(Job& job, const Placement& gpus);
  void send_starts(Job& job);
  void drain(Job& job, AfterDrain after, Placement restart_at = {});
  void send_releases(Job& job);
  void drained(Job& job);
  [[nodiscard]] std::pair<Job*, Participant*> participant(NodeId from, AttemptId attempt,
                                                          PartitionId partition);
  void on(NodeId from, const Started& started);
  void on(NodeId from, const Released& released);
  void on_home(NodeId from, const Exited& exited);
  void on(NodeId from, const AttemptQuery& query);
  void on_home(NodeId from, const Progress& progress);

  // gang.cpp: rounds over several partitions, up to starting
  bool open_round(Job& job, const Placement& local, std::optional<GpuTypeId> type);
  void choose(Job& job);
  void send_reserves(Job& job);
  void send_commits(Job& job);
  void start_gang(Job& job);
  void abort_round(Job& job, const std::string& why);
  void on(NodeId from, const Offer& offer);
  void on(NodeId from, const NoOffer& none);
  void on(NodeId from, const Reserved& reserved);
  void on(NodeId from, const ReserveRefused& refused);
  void on(NodeId from, const Committed& committed);
  void on(NodeId from, const CommitRefused& refused);

  // owner.cpp: what homes ask of this partition
  void on(NodeId from, const BidRequest& request);
  void on(NodeId from, const Reserve& reserve);
  void on(NodeId from, const Commit& commit);
  void on(NodeId from, const StartAttempt& start);
  void on(NodeId from, const Release& release);
  void on(NodeId from, const AttemptAnswer& answer);
  void on_owner(NodeId from, const ExitedAck& ack);
  [[nodiscard]] bool admit(NodeId from, const Fence& fence);
  void lapse();

  // share.cpp: processes of this partition's executors
  void launch(AttemptId attempt, OwnedShare& share);
  void send_launches(AttemptId attempt, OwnedShare& share, Piece::State of);
  void release_share(AttemptId attempt, OwnedShare& share);
  void send_kills(AttemptId attempt, OwnedShare& share);
  void check_released(AttemptId attempt);
  void fail_share(AttemptId attempt, OwnedShare& share, ExitStatus exit);
  void tell_exited(AttemptId attempt, OwnedShare& share);
  void on(NodeId from, const LaunchResult& result);
  void on(NodeId from, const Killed& killed);
  void on_executor(NodeId from, const Exited& exited);
  void on_executor(NodeId from, const Progress& progress);
  void piece_exited(AttemptId attempt, OwnedShare& share, Piece& piece, const ExitStatus& exit,
                    Duration served);

  // sample.cpp: measured speeds, for the speed model
  void sample(NodeId from, OwnedShare& share, const Progress& progress);

  // reconcile.cpp: what runs at executors, compared with the ledger
  void request_inventory(SeatState& seat);
  void on(NodeId from, const Inventory& inventory);
  /// False: it runs there without a right to, and is being stopped.
  [[nodiscard]] bool reconcile(std::uint32_t seat_index, const InventoryItem& item);
  /// This home has the job, or had it to its end, and goes on without that attempt.
  [[nodiscard]] bool is_over_here(AttemptId attempt) const;
  void ask_home(AttemptId attempt, OwnedShare& share);

  // liveness.cpp: who can be heard
  void on(NodeId from, const Ping& ping);
  void on(NodeId from, const Pong& pong);
  void on(NodeId from, const ProbeFor& probe);
  void on(NodeId from, const ProbeResult& result);
  void heard(NodeId from, std::uint16_t protocol);
  void heartbeat();
  /// Null: nobody that this agent watches.
  [[nodiscard]] Watch* watch_of(NodeId node);
  /// Heard of lately: worth asking for something.
  [[nodiscard]] bool reachable(const Watch& watch) const;
  [[nodiscard]] bool silent(const Watch& watch) const;
  void ask_about(NodeId node, Watch& watch);
  void judge(NodeId node, Watch& watch);
  void forgive(Duration lag);

  // drain.cpp: servers and GPUs that are not to be used
  void on(NodeId from, const SetDrain& drain);
  void on(NodeId from, const GpuHealth& health);
  void give_up(IndexRange gpus, const std::string& why);
  void take_health(SeatState& seat, std::uint64_t version, const Placement& sick);

  // output.cpp: what jobs have printed
  void on(NodeId from, const ReadOutput& read);
  void on(NodeId from, const OutputPage& page);

  // unfit.cpp: executors whose starts fail
  void rest(SeatState& seat);
  void start_began(const Piece& piece);
  void judge_start(const OwnedShare& share, const Piece& piece, const ExitStatus& exit,
                   Duration served);
  void look_at_rests();

  // lost.cpp: what follows from long silence
  [[nodiscard]] bool lost(Instant heard) const;
  [[nodiscard]] bool lost(const Participant& part) const;
  [[nodiscard]] bool any_lost(const Job& job) const;
  void count_lost(Job& job);
  void watch_participants(Job& job);
  void seat_lost(std::uint32_t seat_index);
  [[nodiscard]] bool unwanted(const OwnedShare& share) const;
  void watch_home(AttemptId attempt, OwnedShare& share);
  [[nodiscard]] AttemptQuery question(AttemptId attempt, OwnedShare& share);
  [[nodiscard]] static bool answered(OwnedShare& share, const AttemptAnswer& answer);
  void vouch(AttemptId attempt, const OwnedShare& share);
  void sweep();

  // turn.cpp: no gang starves
  void look_for_turn();
  [[nodiscard]] std::uint32_t most_here(const JobSpec& spec) const;
  [[nodiscard]] std::uint32_t most_there(const PeerState& peer, const JobSpec& spec) const;
  void open_turn(Job& job);
  void claim(Job& job);
  void turn_offer(Job& job, PartitionId partition, const Placement& gpus);
  void end_turn(Job& job, std::optional<Refusal> why_not);
  void free_claims(const Job& job, bool all);
  [[nodiscard]] std::optional<Refusal> admit_claim(AgentId home, const BidRequest& request);
  [[nodiscard]] bool claimed_for_another(JobId job) const;
  void end_claim(AttemptId attempt);

  // session.cpp: introductions and hints
  void greet(const PeerState& peer);
  [[nodiscard]] std::uint64_t topology() const;
  [[nodiscard]] bool is_other_topology(std::uint64_t theirs) const;
  [[nodiscard]] bool is_foreign(NodeId node);
  void on(NodeId from, const Hello& hello);
  void on(NodeId from, const Welcome& welcome);
  void heard_epoch(PeerState& peer, Epoch epoch);
  void on(NodeId from, const Digest& digest);
  void on(NodeId from, const Fenced& fenced);
  void on(NodeId from, const Goodbye&);
  void send_digests();

  // decide.cpp
  void decide();
  [[nodiscard]] View view();
  [[nodiscard]] bool apply(const Start& decision);
  [[nodiscard]] bool apply(const Resize& decision);
  [[nodiscard]] bool apply(const Preempt& decision);
  [[nodiscard]] bool apply(const Forward& decision);
  [[nodiscard]] bool apply(const Spread& decision);
  [[nodiscard]] Job* free_to_decide(JobId id);
  [[nodiscard]] bool good_placement(const JobSpec& spec, const Placement& gpus) const;

  // explain.cpp
  void on(NodeId from, const Explain& explain);
  void on(NodeId from, const StatusQuery& query);

  // Kinds that both roles of an agent hear, told apart by the sender.
  void on(NodeId from, const Exited& exited);
  void on(NodeId from, const Progress& progress);
  void on(NodeId from, const ExitedAck& ack) { on_owner(from, ack); }
  template <class Other>
  void on(NodeId, const Other&) {
    refuse();
  }
};

/// Its last digest, which there must be, as policies read it; valid as long as that.
[[nodiscard]] RemoteDigest said_by(const PeerState& peer);
/// All GPUs of an attempt, ascending.
[[nodiscard]] Placement all_gpus(const Attempt& attempt);
[[nodiscard]] std::vector<Share> gang_of(const Attempt& attempt);
/// Of one that drains.
[[nodiscard]] AttemptPlan plan_of(const Job::Run& run);
[[nodiscard]] JobState state_of(const AgentState& s, const Job& job, Instant now);
/// With what people ask for.
[[nodiscard]] JobState full_state_of(const AgentState& s, const Job& job, Instant now);
[[nodiscard]] AgentStatus status_of(const AgentState& s);
/// A line for each executor whose starts fail.
[[nodiscard]] std::vector<std::string> resting_executors(const AgentState& s);
/// Why the job stands where it stands, for people.
[[nodiscard]] std::vector<std::string> explain(AgentState& s, JobId job, Instant now);

}  // namespace starling
