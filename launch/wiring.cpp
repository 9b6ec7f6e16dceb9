#include "launch/wiring.h"

namespace starling {

PolicyRegistry all_policies() { return make_policy_registry(); }

}  // namespace starling
