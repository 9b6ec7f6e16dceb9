// SPDX-License-Identifier: Apache-2.0
#include "interference/profile.h"

#include <algorithm>

#include "base/hash.h"

namespace starling {

JobProfile profile_of(const JobSpec& spec) { return profile_of(spec, spec.gpus()); }

JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus) {
  JobProfile profile;
  profile.model = spec.model;
  profile.gpus = gpus;
  profile.asked = spec.gpus();
  if (profile.model.find("(parameter servers)") != std::string::npos)
    profile.parameter_servers = gpus / std::max(spec.gpus_per_worker, 1U);
  profile.straggler_seed = mix64(spec.id.hi ^ mix64(spec.id.lo));
  if (spec.gpus_per_worker > 0) profile.cpus_per_gpu = spec.cpus_per_worker / spec.gpus_per_worker;
  return profile;
}

}  // namespace starling
