// SPDX-License-Identifier: Apache-2.0
#include "interference/profile.h"

#include <algorithm>

#include "base/hash.h"
#include "workload/requirements.h"

namespace starling {

JobProfile profile_of(const JobSpec& spec) { return profile_of(spec, spec.gpus()); }

JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus) {
  JobProfile profile;
  profile.model = spec.model;
  profile.gpus = gpus;
  profile.asked = spec.gpus();
  profile.parameter_servers = servers_at(spec, gpus / std::max(spec.gpus_per_worker, 1U));
  if (spec.run.max_servers > 0) profile.asked_servers = servers_at(spec, spec.workers);
  profile.server_cpus = spec.run.server_cpus;
  profile.batch = spec.run.batch;
  profile.straggler_seed = mix64(spec.id.hi ^ mix64(spec.id.lo));
  if (spec.gpus_per_worker > 0) profile.cpus_per_gpu = spec.cpus_per_worker / spec.gpus_per_worker;
  return profile;
}

JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus, const Allocation& how) {
  JobProfile profile = profile_of(spec, gpus);
  profile.running_servers = how.servers;
  return profile;
}

Duration start_time(const Physics& physics, const JobSpec& spec, const JobProfile& profile,
                    Duration served) {
  const Duration usual = from_seconds(physics.startup_s(profile));
  if (usual <= Duration::zero()) return usual;
  const RunDetails& run = spec.run;
  return (run.restore > Duration::zero() ? run.restore : usual) +
         (served > Duration::zero() ? run.save : Duration::zero());
}

}  // namespace starling
