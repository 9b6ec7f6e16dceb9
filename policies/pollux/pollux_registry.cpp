// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "policies/builtin.h"
#include "policies/pollux/pollux.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "pollux",
    .summary =
        "elastic: GPUs and batches for the highest harmonic mean of goodput over a fair share",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .rebatches = true,
    .reads_pace = true,
    .round = std::chrono::seconds(60)};

// As published, but that a search ends early: a decision about 400 jobs on 512 GPUs takes a quarter
// of a second.
constexpr double kPopulation = 100, kGenerations = 100;
constexpr std::uint32_t kPatience = 20;

PolluxOptions read_pollux(OptionReader& reader) {
  PolluxOptions options;
  options.round = from_seconds(reader.number("round", 60, 1, 86'400, "seconds"));
  options.adapts = reader.choice("batch", {"free", "fixed"},
                                 "free: of jobs whose noise scale is known also the batch is "
                                 "chosen") == "free";
  options.given = reader.choice("knows", {"measured", "given"},
                                "measured: of a job's goodput what it was measured at; given: its "
                                "model's") == "given";
  const auto whole = [&](std::string_view key, double otherwise, double high,
                         std::string_view help) {
    return static_cast<std::uint32_t>(reader.number(key, otherwise, 1, high, help));
  };
  options.search.population = whole("population", kPopulation, 1000, "plans that the search keeps");
  options.search.generations =
      whole("generations", kGenerations, 1000,
            "at most, of so many more plans each; the search ends after 20 that "
            "brought nothing");
  options.search.patience = kPatience;
  options.search.most_nodes = std::numeric_limits<std::uint32_t>::max();
  options.search.avoid_interference =
      reader.choice("avoid", {"yes", "no"}, "yes: no server has two jobs that are on several") ==
      "yes";
  options.restart_s = reader.number("restart", 30, 0, 86'400,
                                    "seconds that a restart costs a job that had none yet");
  return options;
}

}  // namespace

void add_pollux(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const PolluxOptions options = read_pollux(reader);
    PolicyFacts facts = kFacts;
    facts.rebatches = options.adapts;
    facts.reads_pace = !options.given;
    return std::unique_ptr<Policy>(std::make_unique<PolluxPolicy>(facts, options));
  });
}

}  // namespace starling
