// SPDX-License-Identifier: Apache-2.0
#include "policies/builtin.h"
#include "policies/gavel/gavel.h"

namespace starling {

void read_rounds(OptionReader& reader, GavelOptions& options) {
  options.queue.fit = read_fit(reader);
  options.round =
      from_seconds(reader.number("round", 360, 1, 86'400,
                                 "seconds; jobs that have waited are given to other partitions "
                                 "at rounds alone"));
  options.between_resets = from_seconds(
      reader.number("reset", 1920, 0, 1e6, "seconds that an allocation lasts at least"));
}

void add_gavel(PolicyRegistry& registry) {
  registry.add(
      GavelPolicy({}).facts(), [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
        GavelOptions options;
        const std::string objective = reader.choice(
            "objective",
            {"max-min-fairness", "fifo", "finish-time-fairness", "makespan", "throughput"},
            "what the shares of time on GPU types are for");
        if (objective == "fifo") options.objective = GavelObjective::fifo;
        if (objective == "finish-time-fairness") {
          options.objective = GavelObjective::finish_time_fairness;
        }
        if (objective == "makespan") options.objective = GavelObjective::makespan;
        if (objective == "throughput") options.objective = GavelObjective::throughput;
        options.aware = reader.choice("aware", {"yes", "no"},
                                      "of how fast each job is on each GPU type") == "yes";
        options.sharing = reader.choice("sharing", {"no", "yes"},
                                        "two jobs on a GPU, where speeds vary") == "yes";
        read_rounds(reader, options);
        if (options.sharing && !options.aware) {
          return Error{
              Errc::invalid,
              "policy 'gavel': sharing=yes needs aware=yes: which jobs share is a matter of "
              "speeds"};
        }
        return std::unique_ptr<Policy>(std::make_unique<GavelPolicy>(options));
      });
}

}  // namespace starling
