// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// The person behind a client's key, as the flock knows them and the transport has proven; of other
/// nodes it says nothing. Without a user: those with the key of a flock that names no users, or the
/// one who brought it up. They are operators, and their jobs run as the executors' own user.
struct Asker {
  std::string user;
  bool is_operator = true;  ///< may change everybody's jobs, and the servers
  friend bool operator==(const Asker&, const Asker&) = default;
};

/// Makes a job that `by` submits that of the user behind the key, whatever it said: it will run as
/// that user. Only root may submit for others, as it could become them anyway. `only_user`:
/// the one that the executors can run jobs as; empty: any user. `invalid` says why none may.
[[nodiscard]] Status sign(JobSpec& spec, const Asker& by, const std::string& only_user);

/// Empty if `by` may end or change the job; else one sentence that says why not.
[[nodiscard]] std::string why_not_theirs(const JobSpec& spec, const Asker& by);

}  // namespace starling
