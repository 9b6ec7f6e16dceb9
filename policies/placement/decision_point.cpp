// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/decision_point.h"

#include <algorithm>
#include <limits>

namespace starling {

std::size_t DecisionPoint::starts() const noexcept {
  const auto other = std::ranges::find_if(
      options, [](const PlacementOption& option) { return option.kind != OptionKind::start; });
  return static_cast<std::size_t>(other - options.begin());
}

double DecisionPoint::best_alone() const {
  const double here = candidates.alone(request, empty);
  if (!out.any()) return here;
  const JobProfile& profile = candidates.residents().profile(request.profile);
  return std::max(here, forwarding.best(view, request, profile));
}

const Destination* DecisionPoint::better_elsewhere(double minimum_gain,
                                                   std::optional<std::int64_t> slowdown) const {
  if (out.destinations.empty()) return nullptr;
  constexpr double kForever = std::numeric_limits<double>::infinity();
  const double here_now =
      slowdown ? static_cast<double>(*slowdown) / static_cast<double>(kGpu) : kForever;
  if (const Destination* faster = ForwardingBySpeed::faster(out.destinations, here_now))
    return faster;
  if (slowdown) return nullptr;
  const double here = candidates.alone(request, empty);
  const bool enough = here > 0 && here >= minimum_gain * best_alone();
  return ForwardingBySpeed::better_queue(out.destinations, enough ? here : 0, out.queue, out.tries);
}

std::size_t best_of(std::span<const double> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

}  // namespace starling
