// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/message.h"
#include "base/rng.h"
#include "launch/chaos/audit.h"
#include "launch/chaos/scenario/scenario.h"
#include "launch/processes/supervisor.h"

namespace starling::chaos_live {

/// Clients that come and go beside the one of Load: `starling submit`, a process each, some of
/// which are killed before they have ended. A job that such a command says was accepted is owed as
/// any other; one whose command died may or may not be.
class SubmitCommands {
 public:
  SubmitCommands(const ChaosScenario& scenario, std::filesystem::path dir, Audit& audit);

  /// Starts what is due, kills those it befalls, takes in what has ended.
  void step(double now, bool submit_more);
  [[nodiscard]] std::size_t running() const { return commands_.size(); }

 private:
  struct Running {
    JobId job;
    double kill_at = 0;  ///< 0: it is left alone
  };
  void start(double now);

  const ChaosScenario& scenario_;
  std::filesystem::path dir_;
  Audit& audit_;
  Rng rng_;
  Supervisor supervisor_;
  std::map<std::string, Running> commands_;
  std::uint64_t next_ = 0;
  double due_ = -1;
};

}  // namespace starling::chaos_live
