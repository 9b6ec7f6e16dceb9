// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/search_policy.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gnn/learned_system.h"
#include "gnn/search/search.h"
#include "policies/foresight.h"
#include "policies/options.h"
#include "policies/placement/placement_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "marl-search",
    .summary =
        "plays the best few places of a base policy forward over guessed futures, and takes "
        "another than its choice only where that pays",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

constexpr PolicyFacts kClairvoyant{
    .name = "clairvoyant",
    .summary =
        "upper bound: knows every job before it comes and how long it takes, and plays its "
        "best few places forward; for simulations with one agent",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true,
    .lengths = LengthSource::truth};

// What an event of a roll-out costs, for budgets that users give in time: a policy reads no clock.
constexpr double kEventsPerMs = 25;

/// Of both: what is to come is told to the one whose facts say that it knows.
class SearchPolicy final : public Policy, public QueueOrder, public Foresight {
 public:
  SearchPolicy(const SearchOptions& options, PlacementSystem base)
      : chooser_(options), policy_(std::move(base), &chooser_) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return policy_.facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override {
    return policy_.decide(view, trigger, rng);
  }
  void refused(const Feedback& feedback) override { policy_.refused(feedback); }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override {
    return policy_.offer(view, want, gpus_per_worker, each);
  }
  [[nodiscard]] std::vector<CoTenant> co_tenants(const View& view, const JobSpec& gang,
                                                 std::size_t most) override {
    return policy_.co_tenants(view, gang, most);
  }
  [[nodiscard]] std::vector<std::size_t> choose_tenants(
      const View& view, const JobView& gang, std::uint32_t free,
      std::span<const CoTenant> offered) override {
    return policy_.choose_tenants(view, gang, free, offered);
  }
  [[nodiscard]] std::span<const float> summary() const override { return policy_.summary(); }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant now) const override {
    return policy_.asks_first(a, b, now);
  }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    return policy_.explain(job);
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    return policy_.explain_now(view, job);
  }
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override {
    return policy_.save(origin);
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override {
    return policy_.restore(memory, origin);
  }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return policy_.learned(); }
  void foresee(const Oracle& oracle) override { chooser_.foresee(oracle); }

 private:
  SearchChooser chooser_;
  PlacementPolicy policy_;
};

/// It scores any place, so there is something to search. Nets do.
bool judges_all(const std::string& name, const PolicyRegistry& bases) {
  const PolicyRegistry::Entry& entry = bases.entries().at(name);
  if (!entry.placement) return false;
  if (entry.facts.needs_model_file) return true;
  const auto made = bases.make_placement(name, {});
  return made && !made.value().scorer->rules().own_places;
}

/// What every search is told of its base: any placement policy that judges all places.
struct BaseOptions {
  BaseOptions(OptionReader& reader, const PolicyRegistry& bases)
      : queue(read_queue_options(reader, QueueDefault::skip)),
        name(reader.choice("base", names_of(bases),
                           "whose options are searched; lif: with threshold 0.3")),
        weights(reader.file("weights", "of a learned base; without: the ones shipped")),
        order(read_order(reader)) {}
  static std::vector<std::string_view> names_of(const PolicyRegistry& bases) {
    std::vector<std::string_view> names{"marl", "lif"};
    for (const auto& [name, entry] : bases.entries()) {
      if (std::ranges::find(names, name) == names.end() && judges_all(name, bases))
        names.push_back(name);
    }
    return names;
  }
  QueueOptions queue;
  std::string name, weights, order;
};

/// Over the base that is asked for.
Result<std::unique_ptr<Policy>> over(const PolicyFacts& facts, const PolicyRegistry& bases,
                                     const BaseOptions& given, SearchOptions options) {
  const bool marl = given.name == "marl", lif = given.name == "lif";
  if (!bases.entries().at(given.name).facts.needs_model_file && !given.weights.empty()) {
    return Error{Errc::invalid, "policy '" + std::string(facts.name) +
                                    "': option weights is of a learned base, and " + given.name +
                                    " is none; leave it out"};
  }
  PolicyOptions asked;
  if (lif) asked = {{"threshold", "0.3"}, {"order", "forecast"}};
  if (!given.weights.empty()) asked["weights"] = given.weights;
  auto base = bases.make_placement(given.name, asked);
  if (!base) return base.error();
  PlacementSystem& system = base.value();
  system.facts = facts;
  system.queue = given.queue;
  system.order = order_asked(given.order, system.order);
  // What a rule would do beyond the partition no roll-out plays.
  system.forwards_by_speed = marl;
  options.order = system.order;
  return std::unique_ptr<Policy>(std::make_unique<SearchPolicy>(options, std::move(base).value()));
}

Duration read_again(OptionReader& reader) {
  return std::chrono::minutes(static_cast<int>(reader.number(
      "again", 60, 0, 10'080, "minutes that a refused job is not searched for again")));
}

Result<std::unique_ptr<Policy>> make(OptionReader& reader, const PolicyRegistry& bases) {
  const BaseOptions base(reader, bases);
  SearchOptions options;
  const auto whole = [&](std::string_view key, double otherwise, double low, double high,
                         std::string_view help) {
    return static_cast<std::uint32_t>(reader.number(key, otherwise, low, high, help));
  };
  options.samples = whole("samples", options.samples, 3, 64, "futures");
  options.candidates = whole("candidates", options.candidates, 2, 8, "options of a job");
  options.horizon =
      std::chrono::minutes(whole("minutes", 240, 5, 10080, "in which jobs come in a future"));
  options.arrivals = whole("arrivals", options.arrivals, 0, 1000, "of a future, at most");
  options.errors =
      reader.number("errors", options.errors, 0, 10, "standard errors that a gain must exceed");
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  options.margin = reader.number(
      "margin", base.name == "marl" ? 0.5 : kAnything, 0, kAnything,
      "by which the score of an option may be below the base's; any unless the base is marl");
  options.again = read_again(reader);
  const double budget = reader.number(
      "budget", 0, 0, 3.6e6, "ms of all roll-outs of a decision, at 25 events a ms; 0: by events");
  options.events = whole("events", static_cast<double>(options.events), 100, 1e9,
                         "of all roll-outs of a decision");
  if (budget > 0) options.events = static_cast<std::uint64_t>(budget * kEventsPerMs) + 1;
  return over(kFacts, bases, base, options);
}

Result<std::unique_ptr<Policy>> make_clairvoyant(OptionReader& reader,
                                                 const PolicyRegistry& bases) {
  const BaseOptions base(reader, bases);
  SearchOptions options;
  options.candidates = static_cast<std::uint32_t>(
      reader.number("candidates", 6, 2, 64, "options of a job, waiting among them"));
  options.arrivals = static_cast<std::uint32_t>(
      reader.number("arrivals", 60, 0, 100'000, "jobs to come that a roll-out plays"));
  options.again = read_again(reader);
  options.events = ~0ULL >> 1U;
  return over(kClairvoyant, bases, base, options);
}

}  // namespace

void add_marl_search(PolicyRegistry& registry) {
  registry.add(kFacts, [bases = std::make_shared<PolicyRegistry>(registry)](OptionReader& reader) {
    return make(reader, *bases);
  });
}

void add_clairvoyant(PolicyRegistry& registry) {
  registry.add(kClairvoyant,
               [bases = std::make_shared<PolicyRegistry>(registry)](OptionReader& reader) {
                 return make_clairvoyant(reader, *bases);
               });
}

}  // namespace starling
