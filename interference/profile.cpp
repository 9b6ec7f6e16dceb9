#include "interference/profile.h"

#include "base/hash.h"

namespace starling {

JobProfile profile_of(const JobSpec& spec) {
  JobProfile profile;
  profile.model = spec.model;
  profile.gpus = spec.gpus();
  profile.luck = mix64(spec.id.hi ^ mix64(spec.id.lo));
  if (spec.gpus_per_worker > 0) profile.cpus_per_gpu = spec.cpus_per_worker / spec.gpus_per_worker;
  return profile;
}

}  // namespace starling
