// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "policies/sia/sia.h"
#include "policies/testing/policy_rig.h"

namespace starling {

struct SiaRig : PolicyRig {
  SiaRig(const Topology& of, const SiaOptions& options)
      : PolicyRig(of, std::make_unique<SiaPolicy>(options)) {}
};

}  // namespace starling
