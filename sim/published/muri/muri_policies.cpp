// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/muri_policies.h"

namespace starling {

void MuriShortest::choose(double /*now_s*/, std::vector<MuriJob*>& jobs) {
  // Stable, and quick where little has moved: only those that ran have less left than before.
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    MuriJob* const job = jobs[i];
    const double its = key(*job);
    std::size_t at = i;
    for (; at > 0 && key(*jobs[at - 1]) > its; --at) jobs[at] = jobs[at - 1];
    jobs[at] = job;
  }
  MuriServers free;
  for (MuriJob* job : jobs) job->runs = free.take(job->gpus);
}

void MuriTiresias::choose(double /*now_s*/, std::vector<MuriJob*>& jobs) {
  queues_.move_on(jobs);
  std::uint32_t free = kMuriServers * kMuriServerGpus;
  for (MuriJob* job : queues_.in_order()) {
    job->runs = job->gpus <= free;
    if (job->runs) free -= job->gpus;
  }
  queues_.put_running_first();
}

}  // namespace starling
