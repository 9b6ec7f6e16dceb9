// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {

/// For tests: one server of four GPUs; a job has them all.
struct FullServer {
  explicit FullServer(const std::string& policy)
      : rig(generate_flat({.servers = 1, .gpus_per_server = 4}).value(),
            make_policy_registry().make(policy).value()) {
    submit(1000);
    (void)rig.settle(TriggerKind::arrival);
  }
  JobId submit(std::int64_t seconds, std::int32_t priority = 0) {
    JobSpec spec;
    spec.workers = 4;
    spec.duration = std::chrono::seconds(seconds);
    spec.priority = priority;
    return rig.submit(spec).spec->id;
  }
  PolicyRig rig;
};

}  // namespace starling
