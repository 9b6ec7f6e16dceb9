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
                 read_rounds(reader, options);
                 return std::unique_ptr<Policy>(std::make_unique<GavelPolicy>(options));
               });
}

}  // namespace starling
