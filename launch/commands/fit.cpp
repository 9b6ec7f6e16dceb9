// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/fit.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "interference/fit/goodput_fit.h"
#include "interference/fit/pair_file.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"

namespace starling {
namespace {

struct Options {
  std::string data, pairs;
  bool json = false;
  bool constants = false;
  bool sharing = false;
  bool goodput = false;
};

int fit_pairs_of(const Options& options) {
  if (!options.data.empty() || options.constants || options.sharing || options.goodput)
    return bad_input("fit: --pairs goes with --json alone");
  const auto sets = fit_pair_file(options.pairs);
  if (!sets) return bad_input("fit: --pairs: " + sets.error().message);
  std::fputs((options.json ? to_json(sets.value()) + "\n" : to_text(sets.value())).c_str(), stdout);
  return kDone;
}

int fit(const Options& options) {
  if (!options.pairs.empty()) return fit_pairs_of(options);
  const char* set = std::getenv("STARLING_DATA");
  const std::string data = options.data.empty() && set != nullptr ? set : options.data;
  if (data.empty())
    return bad_input("fit: --data DIR is missing: the published data folder, or $STARLING_DATA");
  if (options.json + options.constants + options.sharing > 1)
    return bad_input("fit: --json, --constants and --sharing exclude each other");
  const auto wrong = [](const std::string& what) {
    return bad_input("fit: --data: " + what +
                     "; give the published data folder, which holds pollux/, elasticflow/, "
                     "gavel/ and lucid/");
  };
  std::error_code ignored;
  if (!std::filesystem::is_directory(data, ignored)) return wrong(data + ": no such folder");
  if (options.goodput) {
    if (options.json || options.sharing)
      return bad_input("fit: --goodput goes with --data and --constants alone");
    const auto fitted = fit_goodput(data);
    if (!fitted) return wrong(fitted.error().message);
    const GoodputReport& g = fitted.value();
    std::fputs((options.constants ? to_profiles(g) : to_text(g)).c_str(), stdout);
    return kDone;
  }
  auto report = fit_all(data);
  if (!report) return wrong(report.error().message);
  const FitReport& r = report.value();
  const std::string text = options.json        ? to_json(r) + "\n"
                           : options.constants ? to_constants(r)
                           : options.sharing   ? to_sharing_table(r)
                                               : to_text(r);
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void add_fit(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("fit", "fit the speeds of jobs by placement to published measurements");
  command.option(
      "--data", o->data, "DIR",
      "the published data: pollux/, elasticflow/, gavel/, lucid/; default $STARLING_DATA");
  command.option("--pairs", o->pairs, "FILE",
                 "instead: how well simple models meet a table of pairs, as `starling profile` "
                 "writes it");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("--constants", o->constants, "the table interference/fitted.inc");
  command.flag("--sharing", o->sharing, "the table interference/sharing.inc");
  command.flag("--goodput", o->goodput,
               "instead: step time by batch and replicas, and noise scale; with --constants the "
               "table interference/goodput/profiles.inc");
  command.examples({"starling fit --data shared/data", "starling fit --data shared/data --json",
                    "starling fit --data shared/data --goodput", "starling fit --pairs profile.csv",
                    "starling fit --data shared/data --constants >interference/fitted.inc"});
  command.action([o] { return fit(*o); });
}

}  // namespace starling
