// SPDX-License-Identifier: Apache-2.0
#include "policies/smart_greedy/free_times.h"

#include <algorithm>
#include <limits>

namespace starling {
namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

}  // namespace

void FreeTimes::begin(const DecisionContext& context) {
  gpu_.clear();
  times_.clear();
  promised_.assign(context.candidates.free().kinds(), 0);
}

void FreeTimes::look_at_gpus(const DecisionContext& context) {
  const View& view = context.view;
  const IndexRange range = view.gpus.gpus();
  Residents& residents = context.candidates.residents();
  gpu_.assign(range.size(), kNever_s);
  std::vector<std::uint8_t> known(range.size(), 0);
  for (std::uint32_t s = 0; s < view.gpus.servers().size(); ++s) {
    for (const std::uint32_t slot : residents.on(s)) {
      const Resident& job = residents.at(slot);
      if (job.servers.front() != s) continue;  // once per job
      const double ends = context.remaining.left(job, view.now) / residents.speed(view.speed, slot);
      for (const GpuId gpu : job.self.placement) {
        if (!range.contains(gpu.value)) continue;
        double& at = gpu_[gpu.value - range.first];
        at = known[gpu.value - range.first]++ == 0 ? ends : std::max(at, ends);
      }
    }
  }
  for (std::uint32_t i = 0; i < range.size(); ++i) {
    const GpuId gpu{range.first + i};
    if (view.gpus.is_blocked(gpu) || view.gpus.tenants(gpu) > known[i]) {
      gpu_[i] = kNever_s;  // it is not known here when
    } else if (known[i] == 0) {
      gpu_[i] = 0;
    }
  }
}

const std::vector<double>& FreeTimes::times(const DecisionContext& context, std::uint32_t kind,
                                            std::uint32_t count) {
  const auto [at, fresh] = times_.try_emplace({kind, count});
  std::vector<double>& out = at->second;
  if (!fresh) return out;
  if (gpu_.empty()) look_at_gpus(context);
  const View& view = context.view;
  const IndexRange servers = view.gpus.servers();
  std::vector<double> here;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() < count) continue;
    if (kind != 0 && server.gpu_type != context.candidates.free().type(kind)) continue;
    const auto first = gpu_.begin() + (server.gpus.first - view.gpus.gpus().first);
    here.assign(first, first + server.gpus.size());
    std::nth_element(here.begin(), here.begin() + (count - 1), here.end());
    // Those that are free now are no reason to wait.
    const double when = here[count - 1];
    if (when > 0 && when < kNever_s) out.push_back(when);
  }
  std::sort(out.begin(), out.end());
  return out;
}

double FreeTimes::wait(const DecisionContext& context, std::uint32_t kind,
                       const PlacementRequest& request) {
  const std::uint32_t size = context.candidates.free().largest_server(kind);
  const std::uint32_t each = std::min(request.gpus, size);
  if (each == 0) return kNever_s;
  const std::uint32_t servers = (request.gpus + each - 1) / each;
  const std::size_t index = promised_[kind] / each + servers - 1;
  const std::vector<double>& when = times(context, kind, each);
  // Behind more than there is: as many rounds of those who run.
  if (when.size() < servers) return kNever_s;
  const std::size_t rounds = index / when.size();
  return when[index % when.size()] + static_cast<double>(rounds) * when.back();
}

void FreeTimes::promise(std::uint32_t kind, std::uint32_t gpus) { promised_[kind] += gpus; }

}  // namespace starling
