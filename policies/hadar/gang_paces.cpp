// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/gang_paces.h"

#include <algorithm>

#include "interference/profile.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Asks for the paces of one kind.
class Survey {
 public:
  Survey(const View& view, const Occupancy& empty, const JobSpec& job)
      : view_(view), empty_(empty), job_(job), rooms_(view.topology.gpu_types().size()) {
    const Demand each = demand_of(job);
    for (std::uint32_t s = empty.servers().first; s < empty.servers().last; ++s) {
      const Server& server = view.topology.server(ServerId{s});
      if (server.gpus.size() == 0 || !allows(job, view.topology, ServerId{s})) continue;
      const std::uint32_t workers =
          empty.free_on(ServerId{s}, each) / std::max(job.gpus_per_worker, 1U);
      if (workers > 0) rooms_[server.gpu_type.value].push_back({ServerId{s}, workers});
    }
    for (std::vector<Room>& rooms : rooms_)
      std::ranges::stable_sort(rooms, std::ranges::greater{}, &Room::workers);
  }

  TypePaces paces() {
    TypePaces out;
    const std::size_t types = rooms_.size();
    out.one.assign(types, 0), out.together.assign(types, 0), out.apart.assign(types, 0);
    for (std::size_t t = 0; t < types; ++t) {
      if (rooms_[t].empty()) continue;
      out.one[t] = relative({{rooms_[t].front().server, 1}}, job_.gpus_per_worker);
      if (rooms_[t].front().workers >= job_.workers)
        out.together[t] = relative({{rooms_[t].front().server, job_.workers}}, job_.gpus());
    }
    for (std::size_t t = 0; t < types && job_.workers > 1; ++t) {
      const auto parts = apart(t, out.one);
      if (!parts.empty()) out.apart[t] = relative(parts, job_.gpus());
      if (out.together[t] > 0) out.together[t] = std::max(out.together[t], out.apart[t]);
    }
    return out;
  }

 private:
  struct Room {
    ServerId server;
    std::uint32_t workers;
  };
  using Parts = std::vector<Room>;

  /// Over two servers or more, as evenly as can be, of that type as far as there are GPUs of it,
  /// else of faster ones.
  [[nodiscard]] Parts apart(std::size_t slowest, const std::vector<double>& one) const {
    Parts all = rooms_[slowest];
    if (all.empty()) return {};
    for (std::size_t t = 0; t < rooms_.size(); ++t) {
      if (t != slowest && one[t] >= one[slowest])
        all.insert(all.end(), rooms_[t].begin(), rooms_[t].end());
    }
    std::size_t servers = 0;
    for (std::uint32_t left = job_.workers; left > 0 && servers < all.size(); ++servers)
      left -= std::min(left, all[servers].workers);
    servers = std::min(std::max<std::size_t>(servers, 2), all.size());
    Parts parts(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(servers));
    for (Room& part : parts) part.workers = 0;
    for (std::uint32_t placed = 0; placed < job_.workers;) {
      const std::uint32_t before = placed;
      for (std::size_t i = 0; i < servers && placed < job_.workers; ++i) {
        if (parts[i].workers == all[i].workers) continue;
        ++parts[i].workers, ++placed;
      }
      if (placed == before) return {};
    }
    std::erase_if(parts, [](const Room& part) { return part.workers == 0; });
    return parts;
  }

  [[nodiscard]] double relative(const Parts& parts, std::uint32_t gpus) const {
    Placement placement;
    for (const Room& part : parts) {
      const auto some = empty_.free_gpus(part.server, part.workers * job_.gpus_per_worker);
      placement.insert(placement.end(), some.begin(), some.end());
    }
    std::ranges::sort(placement);
    return view_.speed.speed(profile_of(job_, gpus), placement, {}).relative;
  }

  const View& view_;
  const Occupancy& empty_;
  const JobSpec& job_;
  std::vector<Parts> rooms_;  // by type, those with most room first
};

}  // namespace

const TypePaces& GangPaces::of(const View& view, const Occupancy& empty, const JobSpec& job) {
  const auto [known, fresh] =
      kinds_.try_emplace(Key(job.model, job.workers, job.gpus_per_worker, job.cpus_per_worker,
                             job.memory_gib_per_worker, job.gpu_types, job.run));
  if (fresh) known->second = Survey(view, empty, job).paces();
  return known->second;
}

}  // namespace starling
