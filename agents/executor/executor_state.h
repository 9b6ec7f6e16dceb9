// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agents/executor/executor.h"
#include "agents/parts/timer_queue.h"
#include "agents/parts/tombstones.h"

namespace starling {

/// Ends that no agent has acknowledged yet; at this many nothing more is launched.
constexpr std::size_t kUnheardEnds = 2048;

/// A Run's token where its home's word is known from the journal alone: below all that are said.
constexpr std::uint64_t kWordOfAnEarlierLife = 1;

/// The processes of one attempt on one server.
struct RunPart {
  ServerId server;
  bool ended = false;
  Duration served{0};  ///< once ended
};

/// One attempt that runs here, or ran and whose end no agent has acknowledged.
struct Run {
  enum class Phase : std::uint8_t {
    running,
    stopping,  ///< durable, and StopSpec is out: killed, orphaned, or a sibling part failed
    exited     ///< durable; told to the owner until acknowledged
  };
  Launch launch;
  std::vector<RunPart> parts;  ///< by server
  Phase phase = Phase::running;
  bool killed = false;  ///< the owner waits for Killed
  /// `exit` is that of the first part that failed, or why it is stopped: no later end changes it.
  bool stands = false;
  ExitStatus exit;
  Duration served{0};  ///< once exited: the least of its parts, that is what a restart can count on
  Duration backoff{0};
  Instant resend = kNever;  ///< of Exited
  Instant began;            ///< for its time limit: its Launch or, of an earlier life, as measured
  bool recovered = false;   ///< of an earlier life
  bool warned = false;      ///< JobTerms::signal was sent, in this life
  Instant limit = kNever;   ///< when to look at its time limit
  Instant since;            ///< wanted: by its Launch, or found by this life
  Instant confirmed_at = Instant::min();  ///< by its home, as the owner relays it: then token > 0
  std::uint64_t token = 0;                ///< of the newest confirmation
  Instant until = kNever;                 ///< what the launcher was told last, in this life
  /// Durable: as in ProcessWanted. None: nothing has been written yet.
  std::optional<Duration> wanted;
  bool measured = false;  ///< `progress` has not been sent yet
  Progress progress;
};

/// Everything an Executor knows. The checker and the tests look at it; only Executor changes it.
struct ExecutorState {
  ExecutorState(ExecutorConfig executor_config, const Topology& data_center);

  ExecutorConfig config;
  const Topology& topology;
  IndexRange gpus;  ///< of its servers

  // Durable.
  Epoch epoch;                    ///< highest seen; lower ones are fenced
  std::map<AttemptId, Run> runs;  ///< running or exited
  Tombstones forgotten;           ///< never launched again

  // Of this life.
  bool begun = false;
  bool welcomed = false;
  bool agreed = false;  ///< the owner knows of this life, and the same topology if both say theirs
  Instant last_from_owner;      ///< when a message of the owner last came
  Instant previous_from_owner;  ///< and the one before
  Instant born;                 ///< its first step
  Instant heard_by_owner;  ///< for certain, at the latest: when the newest Pong's Ping was sent
  std::deque<std::pair<std::uint64_t, Instant>> pinged;  ///< without a Pong yet; a few
  Instant sweep;                                         ///< tombstones were last looked through
  std::size_t unheard = 0;                               ///< runs that have exited
  Instant hello = Instant::min();
  Duration hello_backoff{0};
  Instant beat = kNever;
  Instant report = kNever;  ///< where there are no beats
  std::uint64_t pings = 0;  ///< above all of earlier lives, whose answers may still be on their way
  Duration lag{0};          ///< how late the last beats were; halves at each
  std::map<GpuId, Instant> sick;  ///< since when they are well again; kNever: they are not
  Placement in_use;               ///< by something of an earlier life, which is ending
  std::uint64_t health = 0;       ///< versions of that so far in this life
  bool health_seen = true;        ///< the owner has the newest
  std::uint16_t owner_speaks = kOldestProtocol;
  TimerQueue<AttemptId> resends;      ///< Exited that wait for their acknowledgement
  TimerQueue<AttemptId> limits;       ///< of what runs and has a time limit
  std::vector<std::uint8_t> tenants;  ///< attempts on each GPU, from gpus.first
  std::uint64_t refused_frames = 0;   ///< from a node that has no say here

  /// One attempt more on each of them, or one less.
  void mark(const Placement& placement, bool more);
  /// All GPUs that must not be used, ascending.
  [[nodiscard]] Placement sick_gpus() const;
  [[nodiscard]] std::uint64_t health_version() const {
    return (config.incarnation.value << 32U) | health;
  }
  [[nodiscard]] bool any_full(const Placement& placement) const;
  void forget(AttemptId attempt, Duration served, Instant now);
  /// What this executor says that it has read. Those of the first protocol say nothing.
  [[nodiscard]] std::uint64_t topology_said() const {
    return config.protocol < 2 ? 0 : config.topology;
  }
  /// Applies one record of an earlier life.
  void replay(const Record& record);
};

/// Whether a journal of earlier lives can be this executor's: what ran then had whole parts of its
/// gang on the servers of `config` as `topology` has them, and what is not over was started with
/// that topology. An Executor takes no other. `invalid`: what does not fit, for the person who has
/// to find the right file.
[[nodiscard]] Status fits_journal(const ExecutorConfig& config, const Topology& topology,
                                  std::span<const Record> recovered);

/// The parts of a launch, one per server, by server, with their ranks in the gang. Empty unless
/// `here` is made of the gang's whole parts of some servers.
[[nodiscard]] std::vector<LaunchSpec> parts_of(const Launch& launch, const Topology& topology);

}  // namespace starling
