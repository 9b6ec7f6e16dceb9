// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/runs/pack_output.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "topology/file/load.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

struct Options {
  std::string nodes, pods, out, plot;
  std::string policy = "fgd", order = "file";
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;
  double inflate = 0;
  bool departures = false, json = false, quiet = false;
};

double seconds_since(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

/// "fgd,random" or "all".
Result<std::vector<std::string>> read_policies(const std::string& text) {
  const std::vector<std::string> known = pack_policy_names();
  if (text == "all") return known;
  std::vector<std::string> names;
  std::size_t from = 0;
  for (;;) {
    const std::size_t comma = text.find(',', from);
    const std::string name = text.substr(from, comma - from);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto meant = nearest(name, known);
      std::string there;
      for (const std::string& k : known) there += (there.empty() ? "" : ", ") + k;
      return {Errc::invalid, "--policy: '" + name + "' is none" +
                                 (meant ? "; did you mean '" + *meant + "'" : "") + "; there are " +
                                 there + ", and all"};
    }
    if (std::find(names.begin(), names.end(), name) != names.end())
      return {Errc::invalid, "--policy: '" + name + "' is named twice; name it once"};
    names.push_back(name);
    if (comma == std::string::npos) return names;
    from = comma + 1;
  }
}

constexpr double kInflateMax = 100;  ///< of all GPUs; each pod is a row in memory

Status check(const Options& o) {
  if (o.nodes.empty()) return {Errc::invalid, "--nodes FILE is missing"};
  if (o.pods.empty()) return {Errc::invalid, "--pods FILE is missing"};
  if (o.order != "file" && o.order != "shuffle")
    return {Errc::invalid, "--order: '" + o.order + "' is none; give file or shuffle"};
  if (o.inflate > kInflateMax)
    return {Errc::invalid, "--inflate: give a number above 0 and at most 100"};
  if (o.departures && (o.inflate > 0 || o.order == "shuffle")) {
    return {Errc::invalid,
            "--departures follows the times of the file; leave --inflate and --order shuffle away"};
  }
  if (!o.plot.empty() && std::filesystem::path(o.plot).extension() != ".svg")
    return {Errc::invalid, "--plot: the picture is an SVG; '" + o.plot + "' must end in .svg"};
  if (!o.out.empty()) {
    if (Status good = check_out_file(o.out, OutKind::placed); !good)
      return {good.error().code, "--out: " + good.error().message};
  }
  if (!o.plot.empty()) {
    if (Status good = check_out_file(o.plot, OutKind::picture); !good)
      return {good.error().code, "--plot: " + good.error().message};
  }
  return done();
}

struct Input {
  ClusterSpec cluster;
  PodList pods;
};

Result<Input> read_input(const Options& o) {
  const auto topology = load_topology(o.nodes);
  if (!topology) return topology.error();
  auto cluster = cluster_spec(topology.value());
  if (!cluster) return Error{cluster.error().code, o.nodes + ": " + cluster.error().message};
  auto pods = read_pods(o.pods);
  if (!pods) {
    std::error_code ignored;
    const bool missing = !std::filesystem::exists(o.pods, ignored);
    return Error{
        pods.error().code,
        pods.error().message + (missing ? "; give openb's list of pods in CSV, plain or .gz" : "")};
  }
  Input input{std::move(cluster).value(), std::move(pods).value()};
  if (o.jobs > 0 && o.jobs < input.pods.pods.size()) input.pods.pods.resize(o.jobs);
  if (o.departures && !input.pods.timed) {
    return {Errc::invalid, o.pods +
                               ":1: --departures needs the columns creation_time and "
                               "deletion_time; give a list that has them"};
  }
  return input;
}

Result<std::vector<PackStep>> steps_of(const Options& o, const Input& input, const Rng& rng) {
  const std::vector<Pod>& pods = input.pods.pods;
  std::vector<PackStep> steps;
  if (o.departures) {
    steps = pack_lifetimes(pods);
  } else {
    auto made = pack_arrivals(pods, input.cluster.gpu_milli(),
                              {.shuffle = o.order == "shuffle", .inflate = o.inflate}, rng.fork(1));
    if (!made) return Error{made.error().code, o.pods + ": " + made.error().message};
    steps = std::move(made).value();
  }
  if (steps.empty())
    return {Errc::invalid, o.pods +
                               ": no pod comes; give pods that are deleted after they are "
                               "created, or a larger --inflate"};
  return steps;
}

