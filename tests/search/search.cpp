// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search.h"

#include <unordered_set>
#include <utility>

namespace starling::search {
namespace {

constexpr std::uint32_t kFairSteps = 4000;
constexpr Duration kFairTime = std::chrono::hours(1);
constexpr std::uint32_t kNone = ~0U;

/// A state by the way to it: worlds are too large to be kept.
struct Reached {
  std::uint32_t parent = kNone;  ///< kNone: a begin
  std::uint32_t steps = 0;       ///< from a begin; for a begin: of the fair run
  Action action;
};

class Search {
 public:
  Search(const Setting& setting, const ExploreOptions& options)
      : setting_(setting), options_(options) {}

  SearchReport run() {
    if (begin()) {
      for (std::size_t at = 0; at < reached_.size(); ++at) {
        if (!expand(static_cast<std::uint32_t>(at))) break;
      }
    }
    return std::move(report_);
  }

 private:
  /// The states of the fair run, from each of which the search sets out.
  bool begin() {
    SmallWorld world(setting_);
    for (;;) {
      begins_.push_back(world);
      seen_.insert(world.fingerprint());
      reached_.push_back({kNone, static_cast<std::uint32_t>(report_.begins++), {}});
      ++report_.states;
      const std::optional<Action> next = world.fair();
      if (!options_.along_fair_run || !next || world.settled() || world.age() > kFairTime) break;
      fair_.push_back(*next);
      world.apply(*next);
      ++report_.transitions;
      if (world.violation()) return fail(*world.violation(), reached_.size() - 1, *next, {});
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> way_to(std::uint32_t at) const {
    std::vector<std::uint32_t> way;
    for (; at != kNone; at = reached_[at].parent) way.push_back(at);
    return {way.rbegin(), way.rend()};
  }

  /// The world at an entry, from the last one that was asked for: neighbours share most of the way.
  const SmallWorld& world_at(std::uint32_t at) {
    const std::vector<std::uint32_t> way = way_to(at);
    std::size_t same = 0;
    while (same < way.size() && same < way_.size() && way[same] == way_[same]) ++same;
    worlds_.erase(worlds_.begin() + static_cast<std::ptrdiff_t>(same), worlds_.end());
    for (std::size_t i = same; i < way.size(); ++i) {
      const Reached& entry = reached_[way[i]];
      if (entry.parent == kNone) {
        worlds_.push_back(begins_[entry.steps]);
      } else {
        worlds_.push_back(worlds_.back());
        worlds_.back().apply(entry.action);
      }
    }
    way_ = way;
    return worlds_.back();
  }

  bool expand(std::uint32_t at) {
    const bool is_begin = reached_[at].parent == kNone;
    const std::uint32_t steps = is_begin ? 0 : reached_[at].steps;
    if (steps >= options_.depth) return true;
    const SmallWorld& world = world_at(at);
    for (const Action& action : world.actions()) {
      SmallWorld next(world);
      next.apply(action);
      ++report_.transitions;
      if (next.violation()) return fail(*next.violation(), at, action, {});
      if (!seen_.insert(next.fingerprint()).second) continue;
      if (options_.states > 0 && report_.states >= options_.states) {
        report_.complete = false;
        return false;
      }
      ++report_.states;
      const bool sampled = options_.fair_every > 0 && report_.states % options_.fair_every == 0;
      if (sampled && !(ends_well(next, false, at, action) && ends_well(next, true, at, action))) {
        return false;
      }
      if (steps + 1 < options_.depth) reached_.push_back({at, steps + 1, action});
    }
    return true;
  }

  /// From here nothing goes wrong any more: then every accepted job ends and nothing is left.
  bool ends_well(SmallWorld world, bool lose_frames, std::uint32_t at, const Action& action) {
    world.heal(lose_frames);
    std::vector<std::string> path{lose_frames ? "all is well from here; frames under way are lost"
                                              : "all is well from here"};
    for (std::uint32_t n = 0; n < kFairSteps && !world.settled(); ++n) {
      const std::optional<Action> next = world.fair();
      if (!next || world.age() > kFairTime) break;
      path.push_back(world.describe(*next));
      world.apply(*next);
      ++report_.transitions;
      if (world.violation()) return fail(*world.violation(), at, action, path);
    }
    if (!world.settled()) {
      return fail("L1 is violated: " + world.leftovers() + " at the end of a fair run", at, action,
                  path);
    }
    ++report_.fair_runs;
    return true;
  }

  bool fail(const std::string& what, std::size_t at, const Action& last,
            const std::vector<std::string>& after) {
    report_.violation = what;
    const std::vector<std::uint32_t> way = way_to(static_cast<std::uint32_t>(at));
    SmallWorld world(setting_);
    const auto take = [&](const Action& action) {
      report_.path.push_back(world.describe(action));
      world.apply(action);
    };
    for (std::uint32_t n = 0; n < reached_[way.front()].steps; ++n) take(fair_[n]);
    report_.path.emplace_back("-- so far all was well --");
    for (std::size_t i = 1; i < way.size(); ++i) take(reached_[way[i]].action);
    take(last);
    report_.path.insert(report_.path.end(), after.begin(), after.end());
    return false;
  }

  const Setting& setting_;
  ExploreOptions options_;
  SearchReport report_;
  std::vector<SmallWorld> begins_;
  std::vector<Action> fair_;
  std::vector<Reached> reached_;            // by steps from a begin
  std::unordered_set<std::uint64_t> seen_;  // looked up, never walked
  std::vector<std::uint32_t> way_;          // to the last of worlds_
  std::vector<SmallWorld> worlds_;
};

}  // namespace

SearchReport explore(const Setting& setting, const ExploreOptions& options) {
  return Search(setting, options).run();
}

}  // namespace starling::search
