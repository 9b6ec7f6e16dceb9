// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/over_partitions.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include "base/counted.h"
#include "policies/partitions/co_allocation.h"
#include "policies/parts/evict.h"
#include "scheduling/packing.h"
#include "workload/requirements.h"

namespace starling {
namespace {

bool needy(const JobSpec& job) { return demand_of(job).any(); }

/// GPUs of its own here, then others that are free and of their type, in whole workers; at most
/// `most`, ascending.
Placement with_free(const View& view, const Occupancy& planned, const Placement& own,
                    std::size_t worker, std::size_t most) {
  Placement all = own;
  const GpuTypeId type = view.topology.type_of(own.front());
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

/// Spare GPUs in whole workers, and how many of them to look at: parts of the first partition's,
/// then whole partitions.
struct SpareWorkers {
  Placement gpus;
  std::vector<std::size_t> sizes;
};

/// At most `most` GPUs. Workers straddle neither servers nor partitions.
SpareWorkers in_workers(const Topology& topology, std::span<const SparePart> spare,
                        std::size_t worker, std::size_t most) {
  SpareWorkers out;
  for (const SparePart& part : spare) {
    const std::size_t before = out.gpus.size();
    for (auto from = part.guess.begin(); from != part.guess.end();) {
      const ServerId server = topology.server_of(*from);
      const auto to = std::find_if(from, part.guess.end(),
                                   [&](GpuId gpu) { return topology.server_of(gpu) != server; });
      const auto on_it = static_cast<std::size_t>(to - from);
      const std::size_t some = std::min(on_it, most - out.gpus.size()) / worker * worker;
      out.gpus.insert(out.gpus.end(), from, from + static_cast<std::ptrdiff_t>(some));
      from = to;
    }
    if (out.gpus.size() == before) continue;
    if (out.sizes.empty()) out.sizes = {part.guess.size() / 4, part.guess.size() / 2};
    out.sizes.push_back(out.gpus.size());
    if (most - out.gpus.size() < worker) break;
  }
  return out;
}

/// Those are a job's now; ascending.
void use(std::vector<SparePart>& spare, const Placement& gpus) {
  for (SparePart& part : spare)
    std::erase_if(part.guess, [&](GpuId gpu) { return std::ranges::binary_search(gpus, gpu); });
  std::erase_if(spare, [](const SparePart& part) { return part.guess.empty(); });
}

/// What the job could have of those servers if no job was on them, in GPUs of whole workers.
/// `open`: less what is blocked there.
std::size_t room_of(const Topology& topology, IndexRange servers, const JobSpec& job,
                    const Occupancy* open = nullptr) {
  std::size_t room = 0;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    if (!allows(job, topology, ServerId{s})) continue;
    const Server& server = topology.server(ServerId{s});
    std::uint32_t gpus = server.gpus.size();
    if (open != nullptr) {
      for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g)
        gpus -= open->is_blocked(GpuId{g}) ? 1 : 0;
    }
    gpus = std::min(gpus, Occupancy::room_of(server, demand_of(job)));
    room += usable(gpus, std::max(job.gpus_per_worker, 1U));
  }
  return room;
}

std::size_t least_gpus(const JobSpec& job) {
  const std::uint32_t workers = job.elastic() ? std::max(job.min_workers, 1U) : job.workers;
  return std::size_t{workers} * std::max(job.gpus_per_worker, 1U);
}

/// A job that waits here would have use for some of what the gang has here: for its share of a
/// division, or to be a gang itself.
bool calls(const View& view, const JobView& waits, const JobSpec& gang, const Placement& here) {
  const JobSpec& job = *waits.spec;
  if (waits.blocked || job.priority < gang.priority) return false;
  const Topology& topology = view.topology;
  return std::ranges::any_of(
             here, [&](GpuId gpu) { return allows(job, topology, topology.server_of(gpu)); }) &&
         (least_gpus(job) <= room_of(topology, view.gpus.servers(), job) ||
          least_gpus(job) <= room_of(topology, {0, topology.server_count()}, job));
}

bool calls_here(const View& view, const JobView& gang) {
  const Placement here = OverPartitions::part_here(view, gang);
  return std::ranges::any_of(
      view.waiting, [&](const JobView& waits) { return calls(view, waits, *gang.spec, here); });
}

/// What is free by `planned` without any job leaving.
Occupancy free_at_once(const View& view, const Occupancy& planned) {
  Occupancy open = planned;
  const IndexRange gpus = view.gpus.gpus();
  Placement leaving;
  for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
    if (!view.gpus.is_free(GpuId{g})) leaving.emplace_back(g);
  }
  keep(open, leaving);
  return open;
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
  if (least_gpus(*job.spec) > room_of(view.topology, view.gpus.servers(), *job.spec, &view.gpus))
    return false;
  if (!std::ranges::all_of(part_here(view, job),
                           [&](GpuId gpu) { return view.gpus.tenants(gpu) > 0; }))
    return false;
  if (calls_here(view, job)) return true;
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
  const SpareWorkers there =
      in_workers(call.view.topology, spare, worker, most - std::min(most, here.size()));
  const double costs_s = 2 * division.restart_s(job);
  Growth best;
  best.share = &share;
  std::size_t last = 0;
  for (const std::size_t more : there.sizes) {
    const std::size_t some = std::min(more, there.gpus.size()) / worker * worker;
    if (some == last) continue;
    last = some;
    Placement all = here;
    all.insert(all.end(), there.gpus.begin(),
               there.gpus.begin() + static_cast<std::ptrdiff_t>(some));
    std::ranges::sort(all);
    const double gained_s = division.gained_s(call, share, all, seconds(round_)) - costs_s;
    const double gain = gained_s / static_cast<double>(all.size() - share.job->placement.size());
    if (gain <= best.gain) continue;
    best = {&share, here, std::move(all), gained_s, gain};
  }
  return best;
}

