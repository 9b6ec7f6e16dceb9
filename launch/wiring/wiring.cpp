// SPDX-License-Identifier: Apache-2.0
#include "launch/wiring/wiring.h"

#include "bus/decider/external_policy.h"
#include "gnn/search/search_policy.h"
#include "gnn/wiring/registry.h"

namespace starling {

PolicyRegistry all_policies() {
  PolicyRegistry registry = make_policy_registry();
  add_gnn_policies(registry);
  add_external(registry);
  return registry;
}

PolicyRegistry simulated_policies() {
  PolicyRegistry registry = all_policies();
  add_clairvoyant(registry);
  return registry;
}

}  // namespace starling
