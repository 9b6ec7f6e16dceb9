// SPDX-License-Identifier: Apache-2.0
#include "policies/builtin.h"
#include "policies/rank/rank.h"

namespace starling {
namespace {

constexpr PolicyFacts kStarling{
    .name = "starling",
    .summary = "the product's own: rank, and two jobs on the same GPUs where that pays",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .shares_gpus = true,
    .lengths = LengthSource::past,
    .round = std::chrono::seconds(120)};

MayDo may_do(const std::string& said) {
  if (said == "place") return MayDo::place;
  return said == "order" ? MayDo::order : MayDo::resize;
}

}  // namespace

void add_starling(PolicyRegistry& registry) {
  registry.add(kStarling, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    RankOptions options;
    options.may = may_do(
        reader.choice("may", {"resize", "order", "place"},
                      "what is done with jobs that allow it: their size is changed; they are "
                      "stopped for others, at the size that they ask for; they are only placed"));
    options.shares = reader.choice("share", {"yes", "no"}, "no: one job per GPU") == "yes";
    options.keeps =
        reader.choice(
            "keep", {"yes", "no"},
            "yes: two jobs go on to share GPUs until parting is worth more than it costs; "
            "no: pairs are made anew at every round") == "yes";
    options.charge = reader.number(
        "charge", 4, 0, 1000,
        "a change of size or place counts so many times what it costs, as it sets off others");
    options.believes =
        reader.choice("knows", {"forecasts", "exact"},
                      "how long jobs are taken to be: what others of the same user, queue and gang "
                      "size took; exact: what users say, where they do") == "exact";
    options.route_power = 0.8;
    options.overflows_between = true;  // who waits for a command to begin sees a round pass
    return std::unique_ptr<Policy>(std::make_unique<RankPolicy>(options, kStarling));
  });
}

}  // namespace starling
