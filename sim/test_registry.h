// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

/// The policies of simulated worlds in tests.
inline const PolicyRegistry& registry() {
  static const PolicyRegistry all = make_policy_registry();
  return all;
}

}  // namespace starling
