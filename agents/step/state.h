// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/archive.h"
#include "agents/config.h"
#include "agents/executor/output.h"
#include "agents/home/passing.h"
#include "agents/home/waiting_list.h"
#include "agents/owner/ledger.h"
#include "agents/owner/liveness.h"
#include "agents/start_record.h"
#include "agents/step/job.h"
#include "base/rng.h"
#include "scheduling/policy.h"
#include "scheduling/running_index.h"
#include "topology/free_servers.h"
#include "topology/server_rooms.h"

namespace starling {

// Everything an Agent knows. The checker, the stories and the tests look at it; only Agent changes
// it.

/// Where a job went that was homed here.
struct Moved {
  AgentId to;
  std::uint32_t forwards = 0;  ///< of the Submit it left with: a higher one brings it back
  std::vector<AgentId> offered;
};

/// One executor's part of a share.
struct Piece {
  enum class State : std::uint8_t {
    idle,       ///< not told to launch
    launching,  ///< Launch is out
    running,
    unknown,  ///< of an earlier life, or the executor lost it: the home is asked
    exited,   ///< its Exited is not acknowledged
    killing,  ///< Kill is out
    gone      ///< confirmed: no process
  };
  std::uint32_t seat = 0;
  Placement gpus;
  State state = State::idle;
  Duration served{0};
};

/// What this owner knows of a hold beyond the ledger, from Commit on.
struct OwnedShare {
  AgentId home;
  bool home_known = true;    ///< false: found running at an executor; everyone is asked
  std::set<AgentId> denied;  ///< who of those said that it is dead
  std::shared_ptr<const JobSpec> spec;
  std::vector<Share> gang;
  Duration served{0};         ///< by earlier attempts
  std::vector<Piece> pieces;  ///< by seat
  bool told = false;          ///< the home was told Exited and has to answer
  bool durable = false;       ///< its Commit is in the journal
  /// When the home is known to have wanted it: when it was asked what it then answered.
  Instant word = Instant::min();
  bool sure = false;  ///< `word` is of this life, not of its beginning
  std::vector<std::pair<std::uint64_t, Instant>> asked;  ///< open questions, newest last; a few
  ExitStatus exit;
  Instant launched = kNever;
  Instant sampled = Instant::min();  ///< its speed was last handed to the speed model
  Instant timer = kNever;
  Duration backoff{0};
};

/// This partition starts nothing new but that gang.
struct Claim {
  AttemptId attempt;
  AgentId home;
  Instant since;  ///< the gang waits, as far as can be told here
  Instant until;
};

/// One executor of this partition.
struct SeatState {
  ExecutorSeat seat;
  bool answered = false;   ///< its inventory is known; its GPUs are trusted
  bool heard_out = false;  ///< has answered in this life: the ledger knows of all that runs there
  Watch watch;
  std::uint64_t health = 0;       ///< version of what it last said of its GPUs
  Instant told = Instant::min();  ///< the last Launch that it was sent
  StartRecord starts;             ///< while it rests, so do its servers in the ledger
  bool lost = false;              ///< silent for lost_after(): nothing runs there any more
  Instant asked = kNever;         ///< first InventoryRequest since it was last answered
  Instant timer = kNever;         ///< of the next InventoryRequest
  Duration backoff{0};
};

/// Another agent of the flock.
struct PeerState {
  PeerAgent peer;
  Epoch epoch{1};  ///< of its partition, the newest heard of; durable
  Watch watch;
  bool answered = false;  ///< the Hello of this life
  std::optional<Digest> digest;
  Instant digest_at;
  Instant unready = Instant::min();  ///< it refused a gang its turn: not asked again before
};

struct Counters {
  std::uint64_t accepted = 0, finished = 0, failed = 0, cancelled = 0;  ///< in all lives
  std::uint64_t forwards = 0;  ///< here and below: in this one
  std::uint64_t cross_partition_gangs = 0, preemptions = 0, resizes = 0;
  std::uint64_t decisions = 0;        ///< of the policy, good or bad
  std::uint64_t wrong_decisions = 0;  ///< of those, ignored because the ledger or the jobs disagree
  std::uint64_t refused_frames = 0, messages = 0, failed_rounds = 0;
};

struct AgentState {
  AgentState(AgentConfig agent_config, const Topology& data_center, const SpeedModel& speed_model,
             std::shared_ptr<Policy> chosen_policy, Rng agent_rng, std::uint32_t room = 0);

