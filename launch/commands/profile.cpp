// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "interference/profile/profiled_pairs.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/launchers/cpu_pool.h"
#include "launch/profile/campaign.h"
#include "launch/profile/cpu_load.h"
#include "launch/profile/cpu_topology.h"
#include "launch/runs/show_profile.h"
#include "launch/system/files.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string workloads, cores, device = "auto", campaign = "profile", hardware;
  std::string out = "profile.csv";
  std::uint32_t repeats = 9, again = 1;
  std::uint64_t seed = 1;
  double seconds = 0.4, patience = 2, rest = 0;
  bool quick = false, resume = false, noisy = false, hold = false, json = false, quiet = false;
  std::function<bool(const std::string&)> given;
};

/// What a GPU is measured with: two cores, so that it is the GPU that is shared.
std::optional<CorePlace> gpu_place(const std::vector<CpuInfo>& cpus) {
  const auto other = std::find_if(
      cpus.begin(), cpus.end(), [&](const CpuInfo& cpu) { return cpu.core != cpus.front().core; });
  if (other == cpus.end()) return std::nullopt;
  return CorePlace{ProfileRelation::same_gpu, cpus.front().number, other->number};
}

Result<std::vector<int>> chosen_cores(const std::string& text) {
  const std::vector<int> allowed = allowed_cpus();
  if (text.empty()) return allowed;
  auto cores = parse_cores(text);
  if (!cores) return Error{Errc::invalid, "--cores: " + cores.error().message};
  for (const int core : cores.value()) {
    if (std::find(allowed.begin(), allowed.end(), core) != allowed.end()) continue;
    std::string list;
    for (const int cpu : allowed) list += (list.empty() ? "" : ",") + std::to_string(cpu);
    return Error{Errc::invalid, "--cores: there is no core " + std::to_string(core) +
                                    " that this process may use; it may use " + list};
  }
  return cores;
}

Result<ProfilePlan> plan_of(const Options& o, const std::string& program) {
  ProfilePlan plan;
  auto workloads = parse_workloads(o.workloads, o.quick);
  if (!workloads) return Error{Errc::invalid, "--workloads: " + workloads.error().message};
  plan.workloads = std::move(workloads.value());
  plan.repeats = o.repeats;
  plan.seed = o.seed;
  const auto cores = chosen_cores(o.cores);
  if (!cores) return cores.error();
  if (o.device != "auto" && o.device != "cpu" && o.device != "gpu")
    return Error{Errc::invalid, "--device: '" + o.device + "' is wrong, give auto, cpu or gpu"};
  const auto probe = probe_worker(program);
  if (!probe) return probe.error();
  const auto cpus = read_cpu_topology("/sys/devices/system/cpu", cores.value());
  if (o.device != "gpu") plan.places = places_of(cpus);
  if (o.device == "cpu" || (o.device == "auto" && !probe.value().gpu)) return plan;
  if (!probe.value().gpu) {
    return Error{Errc::unsupported, "--device gpu: this libtorch (" + probe.value().torch +
                                        ") sees no GPU: it was built without CUDA, or there is "
                                        "none; measure with --device cpu"};
  }
  const auto place = gpu_place(cpus);
  if (!place) return Error{Errc::invalid, "--device gpu: needs two cores; give --cores another"};
  plan.places.push_back(*place);
  return plan;
}

/// Others' load on the cores of the plan in one second before anything is started.
Status check_quiet(const ProfilePlan& plan, bool noisy) {
  std::vector<int> cores;
  std::string names;
  for (const CorePlace& place : plan.places) {
    for (const int core : {place.core_a, place.core_b}) {
      if (std::find(cores.begin(), cores.end(), core) != cores.end()) continue;
      cores.push_back(core);
      names += (names.empty() ? "" : ",") + std::to_string(core);
    }
  }
  const auto before = read_cpu_ticks();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const CpuShares shares = cpu_shares(before, read_cpu_ticks(), cores);
  const double busy = other_load(shares, cores.size(), 0);
  if (busy <= kDisturbedAbove) return done();
  const std::string what =
      "cores " + names + " are " + percent(busy) + " busy with other work" +
      (shares.stolen > 0.02 ? " (" + percent(shares.stolen) + " taken by the hypervisor)" : "");
  if (!noisy) {
    return {Errc::busy, what +
                            "; measure when they are idle, give other --cores, or --noisy to "
                            "measure all the same, with what was disturbed marked"};
  }
  std::fprintf(stderr, "starling: %s; rows that this disturbs are marked noisy\n", what.c_str());
  return done();
}

std::string default_hardware(std::size_t cpus) {
  const auto text = read_text("/proc/cpuinfo");
  return hardware_name(text ? text.value() : "", cpus);
}

