// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "policies/builtin.h"
#include "policies/consolidate/tight_places.h"
#include "policies/placement/placement_system.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "consolidate",
    .summary = "one island, server, scale-up domain or rack, in this order; tightest fit first",
    .family = Family::placement};

/// The tightest place that a gang can have, or none: it waits rather than break a gang that fits a
/// server, or take more servers than it must.
class Consolidate final : public Scorer {
 public:
  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules;
    rules.own_places = rules.by_fit = true;
    rules.shared = SharedPlaces::never;
    rules.waits = false;
    return rules;
  }
  [[nodiscard]] std::optional<Placement> place(const DecisionPoint& point) override {
    const Occupancy& gpus = point.planned;
    const JobSpec& job = *point.job.spec;
    if (!job.gpu_types.empty() || demand_of(job).any())
      return starling::place(gpus, point.shape, job, Fit::server);
    const std::uint32_t count = job.gpus();
    if (count > gpus.free_count()) return std::nullopt;
    tight_.follow(gpus, point.shape.server);
    if (count <= gpus.largest_free_server()) {
      if (auto found = tight_.island(count)) return found;
      // Over the fewest islands of a server, the fullest first.
      const ServerId server = *gpus.best_fit(count);
      return FreeServers::on_islands(gpus.topology(), gpus.free_gpus(server, gpus.free_on(server)),
                                     count);
    }
    if (auto found = place_in_domain(gpus, count, job.gpus_per_worker)) return found;
    if (auto found = in_rack(point.shape.server, count, job.gpus_per_worker)) return found;
    return place_server(gpus, point.shape, count, job.gpus_per_worker);
  }
  Scored score(const DecisionPoint&, std::span<double> scores) override {
    std::ranges::fill(scores, 0.0);  // the place, or else waiting
    return {};
  }

 private:
  /// Wholly free servers of one rack: the rack with the fewest that has enough.
  [[nodiscard]] std::optional<Placement> in_rack(std::uint32_t size, std::uint32_t count,
                                                 std::uint32_t gpus_per_worker) const {
    if (size == 0 || count % size != 0 || (gpus_per_worker > 1 && size % gpus_per_worker != 0)) {
      return std::nullopt;
    }
    return tight_.rack(count / size);
  }

  TightPlaces tight_;  // an index of what place() is given
};

/// The tightest place that there is now, over as many servers as it takes. A gang for which too few
/// GPUs are free goes, where GPUs may be shared, where it takes least speed from others. Free GPUs
/// score 0, others the GPUs that those beside it lose, negative.
class Consolidating final : public Scorer {
 public:
  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules;
    rules.own_places = true;
    rules.shared = SharedPlaces::if_none_free;
    rules.waits = false;
    return rules;
  }
  [[nodiscard]] std::optional<Placement> place(const DecisionPoint& point) override {
    const PlacementRequest& request = point.request;
    const FreeServers& free = point.candidates.free();
    std::vector<std::uint32_t> kinds = point.candidates.kinds(*request.spec);
    if (request.spec->gpu_types.empty()) kinds = {0};
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.best_fit(kind, request.gpus)) return found;
    }
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.in_rack(kind, request.gpus, request.gpus_per_worker)) return found;
      if (auto found = free.tight(kind, request.gpus, request.gpus_per_worker)) return found;
    }
    return std::nullopt;
  }
  Scored score(const DecisionPoint& point, std::span<double> scores) override {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const Candidate* place = point.options[i].place;
      scores[i] = place == nullptr
                      ? kNever
                      : -static_cast<double>(place->inflicted_loss()) / static_cast<double>(kGpu);
    }
    return {};
  }
  [[nodiscard]] std::string_view score_is() const override {
    return "minus the GPUs' worth of speed that others lose";
  }
};

}  // namespace

void add_consolidate(PolicyRegistry& registry) {
  PolicyFacts any = kFacts;
  any.shares_gpus = true;
  registry.add_placement(any, [](OptionReader& reader) -> Result<PlacementSystem> {
    const std::string variant = reader.choice(
        "variant", {"wait", "spread", "share"},
        "of a gang that finds no tight place; spread, as fit=count: over any free GPUs; share: "
        "so, and beside others if too few are free");
    PlacementSystem system{kFacts, read_queue_options(reader, QueueDefault::skip)};
    read_may(reader, system);
    if (variant == "wait" && system.queue.fit == Fit::server) {
      system.scorer = std::make_unique<Consolidate>();
      return system;
    }
    system.queue.fit = Fit::count;  // what other homes may be asked for, too
    system.facts.shares_gpus = system.facts.needs_running = variant == "share";
    system.scorer = std::make_unique<Consolidating>();
    return system;
  });
}

}  // namespace starling
