// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "policies/registry.h"
#include "scheduling/powers.h"

namespace starling {

/// What a policy may and knows with one option, and all others by default.
struct PolicyVariant {
  std::string option = {}, value = {};  ///< empty: all by default
  Powers may = {};
  LengthSource knows = LengthSource::none;
};

/// The policy by default, and after it every choice of an option that changes what it may or knows.
/// Read from the facts() of policies made so. One that cannot be made by default (it needs a file)
/// is told by the facts that it is registered with.
[[nodiscard]] std::vector<PolicyVariant> variants_of(const PolicyRegistry::Entry& entry);

/// As a policy is asked for where what it may do counts and not how well it does it: one that
/// searches long by default searches little.
[[nodiscard]] std::string quick_form(const std::string& policy);

}  // namespace starling