int profile(Options o) {
  if (o.quick) {
    if (!o.given("--repeats")) o.repeats = 6;
    if (!o.given("--seconds")) o.seconds = 0.1;
  }
  if (o.hold && !o.given("--patience")) o.patience = 0;  // others are there, and do not matter
  if (o.seconds > 60) return bad_input("profile: --seconds: a window has at most 60 seconds");
  if (const Status ok = check_out_file(o.out, OutKind::pairs); !ok)
    return bad_input("profile: --out: " + ok.error().message);
  const auto program = find_worker_program();
  if (!program) return bad_input("profile: " + program.error().message);
  const auto plan = plan_of(o, program.value());
  if (!plan) return failed({plan.error().code, "profile: " + plan.error().message});
  if (o.hardware.empty()) o.hardware = default_hardware(allowed_cpus().size());

  CampaignOptions options;
  options.samples_file = o.out + ".partial";
  options.mark = samples_mark(plan.value(), o.hardware, o.seconds);
  options.resume = o.resume;
  options.again = o.again;
  catch_stop_signals();
  options.stop = [] { return stop_requested(); };
  if (o.resume && !std::filesystem::exists(options.samples_file))
    return bad_input("profile: --resume: there is no " + options.samples_file + " to go on with");
  if (const Status ok = check_quiet(plan.value(), o.noisy); !ok)
    return work_failed("profile: " + ok.error().message);

  ProgressBar bar("profile", o.quiet);
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t first = UINT64_MAX;
  options.progress = [&](std::uint64_t now, std::uint64_t total) {
    if (first == UINT64_MAX) first = now;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    std::string left;
    if (now > first) {
      const double each = spent.count() / static_cast<double>(now - first);
      left = human_seconds(each * static_cast<double>(total - now)) + " left";
    }
    bar.update(now, total, left);
  };
  MachineBench bench(plan.value(),
                     {program.value(), o.seconds, o.patience, o.hold, o.rest, options.stop});
  const auto samples = run_campaign(plan.value(), options, bench);
  bar.finish();
  if (!samples) {
    Error error = samples.error();
    const bool broke_off = error.code == Errc::busy || error.code == Errc::io;
    std::error_code none;
    if (broke_off && std::filesystem::exists(options.samples_file, none)) {
      error.message += "; what was measured is in " + options.samples_file +
                       ", and the same command with --resume goes on with it";
    }
    if (error.code == Errc::conflict) error.code = Errc::invalid;  // the user can mend it
    return failed({error.code, "profile: " + error.message});
  }
  const std::vector<ProfiledPair> rows = profiled_pairs(plan.value(), samples.value());
  if (const Status ok = write_text(o.out, profiled_pairs_csv(rows, o.campaign, o.hardware)); !ok)
    return work_failed("profile: " + ok.error().message);
  std::error_code ignored;
  std::filesystem::remove(options.samples_file, ignored);
  std::fputs((o.json ? profile_json(rows, o.campaign, o.hardware, o.out)
                     : profile_text(plan.value(), rows, o.out))
                 .c_str(),
             stdout);
  return kDone;
}

}  // namespace

void add_profile(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub(
      "profile", "measure how training steps slow each other down on this machine, in pairs");
  command.option("--out,-o", o->out, "FILE", "table of pairs, CSV; default profile.csv");
  command.option("--workloads", o->workloads, "LIST",
                 "dense, embedding, stream, cache, network; also with a batch size, dense:64; "
                 "default all, with two batch sizes each");
  command.option("--cores", o->cores, "LIST", "0,1 or 0-3: measure on these; default all");
  command.option("--device", o->device, "WHERE",
                 "cpu, gpu, or auto: the CPU, and a GPU if libtorch sees one");
  command.option("--repeats", o->repeats, "N",
                 "of every pair, in random order; 6 or more give 95 % intervals; default 9", 1,
                 1000);
  command.option("--seconds", o->seconds, "X", "length of a window, three to a visit; default 0.4",
                 0.01, true);
  command.flag("--quick", o->quick, "one batch size each, 6 repeats of 0.1 s");
  command.flag("--noisy", o->noisy, "measure though the cores are busy with other work");
  command.option("--patience", o->patience, "S",
                 "seconds to wait at most, before a visit, until others leave the cores; default 2",
                 0, true);
  command.flag("--hold", o->hold,
               "for a machine that others use: take precedence over them, and keep them off a core "
               "while its workload waits; needs root");
  command.option("--rest", o->rest, "S", "seconds left to others after every visit; default 0", 0,
                 true);
  command.option("--again", o->again, "N",
                 "passes over what was disturbed, once all is measured; default 1", 0, 100);
  command.flag("--resume", o->resume, "go on with the FILE.partial that an interrupted run left");
  command.option("--campaign", o->campaign, "NAME", "first column of the table");
  command.option("--hardware", o->hardware, "NAME",
                 "name of this machine in the table; default from the processor's");
  command.option("--seed", o->seed, "S", "order of measuring, weights and data", 0, UINT64_MAX);
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("--quiet", o->quiet, "no progress");
  command.examples(
      {"starling profile --quick", "starling profile --workloads dense,cache:4 --cores 0,1",
       "starling profile --repeats 25 --seconds 0.2 --noisy --hold --rest 1 -o pairs.csv"});
  o->given = [command](const std::string& name) { return command.given(name); };
  command.action([o] { return profile(*o); });
}

}  // namespace starling
