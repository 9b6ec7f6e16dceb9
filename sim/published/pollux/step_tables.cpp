// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/step_tables.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace starling {
namespace {

constexpr std::uint32_t kMostNodes = 16;  // that its tables know

MeasuredStep mixed(const MeasuredStep& a, const MeasuredStep& b, double part) {
  return {a.step_s + part * (b.step_s - a.step_s), a.sync_s + part * (b.sync_s - a.sync_s)};
}

/// Linear in the local batch, beyond the measured ones too. In the order of operations of scipy's
/// interp1d, of which rounding to whole seconds may depend.
template <class Curve>
MeasuredStep at_batch(const Curve& curve, double local) {
  if (curve.size() == 1) return curve.begin()->second;
  auto high = std::find_if(curve.begin(), curve.end(),
                           [&](const auto& entry) { return entry.first >= local; });
  if (high == curve.begin()) ++high;
  if (high == curve.end()) --high;
  const auto low = std::prev(high);
  const double from = low->first;
  const double wide = high->first - from;
  const auto value = [&](double a, double b) { return (b - a) / wide * (local - from) + a; };
  return {value(low->second.step_s, high->second.step_s),
          value(low->second.sync_s, high->second.sync_s)};
}

/// Of one number of nodes, linear in the replicas; nothing outside of the measured ones.
template <class ByReplicas>
std::optional<MeasuredStep> at_replicas(const ByReplicas& group, double replicas, double local) {
  const auto high = std::find_if(group.begin(), group.end(),
                                 [&](const auto& entry) { return entry.first >= replicas; });
  if (high == group.end()) return std::nullopt;
  const MeasuredStep above = at_batch(high->second, local);
  if (high->first == replicas) return above;
  if (high == group.begin()) return std::nullopt;
  const auto low = std::prev(high);
  const double wide = static_cast<double>(high->first) - low->first;
  return mixed(at_batch(low->second, local), above, (replicas - low->first) / wide);
}

/// Digits, rotated to the least.
std::string placement_key(const NodeCounts& placement) {
  std::string digits;
  for (const std::uint32_t count : placement) digits += std::to_string(count);
  std::string least = digits;
  for (std::size_t i = 1; i < digits.size(); ++i) {
    std::rotate(digits.begin(), digits.begin() + 1, digits.end());
    least = std::min(least, digits);
  }
  return least;
}

}  // namespace

void StepTables::add_placement(const std::string& placement, std::uint32_t local_batch,
                               MeasuredStep step) {
  placements_[placement][local_batch] = step;
  std::uint32_t replicas = 0;
  for (const char digit : placement) replicas += static_cast<std::uint32_t>(digit - '0');
  Sum& sum = sums_[{static_cast<std::uint32_t>(placement.size()), replicas}][local_batch];
  sum.sum.step_s += step.step_s;
  sum.sum.sync_s += step.sync_s;
  ++sum.count;
  least_ = least_ == 0 ? local_batch : std::min(least_, local_batch);
  most_ = std::max(most_, local_batch);
}

void StepTables::add_scaling(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t local_batch,
                             MeasuredStep step) {
  grid_[nodes][replicas][local_batch] = step;
}

void StepTables::add_interpolated(std::uint32_t nodes, std::uint32_t replicas,
                                  std::uint32_t local_batch, MeasuredStep step) {
  interpolated_[{nodes, replicas}][local_batch] = step;
}

void StepTables::finish() {
  for (const auto& [place, curve] : sums_) {
    for (const auto& [local, sum] : curve)
      grid_[place[0]][place[1]][local] = {sum.sum.step_s / sum.count, sum.sum.sync_s / sum.count};
  }
  sums_.clear();
}

MeasuredStep StepTables::between_places(double nodes, double replicas, double local) const {
  STARLING_CHECK(!grid_.empty());
  std::optional<MeasuredStep> below, above;
  double from = 0, to = 0;
  for (const auto& [known, group] : grid_) {
    // As many replicas a node as are asked for: along that line steps change least.
    const auto found = at_replicas(group, replicas * known / nodes, local);
    if (!found) continue;
    if (known <= nodes) below = found, from = known;
    if (known >= nodes && !above) above = found, to = known;
  }
  if (below && above)
    return to > from ? mixed(*below, *above, (nodes - from) / (to - from)) : *below;
  if (below || above) return below ? *below : *above;
  // More replicas a node than were measured anywhere.
  return at_batch(grid_.rbegin()->second.rbegin()->second, local);
}

MeasuredStep StepTables::step(const NodeCounts& placement, std::uint32_t local_batch) const {
  const auto measured = placements_.find(placement_key(placement));
  if (measured != placements_.end()) return at_batch(measured->second, local_batch);
  std::uint32_t replicas = 0;
  for (const std::uint32_t count : placement) replicas += count;
  const std::uint32_t nodes = std::min(static_cast<std::uint32_t>(placement.size()), kMostNodes);
  if (const auto place = interpolated_.find({nodes, replicas}); place != interpolated_.end()) {
    const auto value = place->second.find(local_batch);
    if (value != place->second.end()) return value->second;
  }
  return between_places(nodes, replicas, local_batch);
}

}  // namespace starling
