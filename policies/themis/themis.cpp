// SPDX-License-Identifier: Apache-2.0
#include "policies/themis/themis.h"

#include "policies/builtin.h"

namespace starling {

GavelOptions themis_options() {
  GavelOptions options;
  options.name = "themis";
  options.summary = "finish-time fairness: the worst ratio of times with others and alone";
  options.objective = GavelObjective::finish_time_fairness;
  options.aware = false;
  return options;
}

void add_themis(PolicyRegistry& registry) {
  registry.add(GavelPolicy(themis_options()).facts(),
               [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
                 GavelOptions options = themis_options();
                 options.queue.fit = read_fit(reader);
                 options.round = from_seconds(
                     reader.number("round", 360, 1, 86'400,
                                   "seconds; jobs that have waited are given to other partitions "
                                   "at rounds alone"));
                 options.between_resets = from_seconds(
                     reader.number("reset", 1920, 0, 1e6, "seconds that shares last at least"));
                 return std::unique_ptr<Policy>(std::make_unique<GavelPolicy>(options));
               });
}

}  // namespace starling
