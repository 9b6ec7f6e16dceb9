// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/type_speeds.h"

#include <algorithm>
#include <utility>

namespace starling {
namespace {

constexpr std::uint32_t kNone = ~0U;

}  // namespace

void TypeSpeeds::sync(const View& view) {
  speed_ = &view.speed;
  topology_ = &view.topology;
  if (std::exchange(model_, view.speed.version()) != view.speed.version()) alone_.clear();
  if (whole_) return;
  const auto servers = static_cast<std::uint32_t>(view.topology.servers().size());
  whole_.emplace(view.topology, IndexRange{0, servers});
  empty_.emplace();
  empty_->sync(*whole_);
  kind_of_.assign(view.topology.gpu_types().size(), kNone);
  for (std::uint32_t k = empty_->kinds() > 1 ? 1 : 0; k < empty_->kinds(); ++k)
    kind_of_[empty_->type(k).value] = k;
}

double TypeSpeeds::alone(const PlacementRequest& request, const JobProfile& profile,
                         GpuTypeId type) {
  if (type.value >= kind_of_.size() || kind_of_[type.value] == kNone) return 0;
  if (alone_.size() <= request.look) alone_.resize(request.look + 1);
  std::vector<double>& by_type = alone_[request.look];
  if (by_type.empty()) by_type.assign(kind_of_.size(), -1);
  double& best = by_type[type.value];
  if (best >= 0) return best;
  best = 0;
  const auto& named = request.spec->gpu_types;
  const std::string& name = topology_->gpu_types()[type.value].name;
  if (!named.empty() && std::find(named.begin(), named.end(), name) == named.end()) return best;
  const std::uint32_t kind = kind_of_[type.value];
  for (const auto& placement : {empty_->tight(kind, request.gpus, request.gpus_per_worker),
                                empty_->in_rack(kind, request.gpus, request.gpus_per_worker),
                                empty_->spread(kind, request.gpus, request.gpus_per_worker)}) {
    if (placement) best = std::max(best, speed_->speed(profile, *placement, {}).relative);
  }
  return best;
}

}  // namespace starling
