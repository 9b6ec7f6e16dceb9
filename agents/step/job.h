// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agents/message.h"
#include "agents/record.h"
#include "base/ids.h"
#include "base/time.h"
#include "scheduling/feedback.h"
#include "workload/job.h"

namespace starling {

/// Where a job of this home stands.
enum class Stage : std::uint8_t {
  waiting,     ///< for a decision; in AgentState::waiting
  offered,     ///< another home alone may accept it (JobOffered is durable)
  bidding,     ///< other partitions are asked for a share; nothing is promised
  reserving,   ///< shares are being held; they lapse by themselves
  committing,  ///< shares are being made to last
  starting,    ///< AttemptStarting is durable: processes may run
  running,     ///< every participant has said Started
  draining     ///< AttemptDraining is durable: no next attempt before all have said Released
};
[[nodiscard]] const char* name_of(Stage stage) noexcept;
[[nodiscard]] JobPhase phase_of(Stage stage) noexcept;

/// One partition's part in an attempt, as the home sees it.
struct Participant {
  Share share;
  AgentId agent;
  std::vector<AttemptId> beside = {};  ///< that it is to share some of those GPUs with
  bool reserved = false, committed = false, started = false, exited = false, released = false;
  Duration served{0};  ///< once exited or released
  /// When a message about the attempt last came from there, or went there that could start it.
  Instant last_contact = Instant::min();
};

/// One try at running a job, with the agents that take part.
struct Attempt {
  AttemptId id;
  std::vector<Participant> parts;  ///< ascending by partition
  Allocation allocation = {};
};

/// A job of this home that is not over. What is known of it only in some stages is in `doing`, so
/// that it cannot be read in others.
struct Job {
  struct Waiting {
    Waiting() {}                       // said, as `doing` asks for it before Job is complete
    JobReason back = JobReason::none;  ///< why it is not up for decision
  };
  struct Offered {
    AgentId to;
    bool again = false;  ///< it had an offer in an earlier stay, too
  };
  /// Bidding, reserving, committing: nothing runs.
  struct Round {
    struct Bids {
      std::vector<AgentId> asked;  ///< that have not answered
      std::vector<Share> offers;
      bool shares = false;  ///< it would share GPUs with others
      std::vector<std::pair<PartitionId, SharedRoom>> shared = {};
    };
    Attempt attempt;
    std::uint32_t gpus = 0;             ///< of the whole gang
    std::optional<Bids> bids = Bids{};  ///< while bidding
    bool committing = false;            ///< all have reserved
    bool sequential = false;            ///< reserves one after the other, and keeps what it has
    std::vector<PartitionId> claimed;   ///< turn.cpp: start nothing new for its sake; ascending
    Instant deadline = kNever;          ///< of the turn, or of what is held
  };
  /// Starting, running, draining.
  struct Run {
    struct Drain {
      AfterDrain after = AfterDrain::wait;
      Placement restart_at = {};   ///< with AfterDrain::restart, in the home's partition
      Allocation restart_as = {};  ///< with more workers than go there: a gang over several
    };
    Attempt attempt;
    bool whole = false;             ///< every participant has said Started
    std::optional<Drain> drain;     ///< while draining
    Instant started = kNever;       ///< kNever: in an earlier life
    Instant deadline = kNever;      ///< for starting
    Duration measured{0};           ///< newest Progress
    std::uint64_t number = 0;       ///< counted over all of this home's life
    bool dated = false;             ///< of an earlier life, and `started` is what its dates say
    bool gets_on = false;           ///< an executor has told that it does
    Instant told_to_stop = kNever;  ///< draining, in this life
    ExitStatus exit;                ///< of the participant that failed first
  };

  /// What executors have told of it in this life: as JobView has it.
  struct Seen {
    double pace = 0;  ///< of the open attempt
    Instant at = kNever;
    Duration restart_cost{0};
    double noise_scale = 0;
    std::uint32_t batch = 0;
  };

  /// A decision about it that was not carried out.
  struct Refused {
    Instant at = kNever;    ///< kNever: none was
    const char* wish = "";  ///< wish_of() the decision
    DecisionFault why = {};
  };

