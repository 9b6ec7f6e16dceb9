// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "policies/builtin.h"
#include "policies/placement/candidates_policy.h"

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
/// share=first shares one server's rather than spread. It knows no speeds. With fit=node and one
/// job per GPU a gang waits for whole servers rather than be dealt.
class LoadBalance final : public PlacementPolicy {
 public:
  LoadBalance(const QueueOptions& options, bool share_first)
      : PlacementPolicy(options), share_first_(share_first) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  void before_starts(const View& view, std::vector<Decision>& out) override {
    cooperation_.forward_to_emptier(view, index_, taken_, out);
  }

  [[nodiscard]] Answer choose(const View& view, const Wish& wish, const JobView&) override {
    const FreeServers& free = candidates_.free();
    std::vector<std::uint32_t> kinds = candidates_.kinds(*wish.spec);
    if (wish.spec->gpu_types.empty()) kinds = {0};
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.emptiest(kind, wish.gpus)) return found;
    }
    if (!candidates_.sharing() && options().fit == Fit::node) {
      for (const std::uint32_t kind : kinds) {
        if (auto found = free.fewest_possible(kind, wish.gpus, wish.worker)) return found;
      }
      return std::nullopt;
    }
    if (share_first_ && candidates_.sharing()) {
      if (auto found = on_one(view, wish)) return found;
    }
    for (const std::uint32_t kind : kinds) {
      if (auto found = free.spread(kind, wish.gpus, wish.worker)) return found;
    }
    if (!candidates_.sharing()) return std::nullopt;
    if (auto found = on_one(view, wish)) return found;
    return over_many(view, wish);
  }

 private:
  /// GPUs of the server that the job may join, free ones first.
  [[nodiscard]] Placement joinable(const Wish& wish, std::uint32_t server) {
    const IndexRange range =
        empty().topology().server(ServerId{empty().servers().first + server}).gpus;
    Placement out;
    for (const bool free : {true, false}) {
      for (std::uint32_t i = range.first; i < range.last; ++i) {
        const GpuId gpu{i};
        if (candidates_.free().is_free(gpu) == free && candidates_.may_join(wish, gpu)) {
          out.push_back(gpu);
        }
      }
    }
    return out;
  }

  /// Brings the order of the servers by load up to date.
  void follow(const View& view) {
    const auto changed = candidates_.changed_since(seen_);
    seen_ = candidates_.changes();
    const std::uint32_t servers = view.gpus.servers().size();
    const auto put = [&](std::uint32_t s) {
      const std::uint32_t places =
          2 * candidates_.free().free_on(s) + candidates_.residents().open_on(s);
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
  void by_load(const View& view, const JobSpec& spec, F f) {
    follow(view);
    for (auto k = by_places_.size(); k-- > 1;) {
      const BitmapTree& set = by_places_[k];
      for (std::uint32_t s = set.next(0); s < set.size(); s = set.next(s + 1)) {
        const ServerId server{view.gpus.servers().first + s};
        if (allows(spec, view.topology, server) && f(s)) return;
      }
    }
  }

  [[nodiscard]] std::optional<Placement> on_one(const View& view, const Wish& wish) {
    std::optional<Placement> out;
    if (wish.gpus > candidates_.free().largest_server(0)) return out;
    by_load(view, *wish.spec, [&](std::uint32_t server) {
      const std::uint32_t room =
          candidates_.free().free_on(server) + candidates_.residents().open_on(server);
      if (room < wish.gpus) return false;
      Placement gpus = joinable(wish, server);
      if (gpus.size() < wish.gpus) return false;
      gpus.resize(wish.gpus);
      std::sort(gpus.begin(), gpus.end());
      out = std::move(gpus);
      return true;
    });
    return out;
  }

  [[nodiscard]] std::optional<Placement> over_many(const View& view, const Wish& wish) {
    const std::uint32_t one = wish.worker <= candidates_.free().largest_server(0) ? wish.worker : 1;
    Placement out;
    by_load(view, *wish.spec, [&](std::uint32_t server) {
      Placement gpus = joinable(wish, server);
      const auto room = static_cast<std::uint32_t>(gpus.size()) / one * one;
      gpus.resize(std::min(room, wish.gpus - static_cast<std::uint32_t>(out.size())));
      out.insert(out.end(), gpus.begin(), gpus.end());
      return out.size() == wish.gpus;
    });
    if (out.size() < wish.gpus) return std::nullopt;
    std::sort(out.begin(), out.end());
    return out;
  }

  bool share_first_;
  std::uint64_t seen_ = 0;
  std::vector<std::uint32_t> places_;  // by server
  std::vector<BitmapTree> by_places_;  // servers with exactly so many places
};

}  // namespace

void add_load_balance(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const bool first =
        reader.choice(
            "share", {"last", "first"},
            "last: spread a gang rather than share GPUs; first: share rather than spread") ==
        "first";
    return std::unique_ptr<Policy>(std::make_unique<LoadBalance>(options, first));
  });
}

}  // namespace starling
