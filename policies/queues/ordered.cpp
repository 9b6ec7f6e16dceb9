// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/ordered.h"

#include "policies/queues/queue_place.h"
#include "scheduling/queue_order.h"

namespace starling {
namespace {

class Ordered final : public Policy, public QueueOrder {
 public:
  Ordered(const PolicyFacts& facts, const QueueOptions& options, const JobOrder& order)
      : facts_(facts), order_(order), queue_(options, order.key) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    return queue_.decide(view, view.gpus.free_count() == 0,
                         {.start = [&](Trial& trial, std::vector<Decision>& out) {
                           queue_.start_in_order(view, trial, out);
                         }});
  }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return goes_before(a, order_.key(a), b, order_.key(b));
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    if (!job.placement.empty()) return {};
    const SaysOfJob says = order_.says == nullptr ? SaysOfJob{} : order_.says;
    return {place_in_queue(*this, view, job, order_.by, says),
            queue_.options().strict
                ? "  no job here starts before one ahead of it that finds no room (queue=strict)"
                : "  a job that finds room may start before those ahead of it (queue=skip)"};
  }

 private:
  const PolicyFacts& facts_;
  JobOrder order_;
  QueueWalk queue_;
};

}  // namespace

void add_ordered(PolicyRegistry& registry, const PolicyFacts& facts, QueueDefault otherwise,
                 const JobOrder& order) {
  registry.add(facts,
               [&facts, otherwise, order](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
                 const QueueOptions options = read_queue_options(reader, otherwise);
                 return std::unique_ptr<Policy>(std::make_unique<Ordered>(facts, options, order));
               });
}

}  // namespace starling
