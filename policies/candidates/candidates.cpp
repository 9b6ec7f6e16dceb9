// SPDX-License-Identifier: Apache-2.0
#include "policies/candidates/candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "interference/memory.h"
#include "interference/profile.h"
#include "scheduling/packing.h"

namespace starling {
namespace {

constexpr std::size_t kKnown = 1U << 16U;  // predictions kept
constexpr std::size_t kChanges = 1U << 20U;
constexpr std::uint32_t kServersTried = 32;
constexpr std::uint32_t kMembersTried = 4;

void sort(Candidates::Found& found) {
  std::stable_sort(found.begin(), found.end(), [](const Candidate* a, const Candidate* b) {
    return a->slowdown < b->slowdown;
  });
}

/// Of kinds of FreeServers: those that the job may use, by type.
std::vector<std::uint32_t> kinds_of(const FreeServers& free, const Topology& topology,
                                    const JobSpec& spec) {
  std::vector<std::uint32_t> out;
  const auto allowed = [&](std::uint32_t kind) {
    if (spec.gpu_types.empty()) return true;
    const std::string& name = topology.gpu_types()[free.type(kind).value].name;
    return std::find(spec.gpu_types.begin(), spec.gpu_types.end(), name) != spec.gpu_types.end();
  };
  for (std::uint32_t kind = free.kinds() > 1 ? 1 : 0; kind < free.kinds(); ++kind) {
    if (allowed(kind)) out.push_back(kind);
  }
  return out;
}

/// With that of all types last, where it may use several and all.
std::vector<std::uint32_t> or_all(std::vector<std::uint32_t> kinds, const FreeServers& free) {
  if (kinds.size() > 1 && kinds.size() + 1 == free.kinds()) kinds.push_back(0);
  return kinds;
}

}  // namespace

Candidates CandidateMemory::sync(const View& view, bool share) {
  const IndexRange before = residents_.servers();
  residents_.sync(view);
  free_.sync(view.gpus);
  // Nothing said of the old partition, or by a model that has learned since, holds.
  const bool learned = std::exchange(model_, view.speed.version()) != view.speed.version();
  const bool moved = residents_.servers() != before || learned;
  if (learned) residents_.forget_speeds(view.now);
  if (moved) {
    pairs_.clear();
    alone_.clear();
  }
  if (moved || known_.size() > kKnown) {
    known_.clear();
    ++forgot_;
  }
  if (moved || changed_.size() > kChanges) {
    forgotten_ += changed_.size() + 1;
    changed_.clear();
  }
  note_changes();
  return {*this, view, share && view.gpus.jobs_per_gpu() > 1};
}

void CandidateMemory::note_changes() {
  for (const auto& some : {residents_.take_changed(), free_.take_changed()}) {
    changed_.insert(changed_.end(), some.begin(), some.end());
  }
}

std::optional<std::span<const std::uint32_t>> Candidates::changed_since(
    std::uint64_t position) const {
  if (position < memory_->forgotten_) return std::nullopt;
  return std::span(memory_->changed_).subspan(position - memory_->forgotten_);
}

void Candidates::start(const JobView& job, const Placement& placement) {
  memory_->free_.take(placement);
  memory_->residents_.add(job, placement, view_->now);
  memory_->note_changes();
}

void Candidates::stop(const JobView& job) {
  memory_->residents_.leave(job.order, view_->now);
  memory_->note_changes();
}

void Candidates::keep(const Placement& placement) {
  Placement free;
  for (const GpuId gpu : placement) {
    if (view_->gpus.gpus().contains(gpu.value) && memory_->free_.is_free(gpu)) free.push_back(gpu);
  }
  memory_->free_.take(free);
  memory_->note_changes();
}

PlacementRequest Candidates::request(const JobSpec& spec, std::uint32_t look) {
  PlacementRequest request;
  request.spec = &spec;
  request.gpus = spec.gpus();
  request.gpus_per_worker = spec.gpus_per_worker;
  request.look = look;
  request.profile = memory_->residents_.profile_id(profile_of(spec));
  return request;
}

std::vector<std::uint32_t> Candidates::kinds(const JobSpec& spec) const {
  return kinds_of(memory_->free_, view_->topology, spec);
}

void Candidates::add(const PlacementRequest& request, CandidateKind kind,
                     std::optional<Placement> placement, Found& out) {
  if (!placement || !planned().has_means(*placement, demand_of(*request.spec))) return;
  const auto same = [&](const Candidate* c) { return c->placement == *placement; };
  if (std::any_of(out.begin(), out.end(), same)) return;
  out.push_back(&predict(request, kind, std::move(*placement)));
}

Candidates::Found Candidates::exclusive(const PlacementRequest& request) {
  Found out;
  const auto of_kind = [&](std::uint32_t kind) {
    if (memory_->free_.free_count(kind) < request.gpus) return;
    auto tight = memory_->free_.tight(kind, request.gpus, request.gpus_per_worker);
    if (!tight) return;
    const bool one =
        view_->topology.server_of(tight->front()) == view_->topology.server_of(tight->back());
    add(request, CandidateKind::tight, std::move(tight), out);
    if (!one)
      add(request, CandidateKind::rack,
          memory_->free_.in_rack(kind, request.gpus, request.gpus_per_worker), out);
    add(request, CandidateKind::spread,
        memory_->free_.spread(kind, request.gpus, request.gpus_per_worker), out);
  };
  for (const std::uint32_t kind : kinds_or_all(*request.spec)) {
    if (kind > 0 || out.empty()) of_kind(kind);
  }
  if (out.empty() && demand_of(*request.spec).any())
    add(request, CandidateKind::tight, with_means(request), out);
  sort(out);
  return out;
}

std::optional<Placement> Candidates::with_means(const PlacementRequest& request) const {
  const Shape shape = planned_ != nullptr ? shape_ : shape_of(planned());
  auto found = place(planned(), shape, *request.spec, Fit::server);
  if (found) return found;
  Placement workers =
      place_workers(planned(), request.gpus, request.gpus_per_worker, demand_of(*request.spec));
  const bool good =
      workers.size() == request.gpus && std::all_of(workers.begin(), workers.end(), [&](GpuId gpu) {
        return allows(*request.spec, view_->topology, view_->topology.server_of(gpu));
      });
  return good ? std::optional(std::move(workers)) : std::nullopt;
}

bool Candidates::may_join(const PlacementRequest& request, GpuId gpu) {
  if (memory_->free_.is_free(gpu)) return true;
  if (!sharing() || !memory_->residents_.open(*view_, gpu)) return false;
  const Resident& other = memory_->residents_.at(memory_->residents_.tenant(gpu));
  return fits_together(memory_->residents_.profile(request.profile), other.self.job,
                       view_->topology, gpu);
}

std::optional<Placement> Candidates::beside(const PlacementRequest& request,
                                            const Resident& other) const {
  const Topology& topology = view_->topology;
  const std::uint32_t count = std::min(request.gpus, other.open);
  struct Part {
    std::uint32_t first, size;
  };
  Placement open;
  std::vector<Part> parts;
  ServerId last{~0U};
  // What is known of a group holds on the GPU type that it is named by.
  const GpuTypeId type = topology.type_of(other.self.placement.front());
  for (const GpuId gpu : other.self.placement) {
    if (!memory_->residents_.open(*view_, gpu) || topology.type_of(gpu) != type) continue;
    const ServerId server = topology.server_of(gpu);
    if (server != last) parts.push_back({static_cast<std::uint32_t>(open.size()), 0});
    last = server;
    ++parts.back().size;
    open.push_back(gpu);
  }
  if (open.size() < count || !allows(*request.spec, topology, topology.server_of(open.front()))) {
    return std::nullopt;
  }
  for (const Part& part : parts) {
    if (part.size >= count) {
      return Placement(open.begin() + part.first, open.begin() + part.first + count);
    }
  }
  // Over several servers: whole workers only, unless no server holds one.
  const std::uint32_t one =
      request.gpus_per_worker <= memory_->free_.largest_server(0) ? request.gpus_per_worker : 1;
  Placement out;
  for (const Part& part : parts) {
    const std::uint32_t some =
        std::min(part.size / one * one, count - static_cast<std::uint32_t>(out.size()));
    out.insert(out.end(), open.begin() + part.first, open.begin() + part.first + some);
  }
  if (out.size() < count) return std::nullopt;
  return out;
}

std::optional<Placement> Candidates::on_server(const PlacementRequest& request) {
  std::optional<Placement> best;
  std::int64_t least = 0;
  std::uint32_t tried = 0;
  std::vector<std::pair<std::int64_t, GpuId>> joins;
  for (const std::uint32_t kind : kinds(*request.spec)) {
    if (request.gpus > memory_->free_.largest_server(kind)) continue;
    for (std::uint32_t free = request.gpus; free-- > 0 && !best;) {
      const BitmapTree& servers = memory_->free_.servers_with(kind, free);
      for (std::uint32_t s = servers.next(0); s < servers.size() && tried < kServersTried;
           s = servers.next(s + 1)) {
        if (free + memory_->residents_.open_on(s) < request.gpus) continue;
        ++tried;
        const ServerId server{memory_->residents_.servers().first + s};
        const IndexRange range = view_->topology.server(server).gpus;
        joins.clear();
        for (std::uint32_t i = range.first; i < range.last; ++i) {
          const GpuId gpu{i};
          if (memory_->free_.is_free(gpu)) {
            joins.emplace_back(0, gpu);
          } else if (memory_->residents_.open(*view_, gpu)) {
            const std::uint32_t group =
                memory_->residents_.at(memory_->residents_.tenant(gpu)).group;
            if (memory_->residents_.groups()[group].type != view_->topology.type_of(gpu)) continue;
            const Pair& known = pair(request, group);
            if (known.known && known.fits)
              joins.emplace_back(1 + std::max(known.slowdown, {}), gpu);
          }
        }
        if (joins.size() < request.gpus) continue;
        std::sort(joins.begin(), joins.end());
        joins.resize(request.gpus);
        std::int64_t sum = 0;
        for (const auto& [slowdown, gpu] : joins) sum += slowdown;
        if (best && sum >= least) continue;
        least = sum;
        best.emplace();
        for (const auto& [slowdown, gpu] : joins) best->push_back(gpu);
        std::sort(best->begin(), best->end());
      }
    }
  }
  return best;
}

Candidates::Found Candidates::shared(const PlacementRequest& request) {
  Found out;
  if (!sharing()) return out;
  struct Promise {
    std::int64_t slowdown;
    bool other_size;
    GpuId first;
    std::uint32_t group;
    bool operator<(const Promise& o) const {
      return std::tie(slowdown, other_size, first, group) <
             std::tie(o.slowdown, o.other_size, o.first, o.group);
    }
  };
  std::vector<Promise> promises;
  for (const std::uint32_t g : memory_->residents_.live_groups()) {
    const Residents::Group& group = memory_->residents_.groups()[g];
    if (group.open < request.gpus) continue;
    const Pair& known = pair(request, g);
    if (!known.known || !known.fits) continue;
    promises.push_back(
        {known.slowdown, group.gpus != request.gpus, group.members.begin()->first, g});
  }
  const auto some = promises.begin() +
                    static_cast<std::ptrdiff_t>(std::min<std::size_t>(kShared, promises.size()));
  std::partial_sort(promises.begin(), some, promises.end());
  for (auto p = promises.begin(); p != some; ++p) {
    std::uint32_t tried = 0;
    for (const auto& [gpu, slot] : memory_->residents_.groups()[p->group].members) {
      if (++tried > kMembersTried) break;
      auto placement = beside(request, memory_->residents_.at(slot));
      if (!placement) continue;
      add(request, CandidateKind::beside, std::move(placement), out);
      break;
    }
  }
  if (request.gpus > 1) add(request, CandidateKind::server, on_server(request), out);
  sort(out);
  return out;
}

std::vector<std::uint32_t> Candidates::kinds_or_all(const JobSpec& spec) const {
  return or_all(kinds(spec), memory_->free_);
}

bool CandidateMemory::fits(const JobSpec& spec, const Occupancy& empty) {
  empty_.sync(empty);
  const auto which = or_all(kinds_of(empty_, empty.topology(), spec), empty_);
  return std::any_of(which.begin(), which.end(), [&](std::uint32_t kind) {
    return empty_.tight(kind, spec.gpus(), spec.gpus_per_worker).has_value();
  });
}

}  // namespace starling
