// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "launch/guardian/part_files.h"
#include "workload/job.h"

namespace starling {

/// A user of this machine whom a part is started as.
struct JobLogin {
  std::string name, home, shell;
  PartUser ids;
};

/// Whom a job runs as here; nothing: as this process does, because its user is that of this process
/// or is not proven. `invalid`: it cannot run here, in one sentence for its user; `io`: the
/// system's list of users cannot be asked now.
[[nodiscard]] Result<std::optional<JobLogin>> login_for(const JobSpec& spec);

}  // namespace starling
