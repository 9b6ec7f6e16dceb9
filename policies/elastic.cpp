#include "policies/elastic.h"

#include <algorithm>
#include <set>

#include "interference/profile.h"

namespace starling {

std::optional<Placement> place_evenly(const Occupancy& gpus, const JobSpec& job,
                                      std::uint32_t workers) {
  std::vector<ServerId> servers;
  for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
    const ServerId server{i};
    if (gpus.free_on(server) >= job.gpus_per_worker && allows(job, gpus.topology(), server)) {
      servers.push_back(server);
    }
  }
  std::stable_sort(servers.begin(), servers.end(),
                   [&](ServerId a, ServerId b) { return gpus.free_on(a) > gpus.free_on(b); });
  for (std::uint32_t k = 1; k <= std::min<std::size_t>(workers, servers.size()); ++k) {
    const auto on = [&](std::uint32_t i) { return workers / k + (i < workers % k ? 1U : 0U); };
    bool fits = true;
    for (std::uint32_t i = 0; i < k && fits; ++i) {
      fits = gpus.free_on(servers[i]) >= on(i) * job.gpus_per_worker;
    }
    if (!fits) continue;
    Placement out;
    for (std::uint32_t i = 0; i < k; ++i) {
      const auto part = gpus.free_gpus(servers[i], on(i) * job.gpus_per_worker);
      out.insert(out.end(), part.begin(), part.end());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  return std::nullopt;
}

double ElasticPolicy::dominant_share(const Capacity& all, const JobSpec& job,
                                     std::uint32_t workers) {
  const double gpus = job.gpus_per_worker / std::max(all.gpus, 1.0);
  const double cpus = all.cpus > 0 ? job.cpus_per_worker / all.cpus : 0;
  return std::max(gpus, cpus) * workers;
}

bool ElasticPolicy::take(Capacity& left, const Capacity& all, const JobSpec& job,
                         std::uint32_t workers) {
  const double gpus = static_cast<double>(job.gpus_per_worker) * workers;
  // Who asks for more CPUs than there are gets them all rather than never running.
  const double cpus = std::min(job.cpus_per_worker * workers, all.cpus);
  constexpr double kSlack = 1e-9;
  if (gpus > left.gpus + kSlack || cpus > left.cpus + kSlack) return false;
  left.gpus -= gpus;
  left.cpus -= cpus;
  return true;
}

double ElasticPolicy::speed(const View& view, const JobSpec& job, std::uint32_t workers) {
  if (workers == job.workers) return 1;
  if (!form_) form_.emplace(view.topology, 0.0);
  const auto absolute = [&](std::uint32_t w) {
    const auto [known, fresh] = speeds_.try_emplace(
        std::tuple(job.model, job.gpus_per_worker, w, job.cpus_per_worker), 0.0);
    if (!fresh) return known->second;
    JobProfile profile = profile_of(job);
    profile.gpus = w * job.gpus_per_worker;
    const double seconds = form_->best_s(profile, profile.gpus);
    const auto placement = place_evenly(empty(), job, w);
    const double relative = placement ? view.speed.speed(profile, *placement, {}).relative : 1.0;
    return known->second = profile.gpus * relative / std::max(seconds, 1e-9);
  };
  return absolute(workers) / std::max(absolute(job.workers), 1e-12);
}

void ElasticPolicy::see(const View& view, const JobView& job) {
  const auto [entry, fresh] = known_.try_emplace(job.spec->id);
  Known& known = entry->second;
  known.seen = true;
  const Duration more = job.served - known.served;
  const std::uint32_t workers = fresh || known.workers == 0 ? job.spec->workers : known.workers;
  if (more > Duration::zero()) known.done_s += seconds(more) * speed(view, *job.spec, workers);
  known.served = job.served;
  known.workers = static_cast<std::uint32_t>(job.placement.size()) / job.spec->gpus_per_worker;
}

void ElasticPolicy::observe(const View& view) {
  for (auto& [job, known] : known_) known.seen = false;
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) see(view, job);
  }
  std::erase_if(known_, [](const auto& entry) { return !entry.second.seen; });
}

void ElasticPolicy::plan_round(const View& view, Rng&, std::vector<Decision>& out) {
  Occupancy planned = view.gpus;
  std::vector<Share> shares;
  const auto add = [&](const JobView& job) {
    Share share;
    share.job = &job;
    share.least = job.spec->elastic() ? std::max(job.spec->min_workers, 1U) : job.spec->workers;
    share.most = job.spec->elastic() ? job.spec->max_workers : job.spec->workers;
    // A job that has outlived its estimate counts as nearly done.
    share.left_s = std::max(seconds(job.spec->duration) - known_.at(job.spec->id).done_s, 1.0);
    shares.push_back(share);
  };
  for (const JobView& job : view.waiting) {
    if (!job.blocked) add(job);
  }
  for (const JobView& job : view.running) {
    if (job.blocked || !lies_here(view, job.placement)) continue;
    planned.give_back(job.placement);
    add(job);
  }
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::tie(a.job->submitted, a.job->order) < std::tie(b.job->submitted, b.job->order);
  });
  Capacity all;
  all.gpus = planned.free_count();
  for (std::uint32_t s = planned.servers().first; s < planned.servers().last; ++s) {
    all.cpus += view.topology.server(ServerId{s}).cpus;
  }
  divide(view, all, shares);

  const auto want = [](const Share& share) {
    return share.workers * share.job->spec->gpus_per_worker;
  };
  std::set<JobId> stays;
  for (const Share& share : shares) {
    if (want(share) == 0 || share.job->placement.size() != want(share)) continue;
    planned.take(share.job->placement);
    stays.insert(share.job->spec->id);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [&](const Share& a, const Share& b) { return want(a) < want(b); });
  std::vector<Decision> resizes;
  for (const Share& share : shares) {
    const JobSpec& job = *share.job->spec;
    if (stays.contains(job.id)) continue;
    std::optional<Placement> found;
    if (share.workers > 0) found = find_workers(planned, job, share.workers);
    if (found) planned.take(*found);
    const Placement& now = share.job->placement;
    if (now.empty()) {
      if (found) plan_.push_back({job.id, std::move(*found)});
      continue;
    }
    const bool at_once =
        found && std::all_of(found->begin(), found->end(), [&](GpuId gpu) {
          return view.gpus.is_free(gpu) || std::binary_search(now.begin(), now.end(), gpu);
        });
    if (at_once) {
      resizes.emplace_back(Resize{job.id, std::move(*found)});
      continue;
    }
    out.emplace_back(Preempt{job.id});
    if (found) plan_.push_back({job.id, std::move(*found)});
  }
  out.insert(out.end(), resizes.begin(), resizes.end());
}

}  // namespace starling
