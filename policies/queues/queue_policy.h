// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "policies/options.h"
#include "policies/partitions/cooperate.h"
#include "policies/queues/queue_index.h"
#include "policies/queues/queue_marks.h"
#include "policies/registry.h"
#include "scheduling/packing.h"

namespace starling {

/// Options that every queue policy takes.
struct QueueOptions {
  bool strict = false;  ///< queue=strict: stop at the first job that does not fit; skip: try all
  Fit fit = Fit::node;  ///< fit=node or count
};
enum class QueueDefault : std::uint8_t { strict, skip };
/// Reads queue= and fit= (default: node).
[[nodiscard]] QueueOptions read_queue_options(OptionReader& reader, QueueDefault otherwise);
[[nodiscard]] Fit read_fit(OptionReader& reader);

/// Tries the waiting jobs in the order of a key, places those that fit, and hands what does not to
/// Cooperation. A policy is its key and, if it wants, its way of placing. Serves one partition.
class QueuePolicy : public Policy {
 public:
  /// `needy`: how find_place() treats jobs that ask for CPUs or memory; none: as options.fit says.
  explicit QueuePolicy(const QueueOptions& options, std::optional<Fit> needy = std::nullopt);
  QueuePolicy(const QueuePolicy&) = delete;
  QueuePolicy& operator=(const QueuePolicy&) = delete;
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;

 protected:
  /// Smaller is tried first; ties by submission. Constant while the job waits.
  [[nodiscard]] virtual std::int64_t key(const JobView& job) const = 0;
  /// Where `job` may start; a gang that finds nothing must mean that no larger one of its kind
  /// does.
  [[nodiscard]] virtual std::optional<Placement> find_place(const View& view, const Occupancy& gpus,
                                                            const JobSpec& job) const;
  /// There is room for it in this partition when everything is free.
  [[nodiscard]] virtual bool fits_empty(const JobSpec& job) const;
  /// Nothing to do if this says so and there are no neighbours.
  [[nodiscard]] virtual bool idle(const View& view) const;
  /// Before anything starts; marks what it deals with in `taken`.
  virtual void before_starts(const View&, std::vector<Decision>&) {}
  virtual void start_here(const View& view, Trial& trial, std::vector<Decision>& out);
  /// After the starts, where there are others: what becomes of those that are not `taken_`.
  virtual void cooperate(const View& view, Trial& trial, std::vector<Decision>& out);

  /// Must come before shape() and index_.sync() in a decide() of one's own.
  void learn_partition(const Occupancy& gpus);
  [[nodiscard]] const Shape& shape() const noexcept { return *shape_; }
  /// The partition with everything free.
  [[nodiscard]] const Occupancy& empty() const noexcept { return *empty_; }
  [[nodiscard]] const QueueOptions& options() const noexcept { return options_; }

  QueueIndex index_;
  Cooperation cooperation_;
  QueueMarks taken_;  ///< by position in index_.queue()
  Mirror planned_;    ///< of Trial
  std::vector<std::uint32_t>
      failed_;  ///< by kind: the smallest gang that found no room in this call

 private:
  QueueOptions options_;
  std::optional<Shape> shape_;
  std::optional<Occupancy> empty_;
};

/// Registers a policy that takes the options of every queue policy and no others.
template <class P>
void add_queue_policy(PolicyRegistry& registry, const PolicyFacts& facts, QueueDefault otherwise) {
  registry.add(facts, [&facts, otherwise](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, otherwise);
    return std::unique_ptr<Policy>(std::make_unique<P>(options));
  });
}

}  // namespace starling
