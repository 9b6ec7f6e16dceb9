#include "sim/chaos.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/progress_bar.h"
#include "launch/text.h"
#include "launch/wiring.h"

namespace starling {
namespace {

struct Options {
  std::uint32_t seeds = 100;
  std::uint64_t first_seed = 1;
  std::uint32_t minutes = 10;
  std::string policy;
  bool json = false, quiet = false;
};

std::string reproduction(std::uint64_t seed, const Options& o) {
  std::string line = "starling chaos sim --first-seed " + std::to_string(seed) + " --seeds 1";
  if (o.minutes != 10) line += " --minutes " + std::to_string(o.minutes);
  if (!o.policy.empty()) line += " --policy " + o.policy;
  return line;
}

/// A broken invariant aborts; this is what its seed is found again by.
char when_aborted[256];
void on_abort(int) {
  const auto written = write(STDERR_FILENO, when_aborted, std::strlen(when_aborted));
  (void)written;
}

void print_json(const ChaosReport& report, const Options& o) {
  nlohmann::json failing = nlohmann::json::array();
  for (const ChaosFailure& f : report.first) {
    failing.push_back({{"seed", f.seed},
                       {"rule", f.rule},
                       {"at_s", f.at_s},
                       {"message", f.message},
                       {"reproduce", reproduction(f.seed, o)}});
  }
  const nlohmann::json out{{"schema", 1},
                           {"seeds", report.seeds},
                           {"failures", report.failures},
                           {"faults", report.faults},
                           {"simulated_hours", report.simulated_hours},
                           {"jobs", report.jobs},
                           {"jobs_finished", report.finished},
                           {"events", report.events},
                           {"policies", report.policies},
                           {"first_failures", failing}};
  std::printf("%s\n", out.dump(1).c_str());
}

void print_table(const ChaosReport& report, const Options& o) {
  std::printf("%s seeds, %.1f simulated hours, %s of %s jobs finished, %s events\n",
              with_commas(report.seeds).c_str(), report.simulated_hours,
              with_commas(report.finished).c_str(), with_commas(report.jobs).c_str(),
              with_commas(report.events).c_str());
  for (const auto& [kind, count] : report.faults)
    std::printf("  %-26s %12s\n", kind.c_str(), with_commas(count).c_str());
  std::printf("%s failures\n", with_commas(report.failures).c_str());
  for (const ChaosFailure& f : report.first) {
    std::printf("  %s at %.3f s: %s\n    %s\n", f.rule.c_str(), f.at_s, f.message.c_str(),
                reproduction(f.seed, o).c_str());
  }
}

int chaos_sim(const Options& o) {
  const PolicyRegistry policies = all_policies();
  ProgressBar progress("seeds", o.quiet);
  ChaosOptions chaos;
  chaos.first_seed = o.first_seed;
  chaos.seeds = o.seeds;
  chaos.faults_last = std::chrono::minutes(o.minutes);
  chaos.policy = o.policy;
  chaos.begins = [&](std::uint64_t seed) {
    std::snprintf(when_aborted, sizeof when_aborted, "%s\n", reproduction(seed, o).c_str());
    progress.update(seed - o.first_seed, o.seeds);
  };
  std::signal(SIGABRT, on_abort);
  const auto report = run_chaos(policies, chaos);
  std::signal(SIGABRT, SIG_DFL);
  progress.finish();
  if (!report) return bad_input("--policy: " + report.error().message);
  o.json ? print_json(report.value(), o) : print_table(report.value(), o);
  return report.value().failures == 0 ? kDone : kWorkFailed;
}

}  // namespace

void add_chaos(const Command& root) {
  const Command command = root.sub("chaos", "break things and look whether the promises hold");
  const auto o = std::make_shared<Options>();
  const Command sim = command.sub("sim", "faults in simulation, every event checked");
  sim.option("--seeds", o->seeds, "N", "so many runs (default 100)", 1U, 100'000'000U);
  sim.option("--first-seed", o->first_seed, "S", "default 1", std::uint64_t{0},
             std::uint64_t{1} << 60U);
  sim.option("--minutes", o->minutes, "M", "simulated minutes of faults per seed (default 10)", 1U,
             10'000U);
  sim.option("--policy", o->policy, "NAME[:k=v,..]", "default: drawn per seed");
  sim.flag("--json", o->json, "only JSON on stdout");
  sim.flag("-q,--quiet", o->quiet, "no progress on stderr");
  sim.examples({"starling chaos sim --seeds 1000", "starling chaos sim --first-seed 17 --seeds 1"});
  sim.action([o] { return chaos_sim(*o); });
  add_chaos_live(command);
}

}  // namespace starling
