// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/client.h"
#include "agents/message.h"
#include "agents/record.h"

namespace starling {

/// What clients said and were told of each job, held against the one story that there is:
/// unknown -> accepted -> .. -> terminal, or refused for good (S13). What was sent and not answered
/// may have happened or not.
///
/// Reads do not go back. What one life of a home says, in the order in which it says it, only goes
/// on: attempts never fall, and within one attempt a job starts, runs, drains and waits again, in
/// that order. A successor begins with its predecessor's journal, so it never knows less than was
/// durable when its life began: fewer attempts, no end, or nothing at all. It may know less of what
/// is not durable: "starting" after "running" is right there. No agent says more than is durable. A
/// deposed owner that does not know it yet says what was true in its time, and that is allowed. And
/// what a client itself shows of a job never goes back either.
///
/// All of it is one story for all clients, living and dead: what one was told, another is not told
/// otherwise, and a client that begins anew changes nothing but what it can show.
///
/// A refusal is for good as long as the servers are the same: what one life of a home refuses, one
/// that begins after they have changed may accept, and the refusal may come later than that. What
/// was accepted is never refused. A home that has had queues may refuse by one tree what it accepts
/// by another, also in one life: of such only a refusal counts that was said after it had accepted.
class ClientHistory {
 public:
  void said(const Message& message);
  /// By a life of `from`, as its frame number `sequence`. The first thing that does not fit; empty:
  /// it fits.
  [[nodiscard]] std::string told(NodeId from, Incarnation life, std::uint64_t sequence,
                                 const Message& message);
  /// Has become durable at `node`, in this life. What does not fit; empty: it fits. A job is
  /// accepted as it was submitted, or not at all.
  [[nodiscard]] std::string wrote(NodeId node, Incarnation life, const Record& record);
  /// Lives that begin from now on know other servers.
  void servers_changed() { ++servers_; }
  /// Another client has this name from now on.
  void began(NodeId client) { shown_.erase(client); }
  /// What a client knows of its jobs, now; always in the same order, new ones behind the others.
  [[nodiscard]] std::string shows(NodeId client, std::span<const JobOutcome> jobs);

 private:
  /// How far a job has come at one home: its arrival there, attempts, stage within the last one.
  using Way = std::tuple<std::uint32_t, std::uint32_t, int>;

  /// Of one home, what each of its lives had made durable at last.
  struct Fact {
    bool accepted = false;
    std::uint32_t attempts = 0;
    JobPhase end = JobPhase::unknown;  ///< moved counts
  };
  struct Home {
    std::map<Incarnation, Fact> facts;
    std::uint32_t most_attempts = 0;                           ///< ever
    std::map<Incarnation, std::map<std::uint64_t, Way>> said;  ///< by sequence
    std::map<Incarnation, std::uint64_t> accepted;             ///< sequence of the first
    std::pair<Incarnation, std::uint64_t> refused;             ///< life and sequence of the last
  };
  struct Story {
    bool submitted = false;
    /// With which servers it was last refused and first accepted, as clients were told.
    std::optional<std::uint32_t> refused, accepted;
    [[nodiscard]] bool contradicts_itself() const {
      return refused && accepted && *refused >= *accepted;
    }
    JobSpec spec;  ///< as a client submitted it
    std::map<NodeId, Home> homes;
    JobPhase end = JobPhase::unknown;
  };
  struct Shown {
    bool over = false, accepted = false;
    JobPhase phase = JobPhase::unknown;
    AgentId home;
    Way way;
  };
  [[nodiscard]] static Way way_of(const JobState& state);
  [[nodiscard]] std::string told_state(NodeId from, Incarnation life, std::uint64_t sequence,
                                       const JobState& state);
  [[nodiscard]] static std::string goes_back(Home& home, Incarnation life, std::uint64_t sequence,
                                             const JobState& state);
  [[nodiscard]] static std::string knows_too_little(const Home& home, Incarnation life,
                                                    const JobState& state);

  [[nodiscard]] bool contradicts_itself(const Story& story, NodeId home) const;
  [[nodiscard]] std::uint32_t servers_of(NodeId home, Incarnation life) const;

  std::map<JobId, Story> stories_;
  std::uint32_t servers_ = 0;                                      ///< how often they have changed
  std::map<std::pair<NodeId, Incarnation>, std::uint32_t> lives_;  ///< the same when each began
  std::set<NodeId> queued_;                                        ///< that have had queues
  std::map<NodeId, std::vector<Shown>> shown_;                     ///< as the client shows them
};

}  // namespace starling
