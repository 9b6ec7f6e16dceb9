// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "policies/queues/queue_walk.h"
#include "policies/registry.h"

namespace starling {

/// An order of waiting jobs.
struct JobOrder {
  std::int64_t (*key)(const JobView&);  ///< the smaller first; constant while the job waits
  const char* by;                       ///< for people: by what that is, ties included
  std::string (*says)(const JobView&) = nullptr;  ///< SaysOfJob; null: nothing
};

/// Registers a policy that is an order of the waiting jobs and nothing else: smaller keys first,
/// ties by submission; a job that fits starts, and none is stopped. It takes the options of every
/// queue; `facts` must outlive the registry.
void add_ordered(PolicyRegistry& registry, const PolicyFacts& facts, QueueDefault otherwise,
                 const JobOrder& order);

}  // namespace starling
