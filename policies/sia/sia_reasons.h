// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "policies/sia/sia_program.h"
#include "topology/topology.h"

namespace starling {

/// Why Sia's last round did with each job what it did, for people.
class SiaReasons {
 public:
  /// `jobs`: of the rows. `failure`: why the program was not solved; empty: it was.
  void note(Instant now, std::vector<std::string> types, std::vector<JobId> jobs,
            SiaProblem problem, SiaAnswer answer, std::string failure);
  /// A line for what it was given and one for each of its cheapest choices; nothing: the round was
  /// not about it.
  [[nodiscard]] std::vector<std::string> explain(JobId job, const SiaObjective& objective) const;

 private:
  [[nodiscard]] std::string choice_text(const SiaProblem::Choice& choice) const;

  Instant at_{};
  std::vector<std::string> types_;
  std::vector<JobId> jobs_;
  SiaProblem problem_;
  SiaAnswer answer_;
  std::string failure_;
};

}  // namespace starling
