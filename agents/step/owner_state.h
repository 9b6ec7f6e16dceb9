// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "agents/config.h"
#include "agents/message.h"
#include "agents/parts/kept_servers.h"
#include "agents/parts/ledger.h"
#include "agents/parts/timer_queue.h"
#include "agents/parts/watch.h"
#include "agents/start_record.h"

namespace starling {

/// The task group of one executor: its part of a share.
struct TaskGroup {
  enum class State : std::uint8_t {
    idle,       ///< not told to launch
    launching,  ///< Launch is out
    running,
    unknown,  ///< of an earlier life, or the executor lost it: the home is asked
    exited,   ///< its Exited is not acknowledged
    killing,  ///< Kill is out
    gone      ///< confirmed: no process
  };
  std::uint32_t executor = 0;  ///< of OwnerState::executors
  Placement gpus;
  State state = State::idle;
  bool told = false;  ///< a Launch has left in this life
  Duration served{0};
};

/// What this owner knows of a hold beyond the ledger, from Commit on.
struct OwnedShare {
  AgentId home;
  bool home_known = true;    ///< false: found running at an executor; every agent is asked
  std::set<AgentId> denied;  ///< those of them that said that it is dead
  std::shared_ptr<const JobSpec> spec;
  std::vector<Share> gang;
  Duration served{0};  ///< by earlier attempts
  Allocation allocation = {};
  std::vector<TaskGroup> task_groups;  ///< by executor
  bool exit_reported = false;          ///< the home was sent Exited and has to answer
  bool durable = false;                ///< its Commit is in the journal
  /// Time of the question to which the home last answered that it wants the attempt.
  Instant confirmed_at = Instant::min();
  bool confirmed = false;  ///< in this life; before that `confirmed_at` is the life's beginning
  std::vector<std::pair<std::uint64_t, Instant>> asked;  ///< open questions, newest last; a few
  ExitStatus exit;
  Instant launched = kNever;
  Instant sampled = Instant::min();  ///< its speed was last handed to the speed model
  double pace_alone = 0;             ///< newest that was told of it with no job beside it; 0: never
  Instant timer = kNever;
  Duration backoff{0};

  /// More runs of the attempt than one executor's part.
  [[nodiscard]] bool has_other_parts() const noexcept {
    return gang.size() > 1 || task_groups.size() > 1;
  }
};

/// The job whose turn it is here, and what is kept for it.
struct Claim {
  AttemptId attempt;
  AgentId home;
  std::int32_t priority = 0;
  Instant since;  ///< the gang waits, as far as can be told here
  Instant until;
  KeptServers kept;
};

/// One executor of this partition.
struct OwnedExecutor {
  NodeId node;
  IndexRange servers;
  bool trusted = false;  ///< its inventory is known, and its GPUs may be given
  bool ever_answered =
      false;  ///< at least once in this life: the ledger knows of all that runs there
  Watch watch;
  std::uint64_t health = 0;              ///< version of what it last said of its GPUs
  Instant launch_sent = Instant::min();  ///< the last one
  StartRecord starts;                    ///< while it rests, so do its servers in the ledger
  bool lost = false;                     ///< silent for lost_after(): nothing runs there any more
  Instant asked = kNever;                ///< first InventoryRequest since it was last answered
  Instant timer = kNever;                ///< of the next InventoryRequest
  Duration backoff{0};
};

/// What an agent knows as the owner of its partition's GPUs.
struct OwnerState {
  /// `room`: as of Ledger.
  OwnerState(const AgentConfig& config, const Topology& topology, std::uint32_t room);

  Partition partition;
  std::uint32_t server_gpus = 0;  ///< of the partition's commonest server
  Ledger ledger;
  /// The journal has more jobs on a GPU than `room` lets share one.
  bool overfull = false;
  std::map<AttemptId, OwnedShare> shares;  ///< of holds that are at least committed
  TimerQueue<AttemptId> share_timers;
  std::vector<OwnedExecutor> executors;  ///< by servers
  std::map<NodeId, std::uint32_t> executor_index;
  std::vector<std::uint32_t> executor_of;            ///< by server, from partition.servers.first
  TimerQueue<AttemptId> lapses;                      ///< when to look at reserved holds
  std::map<AttemptId, Instant> lapse_at;             ///< the same, by hold
  std::uint32_t questions = 0;                       ///< put to homes in this life
  std::map<ServerId, std::uint64_t> drain_versions;  ///< of what operators have said
  std::optional<Claim> claim;
  Instant swept = Instant::min();  ///< tombstones were last looked through

  /// Some executor's inventory is not known: what an earlier life has left is in doubt.
  [[nodiscard]] bool reconciling() const noexcept;
  /// Every executor has answered once in this life: what the ledger does not know of does not run.
  [[nodiscard]] bool all_answered() const noexcept;
  /// Some of `gpus` are kept for another job, whose turn it is.
  [[nodiscard]] bool kept_for_another(JobId job, const Placement& gpus, Instant now) const;
  /// What that job may use here; without one: what any job may.
  [[nodiscard]] const Occupancy& open_to(std::optional<JobId> job, Instant now);
  void set_timer(AttemptId attempt, OwnedShare& share, Instant when) {
    share_timers.move(attempt, share.timer, when);
  }
  void drop_share(AttemptId attempt);
  /// When to look at a reserved hold again; kNever: not at all.
  void set_lapse(AttemptId attempt, Instant when);
  [[nodiscard]] std::vector<TaskGroup> task_groups_of(const Topology& topology,
                                                      const Placement& gpus,
                                                      TaskGroup::State state) const;
};

}  // namespace starling
