#include "policies/builtin.h"
#include "policies/gavel.h"

namespace starling {

void add_gavel(PolicyRegistry& registry) {
  registry.add(
      GavelPolicy({}).facts(),
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader("gavel", given);
        GavelOptions options;
        const std::string objective = reader.choice(
            "objective",
            {"max-min-fairness", "fifo", "finish-time-fairness", "makespan", "throughput"});
        if (objective == "fifo") options.objective = GavelObjective::fifo;
        if (objective == "finish-time-fairness") {
          options.objective = GavelObjective::finish_time_fairness;
        }
        if (objective == "makespan") options.objective = GavelObjective::makespan;
        if (objective == "throughput") options.objective = GavelObjective::throughput;
        options.aware = reader.choice("aware", {"yes", "no"}) == "yes";
        options.sharing = reader.choice("sharing", {"no", "yes"}) == "yes";
        options.queue.fit =
            reader.choice("fit", {"node", "count"}) == "count" ? Fit::count : Fit::node;
        options.round = from_seconds(reader.number("round", 360, 1, 86'400));
        options.between_resets = from_seconds(reader.number("reset", 1920, 0, 1e6));
        if (const Status status = reader.status(); !status) return status.error();
        if (options.sharing && !options.aware) {
          return Error{Errc::invalid,
                       "policy 'gavel': sharing=yes needs aware=yes: who may share is a matter of "
                       "speeds"};
        }
        return std::unique_ptr<Policy>(std::make_unique<GavelPolicy>(options));
      },
      "objective=max-min-fairness|fifo|finish-time-fairness|makespan|throughput, aware=yes|no, "
      "sharing=no|yes (two jobs on a GPU; where speeds vary), fit=node|count, round=SECONDS (360), "
      "reset=SECONDS (1920: an allocation lasts at least this long)");
}

}  // namespace starling
