// SPDX-License-Identifier: Apache-2.0
#include "policies/builtin.h"
#include "policies/queues/ordered.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "fifo", .summary = "in order of submission", .family = Family::order};

}  // namespace

void add_fifo(PolicyRegistry& registry) {
  add_ordered(registry, kFacts, QueueDefault::strict,
              {.key = [](const JobView&) { return std::int64_t{0}; }, .by = "submission"});
}

}  // namespace starling
