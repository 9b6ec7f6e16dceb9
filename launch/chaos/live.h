// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/chaos/audit.h"
#include "launch/chaos/flock/injector.h"
#include "launch/chaos/load.h"
#include "launch/chaos/recovery_meter.h"
#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// What became of a run. Times are seconds from its start.
struct LiveReport {
  ChaosScenario scenario;
  std::filesystem::path dir;
  std::vector<FaultRecord> faults;
  std::map<std::string, std::string> impossible;  ///< kinds left out, and why
  Audit::Totals totals;
  std::vector<Violation> violations;
  std::vector<Audit::Job> jobs;  ///< times are of the machine's clock: less `began`
  double began = 0;
  double began_wall = 0;   ///< the same, seconds since 1970
  std::string again = {};  ///< a command that does the same faults again, if a command began it
  std::vector<RecoveryMeter::Case> recoveries;
  std::vector<Load::Answer> answers;
  std::uint64_t takeovers = 0;  ///< as the agents' logs say
  std::uint64_t link_connections = 0, link_bytes = 0, link_corrupted = 0;
  double rss_mib = 0;                                  ///< the most that an agent had
  double throughput_before = 0, throughput_after = 0;  ///< jobs started a second, around a takeover
  double faults_s = 0, recovered_s = 0, wall_s = 0;    ///< until healing; healing to all over; all

  [[nodiscard]] bool good() const { return violations.empty(); }
};

struct ChaosLiveOptions {
  std::filesystem::path dir;  ///< new or empty
  bool quiet = false;
};

/// Starts the flock of a scenario on this machine, loads it, breaks it, heals it, waits until every
/// job has ended, and looks whether the promises held. Leaves no process behind. An error means
/// that there was no run: the flock did not come up, or Ctrl-C was pressed.
[[nodiscard]] Result<LiveReport> run_chaos_live(const ChaosScenario& scenario,
                                                const ChaosLiveOptions& options);

}  // namespace starling::chaos_live
