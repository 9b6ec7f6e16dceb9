// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/command_line/cli.h"
#include "launch/wiring/wiring.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "topology/topology.h"
#include "workload/job.h"
#include "workload/queue_tree.h"
#include "workload/traces/trace.h"

namespace starling {

/// What `starling sim` and `starling run` share, as the user wrote it.
struct RunOptions {
  std::string topology, trace, format;
  std::string policy{kDefaultPolicy};
  std::string physics = "trace";
  std::string speed = "analytic";
  std::string durations = "exact";
  std::string network;  ///< empty: ideal with physics trace, lan with full
  std::string faults;
  std::string from, length;  ///< a part of the trace: 36h, 7d; empty: all
  std::string queues;        ///< a file of queues; empty: there are none
  std::string out, record;
  std::uint32_t agents = 1;
  std::uint32_t jobs = 0;                  ///< 0: all
  std::uint32_t servers_per_executor = 0;  ///< 0: at most 16 executors
  std::uint64_t seed = 1;
  double load = 0;           ///< offered; 0: arrivals as given
  double arrival_speed = 1;  ///< submit times are divided by it
  bool check = false, json = false, quiet = false;
  TraceReader trace_reader = nullptr;  ///< of a plug-in that `format` names; null: none
};
void add_run_options(const Command& command, RunOptions& options);

/// The same, read and checked: everything that can be wrong with the input has been said by then.
struct RunInput {
  Topology topology;
  Trace trace;
  SimOptions sim;
};
/// Makes the folder of --out, so that no run ends in nothing.
[[nodiscard]] Result<RunInput> read_run_input(const RunOptions& options,
                                              const PolicyRegistry& policies);

/// The same of a data centre and jobs at hand; what the options say of files is not read, nor is
/// which part of the trace it is.
[[nodiscard]] Result<RunInput> make_run_input(const RunOptions& options,
                                              const PolicyRegistry& policies, Topology topology,
                                              Trace trace);

/// One message about the jobs that can never fit, or that the queues, where there are any, refuse,
/// and so will fail; empty if there are none.
[[nodiscard]] std::string misfits(const Topology& topology, const Trace& trace,
                                  const std::optional<QueueTree>& queues = std::nullopt);

/// "90", "90s", "15m", "36h", "7d".
[[nodiscard]] Result<Duration> parse_duration(const std::string& text);
/// exact, none or noisy:SIGMA.
[[nodiscard]] Result<DurationKnowledge> parse_durations(const std::string& text);
/// ideal, lan or a YAML file with any of delay_us, jitter, loss, duplication, reorder.
[[nodiscard]] Result<NetworkModel> parse_network(const std::string& text);

}  // namespace starling