  AgentConfig config;
  const Topology& topology;
  const SpeedModel& speed;
  std::shared_ptr<Policy> policy;  ///< shared by clones
  Rng rng;                         ///< jitter
  Rng policy_rng;                  ///< handed to the policy
  Partition partition;
  std::uint32_t server_gpus = 0;  ///< of the partition's commonest server
  struct Supply {
    std::uint64_t gpus = 0;
    std::uint32_t largest_server = 0;
  };
  std::vector<Supply> supply;  ///< of the whole data centre, by GpuTypeId

  // Home. Jobs that are not over are in `jobs`, those that ended lately in `ended`, earlier ones in
  // `archive`, given-away ones in `moved`.
  std::map<JobId, Job> jobs;
  std::map<JobId, JobState> ended;
  std::map<JobId, Moved> moved;
  Archive archive;
  std::deque<JobId> young;      ///< `ended`, oldest first
  std::deque<JobId> gone;       ///< `moved`, oldest first
  std::size_t young_bytes = 0;  ///< of `ended`
  /// Jobs that the archive is owed an answer about, and the homes that have not given it.
  std::map<JobId, std::set<AgentId>> settling;
  JobId asked_last;                   ///< of those, in their order
  std::uint64_t orders = 0;           ///< arrivals so far, all lives
  std::uint32_t attempts_opened = 0;  ///< in this life
  std::uint32_t running_jobs = 0;     ///< starting, running or draining
  std::uint32_t waiting_jobs = 0;     ///< all others but offered
  std::uint64_t waiting_gpus = 0;
  WaitingList waiting;
  /// By start; empty unless the policy wants it. Those that have left have no spec until
  /// running_views() removes them.
  std::vector<JobView> running;
  struct Clock {
    std::uint64_t run = 0;   ///< Job::Run::number; ascending
    Instant since = kNever;  ///< the open attempt's start
    Duration before{0};      ///< service of earlier attempts
  };
  std::vector<Clock> running_clocks;  ///< of `running`
  std::size_t running_left = 0;       ///< of those, to be removed
  RunningIndex ends;                  ///< in their place if the policy reads by_end
  std::uint64_t runs = 0;             ///< entered so far in this life
  std::set<std::pair<Instant, JobId>> job_timers;

  // Owner.
  Ledger ledger;
  std::map<AttemptId, OwnedShare> shares;  ///< of holds that are at least committed
  std::vector<SeatState> seats;            ///< by servers
  std::map<NodeId, std::uint32_t> seat_index;
  std::vector<std::uint32_t> seat_of;  ///< by server, from partition.servers.first
  std::set<std::pair<Instant, AttemptId>> share_timers;
  std::set<std::pair<Instant, AttemptId>> lapses;  ///< when to look at reserved holds
  std::map<AttemptId, Instant> lapse_at;           ///< the same, by hold
  std::uint32_t questions = 0;                     ///< put to homes in this life
  std::map<ServerId, std::uint64_t> drain_words;   ///< versions of what operators have said
  std::optional<Claim> claim;
  Passing passing;
  Instant turn_look = Instant::min();  ///< for a gang of this home whose turn it is
  Instant sweep = Instant::min();      ///< tombstones were last looked through

