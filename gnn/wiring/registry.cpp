// SPDX-License-Identifier: Apache-2.0
#include "gnn/wiring/registry.h"

#include "gnn/learned_system.h"
#include "gnn/search/search_policy.h"

namespace starling {

void add_gnn_policies(PolicyRegistry& registry) {
  for (const LearnedSystem& system : learned_systems()) add_learned(registry, system);
  add_marl_search(registry);
}

}  // namespace starling
