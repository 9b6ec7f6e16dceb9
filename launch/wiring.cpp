#include "launch/wiring.h"

#include "gnn/registry.h"

namespace starling {

PolicyRegistry all_policies() {
  PolicyRegistry registry = make_policy_registry();
  add_gnn_policies(registry);
  return registry;
}

}  // namespace starling
