// SPDX-License-Identifier: Apache-2.0
// An experiment file, which people write too.
#include "launch/experiment/load_experiment.h"
#include "policies/registry.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/text.h"

namespace starling::fuzz {

void experiment(FuzzBytes bytes) {
  static const PolicyRegistry policies = make_policy_registry();
  must_explain(parse_experiment(text_of(bytes), "fuzz.yaml", policies));
}

}  // namespace starling::fuzz
