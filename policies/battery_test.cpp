#include "policies/battery.h"

namespace starling {
namespace {

TEST_CASE("every policy of the library passes the battery") {
  const PolicyRegistry registry = make_policy_registry();
  for (const auto& [name, entry] : registry.entries()) {
    for (const char* options :
         {"", ":queue=skip,fit=count", ":queue=strict,fit=node", ":queue=strict,fit=count"}) {
      run_policy_battery(registry, name + options);
    }
  }
}

}  // namespace
}  // namespace starling
