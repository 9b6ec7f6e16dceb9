// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/over_partitions.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "base/counted.h"
#include "policies/partitions/co_allocation.h"
#include "policies/parts/evict.h"
#include "workload/requirements.h"

namespace starling {
namespace {

GpuTypeId type_of(const View& view, const Placement& gpus) {
  return view.topology.server(view.topology.server_of(gpus.front())).gpu_type;
}

bool needy(const JobSpec& job) { return demand_of(job).any(); }

/// GPUs of its own here, then others that are free and of their type, in whole workers; at most
/// `most`, ascending.
Placement with_free(const View& view, const Occupancy& planned, const Placement& own,
                    std::size_t worker, std::size_t most) {
  Placement all = own;
  const GpuTypeId type = type_of(view, own);
  const IndexRange servers = view.gpus.servers();
  for (std::uint32_t s = servers.first; s < servers.last && all.size() < most; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpu_type != type) continue;
    Placement free;
    for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g) {
      if (view.gpus.is_free(GpuId{g}) && planned.is_free(GpuId{g})) free.emplace_back(g);
    }
    free.resize(std::min(free.size(), most - all.size()) / worker * worker);
    all.insert(all.end(), free.begin(), free.end());
  }
  std::ranges::sort(all);
  return all;
}

/// How many of the spare GPUs to look at: parts of the first partition's, then whole partitions.
std::vector<std::size_t> sizes_of(std::span<const SparePart> spare) {
  std::vector<std::size_t> sizes;
  std::size_t sum = 0;
  for (const SparePart& part : spare) {
    if (sum == 0) sizes = {part.guess.size() / 4, part.guess.size() / 2};
    sizes.push_back(sum += part.guess.size());
  }
  return sizes;
}

/// So many of them are somebody's now.
void use(std::vector<SparePart>& spare, std::size_t gpus) {
  for (SparePart& part : spare) {
    const std::size_t some = std::min(gpus, part.guess.size());
    part.guess.erase(part.guess.begin(), part.guess.begin() + static_cast<std::ptrdiff_t>(some));
    gpus -= some;
  }
  std::erase_if(spare, [](const SparePart& part) { return part.guess.empty(); });
}

std::set<JobId> named_in(std::span<const Decision> decisions) {
  std::set<JobId> jobs;
  for (const Decision& decision : decisions)
    jobs.insert(std::visit([](const auto& d) { return d.job; }, decision));
  return jobs;
}

}  // namespace

bool OverPartitions::is_away(const View& view, const JobView& job) {
  return std::ranges::any_of(job.placement,
                             [&](GpuId gpu) { return !view.gpus.gpus().contains(gpu.value); });
}

Placement OverPartitions::part_here(const View& view, const JobView& job) {
  Placement here = job.placement;
  std::erase_if(here, [&](GpuId gpu) { return !view.gpus.gpus().contains(gpu.value); });
  return here;
}

bool OverPartitions::is_called_home(const View& view, const JobView& job) const {
  if (!grows_ || !job.spec->elastic() || job.blocked) return false;
  if (!std::ranges::all_of(part_here(view, job),
                           [&](GpuId gpu) { return view.gpus.tenants(gpu) > 0; }))
    return false;
  if (!view.waiting.empty()) return true;
  return std::ranges::any_of(view.others, [&](const RemoteDigest& digest) {
    return digest.waiting > 0 && std::ranges::any_of(job.placement, [&](GpuId gpu) {
             return digest.servers.contains(view.topology.server_of(gpu).value);
           });
  });
}

OverPartitions::Growth OverPartitions::best_growth(const ElasticCall& call,
                                                   const Division& division,
                                                   const ElasticShare& share,
                                                   const Occupancy& planned,
                                                   std::span<const SparePart> spare) const {
  const JobSpec& job = *share.job->spec;
  const std::size_t worker = std::max(job.gpus_per_worker, 1U), most = share.most * worker;
  const Placement here = with_free(call.view, planned, share.job->placement, worker, most);
  const double costs_s = 2 * division.restart_s(job);
  Growth best;
  for (const std::size_t more : sizes_of(spare)) {
    const std::size_t some = std::min(more, most - here.size()) / worker * worker;
    if (some == 0) continue;
    Placement all = here;
    for (const SparePart& part : spare) {
      const std::size_t rest = std::min(here.size() + some - all.size(), part.guess.size());
      all.insert(all.end(), part.guess.begin(),
                 part.guess.begin() + static_cast<std::ptrdiff_t>(rest));
    }
    std::ranges::sort(all);
    const double gained_s = division.gained_s(call, share, all, seconds(round_)) - costs_s;
    const double gain = gained_s / static_cast<double>(all.size() - share.job->placement.size());
    if (gain <= best.gain) continue;
    best = {&share, here, static_cast<std::uint32_t>(all.size() / worker), gained_s, gain};
  }
  return best;
}

