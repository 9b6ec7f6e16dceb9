// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/config.h"
#include "agents/output.h"
#include "base/rng.h"

namespace starling {

struct ClientConfig {
  NodeId me;
  std::vector<AgentId> agents;  ///< all whose word counts
  Timers timers;  ///< heartbeat == Duration::max(): nothing gets lost, so nothing is asked twice
};

/// What became of one job, as far as the client was told.
struct JobOutcome {
  JobId job;
  Instant due;   ///< when it was to be submitted
  AgentId home;  ///< where it was sent, or lives now
  bool sent = false;
  bool accepted = false;
  bool rejected = false;     ///< final, as is a terminal phase
  bool cancelled = false;    ///< the user asked for it
  std::string reason;        ///< if rejected
  Instant started = kNever;  ///< first process
  Instant ended = kNever;
  JobState state;  ///< the newest; phase unknown before the first

  [[nodiscard]] bool over() const noexcept { return rejected || terminal(state.phase); }
};

/// Submits jobs at their times and follows each to its end. Pure, like Agent: same calls, same
/// outputs.
///
/// A job is offered to one home alone, again and again until it is taken: a second home might
/// accept what the first has accepted already. A home that is full is waited for as long as it says
/// so; of one that has said nothing for an hour the job is given up. O(log n) per event in the
/// number of jobs.
class Client {
 public:
  struct Counts {
    std::uint64_t jobs = 0, sent = 0, accepted = 0, rejected = 0, started = 0;
    std::uint64_t finished = 0, failed = 0, cancelled = 0, busy = 0, repeats = 0,
                  refused_frames = 0, answers = 0;
    [[nodiscard]] std::uint64_t over() const noexcept {
      return rejected + finished + failed + cancelled;
    }
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  Client(ClientConfig config, Rng rng);

  /// Offers the job to `first_home` once `due` has come. A job id that is known already changes
  /// nothing.
  void submit(Instant due, JobSpec spec, AgentId first_home);
  /// Ends the job wherever it stands; an id that is not known changes nothing.
  void cancel(JobId job);
  /// Sends what only asks (ListJobs, Explain, StatusQuery, ReadOutput, ..) once. The answer, if
  /// there is one, is counted and means nothing to the jobs.
  void ask(AgentId agent, Message question);

  void step(Instant now, const Event& event, Output& out);
  [[nodiscard]] Instant next_deadline() const noexcept;

  /// In order of submit(). Valid until the next call of submit().
  [[nodiscard]] std::span<const JobOutcome> jobs() const noexcept { return outcomes_; }
  [[nodiscard]] const JobOutcome* find(JobId job) const;
  /// The newest answer to SetQueues or QueuesQuery: of the highest version, the last. None yet.
  [[nodiscard]] const std::optional<QueuesState>& queues() const noexcept { return queues_; }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] bool all_over() const noexcept { return counts_.over() == counts_.jobs; }
  [[nodiscard]] const ClientConfig& config() const noexcept { return config_; }

 private:
  struct Errand {  // what is still to be done for a job; by index, as outcomes_
    JobSpec spec;  // until accepted
    Instant when = kNever;
    Duration backoff{0};
    Instant accepted = kNever;
    Instant busy = Instant::min();  // the home's last Busy
    bool asked = false;             // the next state may be an overtaken one
  };
  using Due = std::pair<Instant, std::size_t>;

  void schedule(std::size_t i, Instant when);
  void retry(std::size_t i, Instant now, Duration at_least);
  void visit(std::size_t i, Instant now, Output& out);
  void on(const Accepted& accepted, Instant now);
  void on(const Busy& busy, Instant now);
  void on(const Rejected& rejected, Instant now);
  void on(NodeId from, const JobState& state, Instant now);
  void take(std::size_t i, Instant now);
  void accept(std::size_t i, Instant now);
  void end(std::size_t i, Instant now);
  void wait_for_news(std::size_t i, Instant now, bool fresh);
  [[nodiscard]] std::size_t index_of(JobId job) const;  // kNone
  [[nodiscard]] bool lossy() const noexcept { return config_.timers.heartbeat < Duration::max(); }

  ClientConfig config_;
  Rng rng_;
  std::vector<JobOutcome> outcomes_;
  std::vector<Errand> errands_;
  std::unordered_map<JobId, std::size_t> index_;  // looked up, never walked
  // Entries whose instant is no longer the errand's are skipped when they come up.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<std::pair<AgentId, Message>> questions_;
  std::optional<QueuesState> queues_;
  Counts counts_;
};

}  // namespace starling
