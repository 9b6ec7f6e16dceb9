// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/smart_greedy_times.h"

#include <algorithm>
#include <limits>

namespace starling {
namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

}  // namespace

void FreeTimes::begin(const View& view, Candidates& candidates, const RemainingTimes& remaining) {
  view_ = &view;
  candidates_ = &candidates;
  remaining_ = &remaining;
  gpu_.clear();
  times_.clear();
  promised_.assign(candidates.free().kinds(), 0);
}

void FreeTimes::look_at_gpus() {
  const IndexRange range = view_->gpus.gpus();
  Residents& residents = candidates_->residents();
  gpu_.assign(range.size(), kNever_s);
  std::vector<std::uint8_t> known(range.size(), 0);
  for (std::uint32_t s = 0; s < view_->gpus.servers().size(); ++s) {
    for (const std::uint32_t slot : residents.on(s)) {
      const Resident& job = residents.at(slot);
      if (job.servers.front() != s) continue;  // once per job
      const double ends = remaining_->left(job, view_->now) / residents.speed(view_->speed, slot);
      for (const GpuId gpu : job.self.placement) {
        if (!range.contains(gpu.value)) continue;
        double& at = gpu_[gpu.value - range.first];
        at = known[gpu.value - range.first]++ == 0 ? ends : std::max(at, ends);
      }
    }
  }
  for (std::uint32_t i = 0; i < range.size(); ++i) {
    const GpuId gpu{range.first + i};
    if (view_->gpus.is_blocked(gpu) || view_->gpus.tenants(gpu) > known[i]) {
      gpu_[i] = kNever_s;  // it is not known here when
    } else if (known[i] == 0) {
      gpu_[i] = 0;
    }
  }
}

const std::vector<double>& FreeTimes::times(std::uint32_t kind, std::uint32_t count) {
  const auto [at, fresh] = times_.try_emplace({kind, count});
  std::vector<double>& out = at->second;
  if (!fresh) return out;
  if (gpu_.empty()) look_at_gpus();
  const IndexRange servers = view_->gpus.servers();
  std::vector<double> here;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = view_->topology.server(ServerId{s});
    if (server.gpus.size() < count) continue;
    if (kind != 0 && server.gpu_type != candidates_->free().type(kind)) continue;
    const auto first = gpu_.begin() + (server.gpus.first - view_->gpus.gpus().first);
    here.assign(first, first + server.gpus.size());
    std::nth_element(here.begin(), here.begin() + (count - 1), here.end());
    // Those that are free now are no reason to wait.
    const double when = here[count - 1];
    if (when > 0 && when < kNever_s) out.push_back(when);
  }
  std::sort(out.begin(), out.end());
  return out;
}

double FreeTimes::wait(std::uint32_t kind, const PlacementRequest& request) {
  const std::uint32_t size = candidates_->free().largest_server(kind);
  const std::uint32_t each = std::min(request.gpus, size);
  if (each == 0) return kNever_s;
  const std::uint32_t servers = (request.gpus + each - 1) / each;
  const std::size_t index = promised_[kind] / each + servers - 1;
  const std::vector<double>& when = times(kind, each);
  // Behind more than there is: as many rounds of those who run.
  if (when.size() < servers) return kNever_s;
  const std::size_t rounds = index / when.size();
  return when[index % when.size()] + static_cast<double>(rounds) * when.back();
}

void FreeTimes::promise(std::uint32_t kind, std::uint32_t gpus) { promised_[kind] += gpus; }

}  // namespace starling
