// SPDX-License-Identifier: Apache-2.0
#include "policies/builtin.h"
#include "policies/queues/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "fifo", .summary = "in order of submission", .family = Family::order};

class Fifo final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
};

}  // namespace

void add_fifo(PolicyRegistry& registry) {
  add_queue_policy<Fifo>(registry, kFacts, QueueDefault::strict);
}

}  // namespace starling