int write_outputs(const Options& o, const PackInput& input, const std::vector<PackRun>& runs) {
  if (!o.out.empty()) {
    if (Status s = write_text_file(o.out, pack_csv(input, runs)); !s) return failed(s.error());
  }
  if (!o.plot.empty()) {
    if (Status s = write_text(o.plot, pack_svg(input, runs)); !s) return failed(s.error());
  }
  std::fputs((o.json ? pack_json(input, runs) : pack_table(input, runs)).c_str(), stdout);
  return kDone;
}

int pack_pods(const Options& o) {
  const std::string where = "pack: ";
  if (Status good = check(o); !good) return bad_input(where + good.error().message);
  const auto policies = read_policies(o.policy);
  if (!policies) return bad_input(where + policies.error().message);
  const auto began = std::chrono::steady_clock::now();
  const auto read = read_input(o);
  if (!read) return bad_input(read.error().message);
  const Input& input = read.value();
  const double read_s = seconds_since(began);

  const Demands demands = find_demands(input.pods.pods, input.cluster);
  if (demands.all.size() > Packer::kScoresMost / input.cluster.nodes.size()) {
    return bad_input(o.pods + ": the pods make " + with_commas(demands.all.size()) +
                     " different demands; with " + with_commas(input.cluster.nodes.size()) +
                     " nodes give at most " +
                     with_commas(Packer::kScoresMost / input.cluster.nodes.size()));
  }
  for (const std::string& model : demands.nowhere)
    std::fprintf(stderr, "note: gpu_spec '%s' is on no node of %s\n", model.c_str(),
                 o.nodes.c_str());
  const Fragmentation measure(typical_demands(input.pods.pods, input.cluster),
                              input.pods.pods.size());
  const Rng rng(o.seed);
  const auto steps = steps_of(o, input, rng);
  if (!steps) return failed(steps.error());

  std::vector<PackRun> runs;
  ProgressBar progress("pods", o.quiet);
  const std::size_t total = steps.value().size() * policies.value().size();
  for (const std::string& name : policies.value()) {
    const std::size_t before = runs.size() * steps.value().size();
    const auto start = std::chrono::steady_clock::now();
    Packer packer(input.cluster, demands, measure, make_pack_policy(name, input.cluster, measure),
                  rng.fork(2));
    auto events = pack(packer, demands, steps.value(), [&](std::size_t steps_done) {
      progress.update(before + steps_done, total, name);
    });
    runs.push_back({name, std::move(events), seconds_since(start)});
  }
  progress.finish();
  const std::string order = o.departures ? "lifetimes" : o.order;
  return write_outputs(o,
                       {std::filesystem::path(o.nodes).filename().string(), input.pods.name, order,
                        input.cluster, input.pods.pods, measure, o.seed, o.inflate, read_s},
                       runs);
}

}  // namespace

void add_pack(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("pack", "pods that share GPUs, placed one after another; how fragmented it gets");
  command.option("--nodes", o->nodes, "FILE", "servers: openb's node list, or any data centre");
  command.option("--pods", o->pods, "FILE", "openb's list of pods, CSV or .csv.gz");
  command.option("--policy", o->policy, "NAME[,NAME..]",
                 "fgd (default), best-fit, dot-product, gpu-packing, gpu-clustering, random, "
                 "worst-fit, or all");
  command.option("--jobs", o->jobs, "N", "only the first N pods of the file", 1U, 10'000'000U);
  command.option("--order", o->order, "file|shuffle", "in which pods come (default file)");
  command.option("--inflate", o->inflate, "X",
                 "pods drawn from the list are added, or its end left out, until X times all GPUs "
                 "are asked for",
                 0.0);
  command.flag("--departures", o->departures,
               "pods come and leave at the file's times; default: none leaves");
  command.option("--seed", o->seed, "S", "of the order and of ties (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  command.option("-o,--out", o->out, "FILE.csv", "a row an event; compressed if it ends in .gz");
  command.option("--plot", o->plot, "FILE.svg", "curves of what is not allocated and fragmented");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("-q,--quiet", o->quiet, "no progress on stderr");
  command.examples(
      {"starling pack --nodes openb_node_list_all_node.csv --pods openb_pod_list_default.csv.gz "
       "--jobs 3255 --out events.csv",
       "starling pack --nodes openb_node_list_all_node.csv --pods openb_pod_list_default.csv.gz "
       "--order shuffle --inflate 1.3 --policy all --plot openb.svg"});
  command.action([o] { return pack_pods(*o); });
}

}  // namespace starling
