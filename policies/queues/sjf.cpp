// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "policies/builtin.h"
#include "policies/queues/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "sjf",
                             .summary = "shortest job first, never stopped once it runs",
                             .family = Family::order,
                             .needs_durations = true};

class Sjf final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  /// Jobs of unknown length come last.
  [[nodiscard]] std::int64_t key(const JobView& job) const override {
    const std::int64_t length = job.spec->duration.count();
    return length > 0 ? length : std::numeric_limits<std::int64_t>::max();
  }
};

}  // namespace

void add_sjf(PolicyRegistry& registry) {
  add_queue_policy<Sjf>(registry, kFacts, QueueDefault::strict);
}

}  // namespace starling
