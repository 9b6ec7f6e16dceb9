// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/queues/queue_walk.h"
#include "policies/registry.h"

namespace starling {

/// Registers a policy that is an order of the waiting jobs and nothing else: smaller keys first,
/// ties by submission; a job that fits starts, and none is stopped. The key of a job is constant
/// while it waits. It takes the options of every queue; `facts` must outlive the registry.
void add_ordered(PolicyRegistry& registry, const PolicyFacts& facts, QueueDefault otherwise,
                 std::int64_t (*key)(const JobView&));

}  // namespace starling