void OverPartitions::observe(const View& view) {
  if (std::ranges::none_of(notes_, [](const auto& entry) { return entry.second.asks > 0; })) return;
  for (const JobView& job : view.waiting) {
    const auto note = notes_.find(job.spec->id);
    if (job.blocked || note == notes_.end() || note->second.asks == 0) continue;
    if (note->second.asked == view.now) continue;  // in this call
    note->second.why =
        "asked partitions for " + counted(note->second.asks, "worker") + ", and did not get them";
    note->second.asks = 0;
  }
}

void OverPartitions::forget(Instant now) {
  std::erase_if(notes_, [&](const auto& entry) { return entry.second.again <= now; });
}

void OverPartitions::note_called(const View& view, const JobView& job) {
  const char* where = calls_here(view, job) ? "here" : "in a partition that it has GPUs of";
  notes_[job.spec->id] = {later(view.now, kRest * round_),
                          std::string("called home from other partitions: a job waits ") + where};
}

std::vector<std::string> OverPartitions::explain(JobId job) const {
  const auto note = notes_.find(job);
  return note == notes_.end() ? std::vector<std::string>{} : std::vector{note->second.why};
}

std::vector<const ElasticShare*> OverPartitions::may_grow(const View& view,
                                                          std::span<const ElasticShare> runners,
                                                          std::span<const Decision> decided) const {
  const std::set<JobId> named = named_in(decided);
  std::vector<const ElasticShare*> may;
  for (const ElasticShare& share : runners) {
    const JobView& job = *share.job;
    // A job that stops cannot have again what is being drained.
    const bool stays =
        std::ranges::none_of(job.placement, [&](GpuId gpu) { return view.gpus.is_blocked(gpu); });
    if (stays && job.spec->elastic() && share.now < share.most && !job.placement.empty() &&
        !needy(*job.spec) && !named.contains(job.spec->id) && !notes_.contains(job.spec->id))
      may.push_back(&share);
  }
  return may;
}