  std::shared_ptr<const JobSpec> spec;
  /// As policies see it while it waits, where its queue keeps it from being larger than it asks to
  /// be; null: as it is.
  std::shared_ptr<const JobSpec> within_quota;
  NodeId client;
  std::uint64_t order = 0;
  std::variant<Waiting, Offered, Round, Run> doing;
  Instant submitted;   ///< when its first home accepted it, as far as can be told here
  bool dated = false;  ///< `submitted` and `first_start` are from the journal
  Duration waited{0};  ///< before this home or this life
  Duration served{0};  ///< in attempts that are over
  Instant first_start = kNever;
  Instant stopped = Instant::min();  ///< the last attempt was over, in this life
  Instant waits_since = kNever;  ///< the last attempt was over; kNever: one is open, or none was
  Duration requeued{0};          ///< it waited like that before
  std::uint32_t attempts = 0, forwards = 0, preemptions = 0, failed_rounds = 0;
  std::uint32_t turns = 0;              ///< that came to nothing
  Instant turn_after = Instant::min();  ///< no other before
  std::uint32_t lost_attempts = 0;  ///< drained to be tried again; making room for others is not
  Placement placement;              ///< of the last attempt that was started
  Allocation allocation = {};       ///< of that
  AttemptId last;                   ///< that attempt; zeros: this life knows of none
  /// Homes that this one has offered it to, newest last; of those before `stay` in a stay that is
  /// over. None is tried twice in one stay, as its refusal is final.
  std::vector<AgentId> offered;
  std::size_t stay = 0;
  /// Not durable: those that it is not to be offered to in this stay, where that is one of before,
  /// too, which does not say which offer it answers. Empty: those of this stay.
  std::vector<AgentId> closed;
  /// A node that speaks an earlier protocol would have had a part in it: decisions of how it runs
  /// are not followed any more.
  bool as_asked = false;
  // Beside GPUs it waits for these (agents/home/standing.cpp).
  bool held = false;                    ///< until a user releases it
  std::uint64_t met = 0;                ///< bit i: JobTerms::after[i] has come true
  std::uint32_t failures = 0;           ///< of its attempts, each followed by another
  ExitStatus failure;                   ///< the last of these
  Instant not_before = Instant::min();  ///< after that one
  bool in_array = false;                ///< counted in ArrayState::in
  JobReason reason = JobReason::none;   ///< of its end
  Seen seen;
  std::string trouble;  ///< why the last round or attempt came to nothing
  Refused refused;      ///< the last one since it last started, stopped or left the waiting list
  Instant timer = kNever;
  Duration backoff{0};

  [[nodiscard]] Stage stage() const noexcept;
  /// Null in other stages.
  [[nodiscard]] Round* round() noexcept { return std::get_if<Round>(&doing); }
  [[nodiscard]] const Round* round() const noexcept { return std::get_if<Round>(&doing); }
  [[nodiscard]] Run* run() noexcept { return std::get_if<Run>(&doing); }
  [[nodiscard]] const Run* run() const noexcept { return std::get_if<Run>(&doing); }
  /// Why it waits and is not up for decision; none: it is, or does not wait.
  [[nodiscard]] JobReason back() const noexcept {
    const auto* waits = std::get_if<Waiting>(&doing);
    return waits == nullptr ? JobReason::none : waits->back;
  }
  /// It waits for that home's answer; null: not for that one's.
  [[nodiscard]] const Offered* offered_to(AgentId home) const noexcept {
    const auto* open = std::get_if<Offered>(&doing);
    return open != nullptr && open->to == home ? open : nullptr;
  }
  /// The open one; null: none is.
  [[nodiscard]] Attempt* attempt() noexcept;
  [[nodiscard]] const Attempt* attempt() const noexcept;
  [[nodiscard]] bool has(AttemptId open) const noexcept;
  /// When its processes began in the open attempt; kNever: none is, or that is not known.
  [[nodiscard]] Instant started() const noexcept { return run() ? run()->started : kNever; }

  /// That home alone may take it from now on.
  void offer_to(AgentId home);
  [[nodiscard]] std::span<const AgentId> closed_homes() const {
    return closed.empty() ? std::span(offered).subspan(stay) : std::span(closed);
  }
  /// It is a new one of this home that had been offered to those, before it came back.
  void came_back(std::vector<AgentId> before);
  /// It has run again since `from`. False: it did not wait for that.
  bool waits_no_more(Instant from);
  /// How long it has waited between attempts until `now`: no longer than it has been there,
  /// whatever a calendar said that has jumped meanwhile.
  [[nodiscard]] Duration requeued_by(Instant now) const {
    const Duration waits = waits_since == kNever ? Duration{0} : now - waits_since;
    return std::clamp(requeued + waits, Duration{0}, std::max(now - submitted, Duration{0}));
  }
};

/// All GPUs of an attempt, ascending.
[[nodiscard]] Placement all_gpus(const Attempt& attempt);
[[nodiscard]] std::vector<Share> gang_of(const Attempt& attempt);
/// Of one that drains.
[[nodiscard]] AttemptPlan plan_of(const Job::Run& run);

}  // namespace starling