void OverPartitions::forget(Instant now) {
  std::erase_if(notes_, [&](const auto& entry) { return entry.second.again <= now; });
}

void OverPartitions::note_called(const View& view, const JobView& job) {
  const char* where = view.waiting.empty() ? "in a partition that it has GPUs of" : "here";
  notes_[job.spec->id] = {
      later(view.now, kRest * round_),
      std::string("called home from other partitions: somebody waits ") + where};
}

std::vector<std::string> OverPartitions::explain(JobId job) const {
  const auto note = notes_.find(job);
  return note == notes_.end() ? std::vector<std::string>{} : std::vector{note->second.why};
}

void OverPartitions::grow(const ElasticCall& call, const Division& division,
                          std::span<const ElasticShare> runners, const Occupancy& planned,
                          std::vector<Decision>& out) {
  const View& view = call.view;
  forget(view.now);
  if (!grows_ || !view.waiting.empty() || view.others.empty()) return;
  const std::set<JobId> named = named_in(out);
  std::vector<const ElasticShare*> may;
  for (const ElasticShare& share : runners) {
    const JobView& job = *share.job;
    if (job.spec->elastic() && share.now < share.most && !job.placement.empty() &&
        !needy(*job.spec) && !named.contains(job.spec->id) && !notes_.contains(job.spec->id))
      may.push_back(&share);
  }
  Occupancy left = planned;
  std::map<GpuTypeId, std::vector<SparePart>> spare;
  for (const ElasticShare* share : may) {
    const GpuTypeId type = type_of(view, share->job->placement);
    if (!spare.contains(type)) spare.emplace(type, spare_elsewhere(view, type));
  }
  for (std::size_t n = 0; n < kMostGrow && !may.empty(); ++n) {
    Growth best;
    for (const ElasticShare* share : may) {
      Growth found =
          best_growth(call, division, *share, left, spare.at(type_of(view, share->job->placement)));
      if (found.gain > best.gain) best = std::move(found);
    }
    if (best.share == nullptr) return;
    const JobSpec& job = *best.share->job->spec;
    use(spare.at(type_of(view, best.share->job->placement)),
        best.workers * std::size_t{std::max(job.gpus_per_worker, 1U)} - best.here.size());
    keep(left, best.here);
    std::array<char, 160> why{};
    std::snprintf(why.data(), why.size(),
                  "grows over partitions from %u to %u workers, to gain %.0f s by the next round, "
                  "its stop and its way back paid",
                  best.share->now, best.workers, best.gained_s);
    notes_[job.id] = {later(view.now, kRest * round_), why.data()};
    std::erase(may, best.share);
    out.emplace_back(Resize{job.id, std::move(best.here), {.workers = best.workers}});
  }
}

void OverPartitions::start(const ElasticCall& call, std::span<const ElasticShare> waits,
                           const Occupancy& planned, std::vector<Decision>& out) {
  const View& view = call.view;
  forget(view.now);
  if (!grows_ || view.others.empty() || view.topology.gpu_types().size() != 1) return;
  for (const ElasticShare& share : waits) {
    const JobSpec& job = *share.job->spec;
    const std::size_t worker = std::max(job.gpus_per_worker, 1U);
    if (!job.elastic() || share.least * worker <= view.gpus.gpus().size() || needy(job) ||
        notes_.contains(job.id))
      continue;
    Placement here = place_workers(planned, static_cast<std::uint32_t>(share.most * worker),
                                   job.gpus_per_worker, {});
    std::size_t room = here.size() / worker;
    for (const SparePart& part : spare_elsewhere(view, GpuTypeId{}))
      room += part.guess.size() / worker;
    if (room < share.least) continue;
    const auto workers = static_cast<std::uint32_t>(std::min<std::size_t>(room, share.most));
    notes_[job.id] = {later(view.now, until_next_round(job.id, share.job->failed_rounds)),
                      "asks partitions for " + counted(workers, "worker") +
                          ": there is room for so many, and here for too few"};
    out.emplace_back(Spread{job.id, std::move(here), std::nullopt, false, {.workers = workers}});
    return;
  }
}

}  // namespace starling
