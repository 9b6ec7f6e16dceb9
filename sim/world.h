#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bus/node.h"
#include "interference/speed.h"
#include "sim/checker.h"
#include "sim/hardware.h"
#include "sim/journal.h"
#include "sim/network.h"
#include "sim/queue.h"
#include "sim/simulate.h"
#include "sim/timeline.h"

namespace starling {

/// The whole system in one thread of virtual time: real agents, executors and a client behind the
/// real driver loop and codec, on a simulated network, simulated disks and simulated GPUs.
/// Everything that happens is an event of one queue, so equal inputs give equal runs.
///
/// The client submits the trace, row by row at its submit times, to the agents in turn. run() ends
/// when every job has ended, or when nothing has moved for `kStalled` of virtual time although
/// nothing is to come.
class World {
 public:
  static constexpr Duration kStalled = std::chrono::hours(24);

  /// `topology`, `trace` and `policies` outlive the world. Without `restarts` no node may be
  /// started again, and journals keep nothing. `invalid`: bad policy, too many agents.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const Topology& topology,
                                                           const Trace& trace,
                                                           const PolicyRegistry& policies,
                                                           const SimOptions& options,
                                                           bool restarts = true);
  ~World();

  /// To the end. A checker's violation and a node that stopped by itself are errors.
  [[nodiscard]] Status run();
  /// Takes the next event; false when there is none or everything is over.
  [[nodiscard]] Result<bool> step();
  /// Takes the next event, although everything may be over, unless it is later than `until`; false
  /// then. For what happens around and after the jobs.
  [[nodiscard]] Result<bool> step_until(Instant until);
  [[nodiscard]] RunResult result() const;

  /// Calls `what` at `when`, before anything else of that instant.
  void at(Instant when, std::function<void(World&)> what);
  /// The agent's memory is gone, its journal stays; frames to it are lost until it is back.
  void crash_agent(AgentId agent);
  /// Starts its next life from its journal.
  void restart_agent(AgentId agent);
  /// Another host takes the agent's partition over at the next epoch, from its journal. If the old
  /// owner is alive it does not know, hears and speaks for `lasts` more, and can no longer write.
  void take_over(AgentId agent, Duration lasts);
  void crash_executor(std::uint32_t executor);
  void restart_executor(std::uint32_t executor);
  /// An agent or executor speaks as that version does from its next life on.
  void set_protocol(NodeId node, std::uint16_t protocol);
  /// An operator's word to the owner of the server. It may get lost; repeating it changes nothing.
  void drain(ServerId server, bool drained, bool evict = false);

  [[nodiscard]] Instant now() const noexcept;
  [[nodiscard]] Network& network() noexcept;
  [[nodiscard]] Hardware& hardware() noexcept;
  [[nodiscard]] const Agent* agent(AgentId agent) const;  ///< null while it is down
  [[nodiscard]] std::uint32_t executors() const noexcept;
  [[nodiscard]] const Client& client() const;
  /// Of agents and executors that are up; all zero of others.
  [[nodiscard]] NodeCounters counters(NodeId node) const;

 private:
  struct Parts;
  explicit World(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace starling