void OverPartitions::grow(const ElasticCall& call, const Division& division,
                          std::span<const ElasticShare> runners, const Occupancy& planned,
                          std::vector<Decision>& out) {
  const View& view = call.view;
  forget(view.now);
  if (!grows_ || !view.waiting.empty() || view.others.empty()) return;
  Occupancy left = planned;
  std::map<GpuTypeId, std::vector<SparePart>> spare;
  const auto spare_of = [&](const ElasticShare& share) -> std::vector<SparePart>& {
    const GpuTypeId type = view.topology.type_of(share.job->placement.front());
    const auto [found, fresh] = spare.try_emplace(type);
    if (fresh) found->second = spare_elsewhere(view, type);
    return found->second;
  };
  std::vector<Growth> growths;
  for (const ElasticShare* share : may_grow(view, runners, out)) {
    Growth growth = best_growth(call, division, *share, left, spare_of(*share));
    if (growth.gain > 0) growths.push_back(std::move(growth));
  }
  for (std::size_t n = 0; n < kMostGrow && !growths.empty();) {
    const auto best = std::ranges::max_element(growths, {}, &Growth::gain);
    const ElasticShare& share = *best->share;
    if (best->grown != n) {  // others have grown since; what is left for it is worth no more
      *best = best_growth(call, division, share, left, spare_of(share));
      best->grown = n;
      if (best->gain <= 0) growths.erase(best);
      continue;
    }
    ++n;
    use(spare_of(share), best->all);
    keep(left, best->here);
    out.emplace_back(resize(call, division, *best));
    growths.erase(best);
  }
}

Resize OverPartitions::resize(const ElasticCall& call, const Division& division,
                              const Growth& growth) {
  const JobSpec& job = *growth.share->job->spec;
  const auto workers =
      static_cast<std::uint32_t>(growth.all.size()) / std::max(job.gpus_per_worker, 1U);
  std::array<char, 160> why{};
  std::snprintf(why.data(), why.size(),
                "grows over partitions from %u to %u workers, to gain %.0f s by the next round, "
                "its stop and its way back paid",
                growth.share->now, workers, growth.gained_s);
  notes_[job.id] = {later(call.view.now, kRest * round_), why.data(), workers, call.view.now};
  Allocation how = division.allocation(call, job, growth.all);
  how.workers = workers;
  return {job.id, growth.here, how};
}

void OverPartitions::start(const ElasticCall& call, const Division& division,
                           std::span<const ElasticShare> waits, const Occupancy& planned,
                           std::vector<Decision>& out) {
  const View& view = call.view;
  forget(view.now);
  if (!grows_ || view.others.empty() || view.topology.gpu_types().size() != 1) return;
  std::optional<Occupancy> open;
  std::vector<SparePart> spare;
  for (const ElasticShare& share : waits) {
    const JobSpec& job = *share.job->spec;
    const std::size_t worker = std::max(job.gpus_per_worker, 1U);
    if (!job.elastic() || needy(job) || notes_.contains(job.id) ||
        share.least * worker <= room_of(view.topology, view.gpus.servers(), job))
      continue;
    if (!open) open = free_at_once(view, planned), spare = spare_elsewhere(view, GpuTypeId{});
    const std::size_t most = share.most * worker;
    Placement here =
        place_workers(*open, static_cast<std::uint32_t>(most), job.gpus_per_worker, {});
    const Placement there = in_workers(view.topology, spare, worker, most - here.size()).gpus;
    Placement all = here;
    all.insert(all.end(), there.begin(), there.end());
    std::ranges::sort(all);
    const auto workers = static_cast<std::uint32_t>(all.size() / worker);
    if (workers < share.least || there.empty()) continue;
    Allocation how = division.allocation(call, job, all);
    how.workers = workers;
    const Instant again =
        ask_around(view, *share.job, {job.id, std::move(here), std::nullopt, false, how}, out);
    notes_[job.id] = {again,
                      "asks partitions for " + counted(workers, "worker") +
                          ": there is room for so many, and here for too few",
                      workers, view.now};
    return;
  }
}

}  // namespace starling
