// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/ordered.h"

#include "scheduling/queue_order.h"

namespace starling {
namespace {

class Ordered final : public Policy, public QueueOrder {
 public:
  Ordered(const PolicyFacts& facts, const QueueOptions& options,
          std::int64_t (*key)(const JobView&))
      : facts_(facts), key_(key), queue_(options, key) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    return queue_.decide(view, view.gpus.free_count() == 0,
                         {.start = [&](Trial& trial, std::vector<Decision>& out) {
                           queue_.start_in_order(view, trial, out);
                         }});
  }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return goes_before(a, key_(a), b, key_(b));
  }

 private:
  const PolicyFacts& facts_;
  std::int64_t (*key_)(const JobView&);
  QueueWalk queue_;
};

}  // namespace

void add_ordered(PolicyRegistry& registry, const PolicyFacts& facts, QueueDefault otherwise,
                 std::int64_t (*key)(const JobView&)) {
  registry.add(facts,
               [&facts, otherwise, key](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
                 const QueueOptions options = read_queue_options(reader, otherwise);
                 return std::unique_ptr<Policy>(std::make_unique<Ordered>(facts, options, key));
               });
}

}  // namespace starling
