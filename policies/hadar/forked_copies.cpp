// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/forked_copies.h"

#include <algorithm>

#include "interference/profile.h"
#include "workload/requirements.h"

namespace starling {

struct ForkedCopies::Fork {
  Forking* from = nullptr;
  std::pair<ServerId, std::uint32_t> first;       // copy, as the market has it; workers
  std::map<ServerId, std::uint32_t> copies, now;  // workers; as planned, and as it runs
  std::map<ServerId, Placement> taken;            // of `copies`, in the plan
  double sum = 0, sum_now = 0;                    // of their paces
};

double ForkedCopies::pace(const View& view, const JobSpec& job, ServerId server,
                          std::uint32_t workers) {
  const Server& on = view.topology.server(server);
  const auto [known, fresh] =
      known_.try_emplace(Key(job.model, job.workers, job.gpus_per_worker, job.cpus_per_worker,
                             job.run, on.gpu_type.value, workers),
                         0.0);
  if (fresh) {
    Placement there;
    for (std::uint32_t g = 0; g < workers * job.gpus_per_worker; ++g)
      there.push_back(GpuId{on.gpus.first + g});
    const auto gpus = static_cast<std::uint32_t>(there.size());
    known->second = progress_rate(view.speed, profile_of(job, gpus), there, {}, {});
  }
  return known->second;
}

double ForkedCopies::all_of(const Fork& fork, double more) const {
  const std::size_t copies = fork.copies.size() + (more > 0 ? 1 : 0);
  return (fork.sum + more) * (copies > 1 ? efficiency_ : 1.0);
}

std::uint32_t ForkedCopies::room(const Fork& fork, const Occupancy& planned,
                                 ServerId server) const {
  if (fork.copies.contains(server)) return 0;
  const JobSpec& job = *fork.from->job->spec;
  if (!allows(job, planned.topology(), server)) return 0;
  return std::min(planned.free_on(server, fork.from->gang->each) / job.gpus_per_worker,
                  job.workers);
}

void ForkedCopies::add(const View& view, Fork& fork, ServerId server, std::uint32_t workers,
                       Occupancy& planned) {
  const JobSpec& job = *fork.from->job->spec;
  const Placement part = planned.free_gpus(server, workers * job.gpus_per_worker);
  planned.take(part, fork.from->gang->each);
  fork.copies[server] = workers;
  fork.taken[server] = part;
  fork.sum += pace(view, job, server, workers);
}

/// The first copy, which is taken already.
ForkedCopies::Fork ForkedCopies::begin(const View& view, Forking& forking) {
  Fork fork;
  fork.from = &forking;
  const JobSpec& job = *forking.job->spec;
  const GangOffer& offer = forking.chosen->offer;
  const auto [at, part] = offer.parts.front();
  fork.first = {at, offer.gpus_of(part, job.gpus_per_worker) / job.gpus_per_worker};
  fork.copies = {fork.first};
  fork.sum = pace(view, job, at, fork.first.second);
  std::map<ServerId, std::uint32_t> gpus;
  for (const GpuId gpu : forking.job->placement) ++gpus[view.topology.server_of(gpu)];
  // One gang over several servers is no copies, and a worker of it may be cut in two.
  if (!forking.job->allocation.averaged && gpus.size() > 1) return fork;
  for (const auto& [server, on] : gpus) {
    const std::uint32_t workers = on / job.gpus_per_worker;
    if (workers == 0) continue;
    fork.now[server] = workers;
    fork.sum_now += pace(view, job, server, workers);
  }
  if (fork.now.size() > 1) fork.sum_now *= efficiency_;
  return fork;
}

/// Server after server goes to the job that gains most by it, until none does.
void ForkedCopies::grow(const View& view, std::vector<Fork>& forks, Occupancy& planned) {
  for (std::uint32_t s = planned.servers().first; s < planned.servers().last; ++s) {
    const ServerId server{s};
    while (planned.free_on(server) > 0) {
      Fork* most = nullptr;
      double gain = 0;
      for (Fork& fork : forks) {
        const std::uint32_t workers = room(fork, planned, server);
        if (workers == 0) continue;
        const GangJob& gang = *fork.from->gang;
        const double more = pace(view, *fork.from->job->spec, server, workers);
        const double grows = gang.utility(gang.rest(all_of(fork, more), false)) -
                             gang.utility(gang.rest(all_of(fork), false));
        const double each = grows / (workers * gang.gpus_per_worker);
        if (each <= gain) continue;
        gain = each;
        most = &fork;
      }
      if (most == nullptr) break;
      add(view, *most, server, room(*most, planned, server), planned);
    }
  }
}

/// As it runs now, if it can be and the change does not pay for a restart.
void ForkedCopies::finish(const View& view, Fork& fork, Occupancy& planned) {
  const GangJob& gang = *fork.from->gang;
  const JobSpec& job = *fork.from->job->spec;
  GangOffer& offer = fork.from->chosen->offer;
  if (!fork.now.empty() && fork.copies != fork.now) {
    for (const auto& [server, part] : fork.taken) planned.give_back(part, gang.each);
    const bool sooner = gang.rest(all_of(fork), true) < gang.rest(fork.sum_now, false);
    const bool there = std::ranges::all_of(fork.now, [&](const auto& copy) {
      const std::uint32_t has = fork.first.first == copy.first ? fork.first.second : 0;
      return planned.free_on(copy.first, gang.each) / job.gpus_per_worker + has >= copy.second;
    });
    const auto first = fork.now.find(fork.first.first);
    const bool first_stays = first != fork.now.end() && first->second == fork.first.second;
    if (!sooner && there && first_stays) {
      fork.taken.clear();
      fork.copies = {fork.first};
      fork.sum = pace(view, job, first->first, first->second);
      for (const auto& [server, workers] : fork.now) {
        if (server != fork.first.first) add(view, fork, server, workers, planned);
      }
    } else {
      for (const auto& [server, part] : fork.taken) planned.take(part, gang.each);
    }
  }
  offer.parts.assign(fork.copies.begin(), fork.copies.end());
  offer.stays = fork.copies == fork.now;
  if (offer.stays) {
    for (auto& [server, part] : offer.parts) part *= job.gpus_per_worker;
  }
  offer.copies = offer.parts.size() > 1;
  offer.rest = gang.rest(all_of(fork), !offer.stays && !fork.from->job->placement.empty());
  offer.utility = gang.utility(offer.rest);
}

void ForkedCopies::extend(const View& view, std::vector<Forking>& jobs, Occupancy& planned) {
  std::vector<Fork> forks;
  forks.reserve(jobs.size());
  for (Forking& forking : jobs) forks.push_back(begin(view, forking));
  for (Fork& fork : forks) {
    for (const auto& [server, workers] : fork.now) {
      if (room(fork, planned, server) >= workers) add(view, fork, server, workers, planned);
    }
  }
  grow(view, forks, planned);
  for (Fork& fork : forks) finish(view, fork, planned);
}

}  // namespace starling
