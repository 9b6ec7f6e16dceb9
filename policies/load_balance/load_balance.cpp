// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "policies/builtin.h"
#include "policies/placement/placement_system.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "load-balance",
                             .summary =
                                 "the emptiest partition, there the emptiest server; shares "
                                 "GPUs when none is free",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};

/// The least loaded server that has room for the whole gang on free GPUs. Where none has,
/// share=last deals the gang over the emptiest servers, and shares GPUs only if too few are free;
/// share=first shares one server's rather than spread. It knows no speeds. With fit=server and one
/// job per GPU a gang waits for whole servers rather than be dealt.
class LoadBalance final : public Scorer {
 public:
  LoadBalance(Fit fit, bool share_first) : fit_(fit), share_first_(share_first) {}

  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules;
    rules.own_places = true;
    rules.shared = SharedPlaces::never;
    rules.waits = false;
    rules.evens_out = true;
    return rules;
  }

  [[nodiscard]] std::optional<Placement> place(const DecisionPoint& point) override {
    const PlacementRequest& request = point.request;
    const Candidates& candidates = point.candidates;
    const FreeServers& free = candidates.free();
    std::vector<std::uint32_t> kinds = candidates.kinds(*request.spec);
    if (request.spec->gpu_types.empty()) kinds = {0};
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.emptiest(kind, request.gpus)) return found;
    }
    if (!candidates.sharing() && fit_ == Fit::server) {
      for (const std::uint32_t kind : kinds) {
        if (auto found = free.fewest_possible(kind, request.gpus, request.gpus_per_worker))
          return found;
      }
      return std::nullopt;
    }
    if (share_first_ && candidates.sharing()) {
      if (auto found = on_one(point)) return found;
    }
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.spread(kind, request.gpus, request.gpus_per_worker)) return found;
    }
    if (!candidates.sharing()) return std::nullopt;
    if (auto found = on_one(point)) return found;
    return over_many(point);
  }

  Scored score(const DecisionPoint&, std::span<double> scores) override {
    std::ranges::fill(scores, 0.0);  // the place, or else waiting
    return {};
  }

 private:
  /// GPUs of the server that the job may join, free ones first.
  [[nodiscard]] static Placement joinable(const DecisionPoint& point, std::uint32_t server) {
    const Occupancy& gpus = point.view.gpus;
    const IndexRange range = gpus.topology().server(ServerId{gpus.servers().first + server}).gpus;
    Placement out;
    for (const bool free : {true, false}) {
      for (std::uint32_t i = range.first; i < range.last; ++i) {
        const GpuId gpu{i};
        if (point.candidates.free().is_free(gpu) == free &&
            point.candidates.may_join(point.request, gpu)) {
          out.push_back(gpu);
        }
      }
    }
    return out;
  }

  /// Brings the order of the servers by load up to date.
  void follow(const DecisionPoint& point) {
    const auto changed = point.candidates.changed_since(seen_);
    seen_ = point.candidates.changes();
    const std::uint32_t servers = point.view.gpus.servers().size();
    const auto put = [&](std::uint32_t s) {
      const std::uint32_t places =
          2 * point.candidates.free().free_on(s) + point.candidates.residents().open_on(s);
      if (by_places_.size() <= places) by_places_.resize(places + 1, BitmapTree(servers));
      by_places_[places_[s]].reset(s);
      by_places_[places].set(s);
      places_[s] = places;
    };
    if (changed && places_.size() == servers) {
      for (const std::uint32_t s : *changed) put(s);
      return;
    }
    places_.assign(servers, 0);
    by_places_.assign(1, BitmapTree(servers));
    for (std::uint32_t s = 0; s < servers; ++s) put(s);
  }

  /// Calls f with servers that the job may use, least loaded first (the most places of two per
  /// GPU, ties to the lowest) until it returns true.
  template <class F>
  void by_load(const DecisionPoint& point, F f) {
    follow(point);
    for (auto k = by_places_.size(); k-- > 1;) {
      const BitmapTree& set = by_places_[k];
      for (std::uint32_t s = set.next(0); s < set.size(); s = set.next(s + 1)) {
        const ServerId server{point.view.gpus.servers().first + s};
        if (allows(*point.request.spec, point.view.topology, server) && f(s)) return;
      }
    }
  }

  [[nodiscard]] std::optional<Placement> on_one(const DecisionPoint& point) {
    std::optional<Placement> out;
    const std::uint32_t wanted = point.request.gpus;
    if (wanted > point.candidates.free().largest_server(0)) return out;
    by_load(point, [&](std::uint32_t server) {
      const std::uint32_t room =
          point.candidates.free().free_on(server) + point.candidates.residents().open_on(server);
      if (room < wanted) return false;
      Placement gpus = joinable(point, server);
      if (gpus.size() < wanted) return false;
      gpus.resize(wanted);
      std::sort(gpus.begin(), gpus.end());
      out = std::move(gpus);
      return true;
    });
    return out;
  }

  [[nodiscard]] std::optional<Placement> over_many(const DecisionPoint& point) {
    const PlacementRequest& request = point.request;
    const std::uint32_t one = request.gpus_per_worker <= point.candidates.free().largest_server(0)
                                  ? request.gpus_per_worker
                                  : 1;
    Placement out;
    by_load(point, [&](std::uint32_t server) {
      Placement gpus = joinable(point, server);
      const auto room = static_cast<std::uint32_t>(gpus.size()) / one * one;
      gpus.resize(std::min(room, request.gpus - static_cast<std::uint32_t>(out.size())));
      out.insert(out.end(), gpus.begin(), gpus.end());
      return out.size() == request.gpus;
    });
    if (out.size() < request.gpus) return std::nullopt;
    std::sort(out.begin(), out.end());
    return out;
  }

  Fit fit_;
  bool share_first_;
  std::uint64_t seen_ = 0;
  std::vector<std::uint32_t> places_;  // by server
  std::vector<BitmapTree> by_places_;  // servers with exactly so many places
};

}  // namespace

void add_load_balance(PolicyRegistry& registry) {
  registry.add_placement(kFacts, [](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const bool first =
        reader.choice(
            "share", {"last", "first"},
            "last: spread a gang rather than share GPUs; first: share rather than spread") ==
        "first";
    PlacementSystem system{kFacts, options, PlacementOrder::arrival,
                           std::make_unique<LoadBalance>(options.fit, first)};
    read_may(reader, system);
    return system;
  });
}

}  // namespace starling
