// SPDX-License-Identifier: Apache-2.0
#include "policies/candidates/type_speeds.h"

#include <algorithm>
#include <utility>

namespace starling {
namespace {

constexpr std::uint32_t kNone = ~0U;

}  // namespace

void TypeSpeeds::learn(const Topology& topology) {
  const auto servers = static_cast<std::uint32_t>(topology.servers().size());
  whole_.emplace(topology, IndexRange{0, servers});
  empty_.emplace();
  empty_->sync(*whole_);
  kind_of_.assign(topology.gpu_types().size(), kNone);
  for (std::uint32_t k = empty_->kinds() > 1 ? 1 : 0; k < empty_->kinds(); ++k)
    kind_of_[empty_->type(k).value] = k;
}

double TypeSpeeds::alone(const View& view, const PlacementRequest& request,
                         const JobProfile& profile, GpuTypeId type) {
  const std::uint64_t model = view.speed.version();
  if (std::exchange(model_, model) != model) alone_.clear();
  if (!whole_) learn(view.topology);
  if (type.value >= kind_of_.size() || kind_of_[type.value] == kNone) return 0;
  if (alone_.size() <= request.look) alone_.resize(request.look + 1);
  std::vector<double>& by_type = alone_[request.look];
  if (by_type.empty()) by_type.assign(kind_of_.size(), -1);
  double& best = by_type[type.value];
  if (best >= 0) return best;
  best = 0;
  const auto& named = request.spec->gpu_types;
  const std::string& name = view.topology.gpu_types()[type.value].name;
  if (!named.empty() && std::find(named.begin(), named.end(), name) == named.end()) return best;
  const std::uint32_t kind = kind_of_[type.value];
  for (const auto& placement : {empty_->tight(kind, request.gpus, request.gpus_per_worker),
                                empty_->in_rack(kind, request.gpus, request.gpus_per_worker),
                                empty_->spread(kind, request.gpus, request.gpus_per_worker)}) {
    if (placement) best = std::max(best, view.speed.speed(profile, *placement, {}).relative);
  }
  return best;
}

}  // namespace starling