  // Flock.
  std::vector<PeerState> peers;  ///< by AgentId; this agent too, unused
  std::optional<Digest> told;    ///< the last one sent
  Digest news;                   ///< scratch of send_digests()
  FreeServers free_now;          ///< follows the ledger where there are others to tell
  ServerRooms rooms_now;         ///< the same
  Instant told_at = Instant::min();
  std::vector<RemoteDigest> others;  ///< scratch of decide()
  LocalHealth health;
  std::vector<Probe> probes;  ///< that others have asked for
  std::size_t probers = 0;    ///< whose turn it is to be asked

  bool overfull = false;  ///< the journal has more jobs on a GPU than may share one now

  // Control.
  bool begun = false;
  bool dirty = false;    ///< something changed since the last decision
  bool decided = false;  ///< the last Tick asked the policy
  TriggerKind trigger = TriggerKind::round;
  bool digest_due = false;  ///< something changed since the last digest was looked at
  Instant beat = kNever;
  Instant look = kNever;  ///< decide again, whatever has changed
  Instant roll_call =
      Instant::min();  ///< until then not before everybody has answered (AgentConfig)
  Instant digest_look = kNever;
  Instant now;              ///< of the last step
  std::uint64_t pings = 0;  ///< above all of earlier lives, whose answers may still be on their way
  std::uint64_t digests = 0;
  std::vector<Message> loop;  ///< what this agent says to itself
  Counters counters;
  std::array<std::uint64_t, 256> decision_times{};  ///< by quarter octave of nanoseconds

  /// All executors have answered: nothing of an earlier life is in doubt.
  [[nodiscard]] bool reconciling() const noexcept;
  /// Every executor has answered once in this life: what the ledger does not know of does not run.
  [[nodiscard]] bool heard_all_out() const noexcept;
  /// Somebody who may know that this state is an old copy has not answered yet.
  [[nodiscard]] bool calling_roll() const noexcept;
  /// The agent that owns `partition`; null: nobody.
  [[nodiscard]] const PeerState* owner_of(PartitionId partition) const noexcept;
  [[nodiscard]] Fence fence() const noexcept { return {partition.id, config.epoch}; }
  [[nodiscard]] bool lossy() const noexcept { return config.timers.heartbeat < Duration::max(); }
  [[nodiscard]] bool wants_running() const noexcept;

  // Pure bookkeeping.
  void enter_waiting(const Job& job, bool blocked);
  void leave_waiting(const Job& job);
  [[nodiscard]] JobView* waiting_view(const Job& job);
  void enter_running(Job& job);
  void leave_running(const Job& job);
  [[nodiscard]] JobView* running_view(const Job& job);
  void started_running(const Job& job);
  [[nodiscard]] bool any_running_view() const noexcept {
    return running.size() > running_left || !ends.empty();
  }
  /// Up to date at `when`; valid until the next change.
  [[nodiscard]] std::span<const JobView> running_views(Instant when);
  [[nodiscard]] bool is_over(const JobId& job) const;
  void remember_ended(JobState over);
  void remember_moved(JobId job);
  [[nodiscard]] JobState take_young();
  void put_away(const JobsArchived& record);
  [[nodiscard]] bool archive_full() const noexcept {
    return young_bytes >= config.limits.archive_chunk_bytes && !young.empty();
  }
  void set_timer(const JobId& id, Job& job, Instant when);
  void set_timer(AttemptId attempt, OwnedShare& share, Instant when);
  void drop_share(AttemptId attempt);
  /// When to look at a reserved hold again; kNever: not at all.
  void set_lapse(AttemptId attempt, Instant when);
  [[nodiscard]] bool remote_home(const OwnedShare& share) const noexcept {
    return !share.home_known || share.home != config.me;
  }
  [[nodiscard]] std::vector<Piece> pieces_of(const Placement& gpus, Piece::State state) const;
  [[nodiscard]] JobPast past_of(const Job& job) const;
  void count_ended(JobPhase phase);
  /// Applies one record of an earlier life.
  void replay(const Record& record);
};

}  // namespace starling
