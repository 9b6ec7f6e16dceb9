// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "policies/builtin.h"
#include "policies/queues/ordered.h"
#include "policies/queues/queue_place.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "sjf",
                             .summary = "shortest job first, never stopped once it runs",
                             .family = Family::order,
                             .lengths = LengthSource::estimates};

/// Jobs of unknown length come last.
std::int64_t length_of(const JobView& job) {
  const std::int64_t length = job.spec->duration.count();
  return length > 0 ? length : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void add_sjf(PolicyRegistry& registry) {
  add_ordered(registry, kFacts, QueueDefault::strict,
              {.key = length_of, .by = "length, then submission", .says = length_text});
}

}  // namespace starling
