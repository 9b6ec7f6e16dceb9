// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/scenario/plan.h"

#include <algorithm>

namespace starling::chaos_live {

std::vector<PlannedFault> plan_of(const ChaosScenario& scenario) {
  std::vector<PlannedFault> plan;
  const Rng root(scenario.seed);
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultSpec& spec = scenario.faults[i];
    Rng rng = root.fork(i + 1);
    std::vector<double> times = spec.at;
    const double until = spec.until > 0 ? std::min(spec.until, scenario.length) : scenario.length;
    if (spec.every > 0) {
      for (double t = spec.from + spec.every; t < until; t += spec.every) times.push_back(t);
    } else if (spec.mean > 0) {
      for (double t = spec.from + spec.mean * rng.exponential(); t < until;
           t += spec.mean * rng.exponential())
        times.push_back(t);
    }
    for (const double at : times) {
      PlannedFault fault;
      fault.at = at;
      fault.spec = i;
      fault.lasts = spec.lasts.draw(rng);
      fault.down = spec.down.draw(rng);
      fault.rng = rng.fork(plan.size());
      plan.push_back(fault);
    }
  }
  std::stable_sort(plan.begin(), plan.end(),
                   [](const PlannedFault& a, const PlannedFault& b) { return a.at < b.at; });
  return plan;
}

}  // namespace starling::chaos_live
