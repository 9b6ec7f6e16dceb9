// SPDX-License-Identifier: Apache-2.0
// interference meta, interference adapt: how the speed model adapts to hardware that it was not
// trained for.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "interference/pairs/adaptation_report.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/learning.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string pairs, without, data, out;
  std::uint32_t seeds = 10, samples = 80;
  MetaOptions meta;
  bool json = false;
};

Result<InterferenceNet> shipped_net() {
  const auto weights = shipped_interference();
  if (!weights) return weights.error();
  return InterferenceNet::make(weights.value());
}

int meta(const Options& options) {
  if (options.pairs.empty())
    return bad_input(
        "interference meta: --pairs FILE is missing: the columns of gavel/colocated.csv");
  if (options.out.empty())
    return bad_input("interference meta: --out FILE is missing: where the prior is written");
  if (auto good = check_out_file(options.out, OutKind::weights); !good)
    return bad_input("interference meta: --out: " + good.error().message);
  const auto net = shipped_net();
  if (!net) return failed(net.error());
  const auto data = read_pairs(options.pairs);
  if (!data) return bad_input("interference meta: --pairs: " + data.error().message);
  const auto sets = shift_sets(net.value(), data.value());
  if (!options.without.empty() && std::ranges::find(sets, options.without) == sets.end())
    return bad_input("interference meta: --without: no set '" + options.without + "' in " +
                     options.pairs + "; it has: " + (sets.empty() ? "none" : joined(sets, ", ")));
  const auto tasks = all_shifts(net.value(), data.value(), options.without);
  if (tasks.size() < kLeastShifts)
    return bad_input("interference meta: --pairs: " + options.pairs + ": " +
                     too_few_shifts(net.value(), data.value(), options.without));
  const ShiftPrior prior = meta_train(tasks, options.meta);
  Weights weights;
  prior.save(weights);
  weights.notes["command"] = "starling interference meta --pairs " + options.pairs +
                             (options.without.empty() ? "" : " --without " + options.without) +
                             " --seed " + std::to_string(options.meta.seed);
  if (auto written = save_weights(options.out, weights); !written) return failed(written.error());
  std::fprintf(stderr,
               "starling: wrote %s: %zu changes; deviations of a type as victim %.3f, as "
               "neighbour %.3f, of a pair %.3f, noise %.3f\n",
               options.out.c_str(), tasks.size(), prior.victim, prior.other, prior.pair,
               prior.noise);
  return kDone;
}

int adapt(const Options& options) {
  const char* set = std::getenv("STARLING_DATA");
  const std::string data = options.data.empty() && set != nullptr ? set : options.data;
  if (data.empty())
    return bad_input(
        "interference adapt: --data DIR is missing: the published data folder, or $STARLING_DATA");
  const auto net = shipped_net();
  if (!net) return failed(net.error());
  AdaptationOptions adaptation;
  adaptation.samples = options.samples;
  const auto report = report_adaptation(
      net.value(), data, adaptation, options.seeds, options.meta,
      [](const std::string& change) { std::fprintf(stderr, "starling: %s\n", change.c_str()); });
  if (!report) return bad_input("interference adapt: --data: " + report.error().message);
  std::fputs((options.json ? to_json(report.value()) : to_text(report.value())).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_adaptation(const Command& interference) {
  const auto o = std::make_shared<Options>();
  const Command metas = interference.sub(
      "meta", "learn from which prior the model adapts to changed hardware: --speed adaptive:FILE");
  metas.option("--pairs", o->pairs, "FILE", "measured pairs: columns as gavel/colocated.csv");
  metas.option("--without", o->without, "SET",
               "leave out what has to do with that campaign and GPU, e.g. 2019_raw/v100");
  metas.option("--out", o->out, "FILE", "the prior, for --speed adaptive:FILE");
  metas.option("--seed", o->meta.seed, "S", "of the draws", 0, ~0ULL);
  metas.examples(
      {"starling interference meta --pairs shared/data/gavel/colocated.csv --out shift.weights"});
  metas.action([o] { return meta(*o); });
  const Command adapts = interference.sub(
      "adapt",
      "error after a change of hardware by measured pairs: chosen at random or by what "
      "the model does not know, from the shipped model or the meta-learned prior");
  adapts.option("--data", o->data, "DIR",
                "the published data: gavel/, h100_pairs/; default $STARLING_DATA");
  adapts.option("--seeds", o->seeds, "N", "runs of each, seeds 1 to N", 1, 1000);
  adapts.option("--samples", o->samples, "N", "pairs that are measured in a run", 1, 1000);
  adapts.option("--seed", o->meta.seed, "S", "of the meta-training", 0, ~0ULL);
  adapts.flag("--json", o->json, "only JSON on stdout");
  adapts.examples({"starling interference adapt --data shared/data --seeds 10"});
  adapts.action([o] { return adapt(*o); });
}

}  // namespace starling
