// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "base/counted.h"
#include "base/short_number.h"
#include "launch/chaos/job.h"
#include "launch/chaos/live.h"
#include "launch/chaos/live_report.h"
#include "launch/chaos/scenario/fault_kinds.h"
#include "launch/chaos/scenario/load_scenario.h"
#include "launch/chaos/timeline.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/junit.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/commands.h"
#include "launch/deployment/local_flock.h"
#include "launch/system/files.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

/// As ctest and others call it when there was nothing to do here.
constexpr int kSkipped = 77;

struct Options {
  std::string scenario = "everything", state, keep_dir, page, junit;
  std::uint64_t seed = 0;
  double minutes = 0;
  std::uint32_t agents = 0, executors = 0;
  bool list = false, check = false, json = false, quiet = false;
};

/// Why a page or a verdict could not be written where it is to go, before minutes are spent on it.
std::optional<std::string> wrong_out_file(const Options& o) {
  struct Asked {
    const char* option;
    const std::string& file;
    OutKind kind;
  };
  for (const Asked& asked :
       {Asked{"--page: ", o.page, OutKind::page}, Asked{"--junit: ", o.junit, OutKind::verdicts}}) {
    if (asked.file.empty()) continue;
    if (const Status good = check_out_file(asked.file, asked.kind); !good)
      return asked.option + good.error().message;
  }
  return std::nullopt;
}

int list_all() {
  constexpr std::size_t kNames = 22;  // characters of the column; a longer name widens its row
  std::string text;
  const auto add = [&](std::string name, std::string_view what) {
    name.resize(std::max(name.size() + 1, kNames), ' ');
    text += name.append(what) + "\n";
  };
  add("scenario", "what it does");
  for (const auto& built_in : chaos_live::built_in_scenarios()) {
    const auto scenario = chaos_live::parse_scenario(built_in.text, built_in.name);
    if (!scenario) return failed(scenario.error());
    add(built_in.name, scenario.value().description);
  }
  text += "\n";
  add("fault", "what it does");
  for (const auto& facts : chaos_live::fault_kinds()) add(facts.name, facts.what);
  text += "\n";
  add("manner of jobs", "what they do");
  for (const auto& m : chaos_live::manners()) add(std::string(m.name), m.what);
  std::fputs(text.c_str(), stdout);
  return kDone;
}

void override_with(chaos_live::ChaosScenario& s, const Options& o) {
  if (o.minutes > 0) {
    // A shorter run has fewer faults.
    const double share = std::min(1.0, o.minutes * 60 / s.length);
    for (std::uint32_t* count : {&s.expect.faults, &s.expect.kills, &s.expect.takeovers})
      *count = static_cast<std::uint32_t>(*count * share * 0.8);
    s.length = o.minutes * 60;
  }
  if (!o.state.empty()) s.flock.state = o.state;
  if (o.agents > 0) s.flock.agents = o.agents;
  if (o.executors > 0) s.flock.executors = o.executors;
  s.flock.executors = std::max(s.flock.executors, s.flock.agents);
  if (s.flock.state == "etcd") return;
  s.expect.takeovers = 0;
  s.expect.takeover_median = s.expect.takeover_most = 0;
  // What needs etcd is left out without it.
  std::erase_if(s.faults, [](const chaos_live::FaultSpec& f) {
    return std::any_of(f.who.begin(), f.who.end(), [](const chaos_live::FaultTarget& t) {
      return t.kind == chaos_live::FaultTarget::Kind::etcd;
    });
  });
}

/// A command with the same plan of faults; what is hit when is drawn from the seed, what they meet
/// is the machine's.
std::string again(const Options& o, const chaos_live::ChaosScenario& s) {
  std::string command = "starling chaos live " + o.scenario + " --seed " + std::to_string(s.seed) +
                        " --minutes " + short_number(s.length / 60);
  if (!o.state.empty()) command += " --state " + o.state;
  if (o.agents > 0) command += " --agents " + std::to_string(o.agents);
  if (o.executors > 0) command += " --executors " + std::to_string(o.executors);
  return command;
}

int say_right(const std::string& name, const chaos_live::ChaosScenario& scenario) {
  std::set<std::uint32_t> gpus(scenario.load.gpus.begin(), scenario.load.gpus.end());
  std::string workers;
  for (const std::uint32_t n : gpus) workers += (workers.empty() ? "" : ", ") + std::to_string(n);
  std::printf("%s: right: %s of faults, %s; workers of %s GPUs on servers of %s\n", name.c_str(),
              counted(scenario.faults.size(), "entry", "entries").c_str(),
              human_seconds(scenario.length).c_str(), workers.c_str(),
              counted(scenario.flock.gpus, "GPU").c_str());
  return kDone;
}

/// As JUnit.
std::string verdict_of(const std::string& name, const chaos_live::LiveReport& r) {
  JunitCase one{name, r.wall_s, "", ""};
  for (const chaos_live::Violation& v : r.violations) {
    if (one.rule.empty()) one.rule = v.rule;
    one.message += "rule '" + v.rule + "': " + v.message + "\n";
  }
  return junit_xml("starling chaos live", {one});
}

int chaos_live_run(const Options& o, bool seed_given) {
  if (o.list) return list_all();
  if (!o.state.empty() && o.state != "sqlite" && o.state != "etcd")
    return bad_input("chaos live: --state: '" + o.state + "' is wrong; give sqlite or etcd");
  if (const auto wrong = wrong_out_file(o)) return bad_input("chaos live: " + *wrong);
  auto read = chaos_live::load_scenario(o.scenario);
  if (!read) return failed(read.error());
  chaos_live::ChaosScenario& scenario = read.value();
  for (const std::string& note : scenario.notes) std::fprintf(stderr, "%s\n", note.c_str());
  if (o.check) return say_right(o.scenario, scenario);
  override_with(scenario, o);
  if (seed_given) scenario.seed = o.seed;
  if (scenario.flock.hosts == "namespaces") {
    if (const std::string why = chaos_live::Namespaces::missing(); !why.empty()) {
      std::fprintf(stderr, "starling: %s: skipped: %s\n", scenario.name.c_str(), why.c_str());
      return kSkipped;
    }
  }
  chaos_live::ChaosLiveOptions options;
  options.quiet = o.quiet || o.json;
  const bool temporary = o.keep_dir.empty();
  if (temporary) {
    auto dir = temporary_dir();
    if (!dir) return failed(dir.error());
    options.dir = dir.value();
  } else {
    options.dir = o.keep_dir;
    std::error_code ignored;
    if (std::filesystem::exists(options.dir, ignored) &&
        !std::filesystem::is_empty(options.dir, ignored))
      return bad_input("chaos live: --keep-dir: " + o.keep_dir + " is not empty; give a new one");
  }
  catch_stop_signals();
  auto report = chaos_live::run_chaos_live(scenario, options);
  if (!report && report.error().code == Errc::unsupported) {
    std::error_code ignored;
    if (temporary) std::filesystem::remove_all(options.dir, ignored);
    std::fprintf(stderr, "starling: skipped: %s\n", report.error().message.c_str());
    return kSkipped;
  }
  if (!report) return work_failed("chaos live: " + report.error().message);
  report.value().again = again(o, scenario);
  const chaos_live::LiveReport& r = report.value();
  std::fputs((o.json ? report_json(r) : report_text(r)).c_str(), stdout);
  std::fflush(stdout);
  const bool keep = !temporary || !r.good();
  const std::filesystem::path page = !o.page.empty() ? std::filesystem::path(o.page)
                                     : keep          ? options.dir / "report.html"
                                                     : std::filesystem::path();
  if (!page.empty()) {
    if (const Status s = write_text(page, chaos_live::report_page(r)); !s.ok())
      return failed(s.error());
    if (!o.quiet) std::fprintf(stderr, "starling: the page is %s\n", page.c_str());
  }
  if (keep) {
    const Status s = write_text(options.dir / "report.json", report_json(r));
    if (!s.ok()) return failed(s.error());
    const Status line = write_text(options.dir / "timeline.txt", chaos_live::timeline(r));
    if (!line.ok()) return failed(line.error());
    std::fprintf(stderr, "starling: logs, journals and records are kept in %s\n",
                 options.dir.c_str());
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(options.dir, ignored);
  }
  if (!o.junit.empty()) {
    if (const Status s = write_text(o.junit, verdict_of(scenario.name, r)); !s.ok())
      return failed(s.error());
  }
  return r.good() ? kDone : kWorkFailed;
}

void add_job(const Command& chaos) {
  struct JobOptions {
    std::string dir;
    double seconds = 1;
    std::string manner = "plain";
  };
  const auto o = std::make_shared<JobOptions>();
  const Command job = chaos.sub("job", "what 'chaos live' runs as jobs: locks its GPUs and sleeps");
  job.option("--dir", o->dir, "DIR", "where locks and records are");
  job.option("--seconds", o->seconds, "S", "how long it sleeps (default 1)", 0.0, true);
  job.option("--manner", o->manner, "NAME", "how it behaves (default plain)");
  job.action([o] {
    if (o->dir.empty()) return bad_input("chaos job: --dir DIR is missing; 'chaos live' gives it");
    const auto manner = chaos_live::manner_named(o->manner);
    if (!manner)
      return bad_input("chaos job: --manner: '" + o->manner + "' is none; see chaos live --list");
    return chaos_live::run_chaos_job(o->dir, o->seconds, *manner);
  });
}

}  // namespace

void add_chaos_live(const Command& chaos) {
  const auto o = std::make_shared<Options>();
  const Command live =
      chaos.sub("live", "faults on real processes of this machine, every job audited");
  live.positional("SCENARIO", o->scenario,
                  "a .yaml file (docs/chaos.md), or a name that --list shows (default everything)",
                  false);
  live.option("--seed", o->seed, "S", "of what is drawn (default: the scenario's)",
              std::uint64_t{0}, std::uint64_t{1} << 32U);
  live.option("--minutes", o->minutes, "M", "of faults (default: the scenario's)", 0.0);
  live.option("--agents", o->agents, "N", "default: the scenario's", 1U, 64U);
  live.option("--executors", o->executors, "M", "default: the scenario's", 1U, 256U);
  live.option("--state", o->state, "sqlite|etcd",
              "where the agents' journals are; etcd: three members are started");
  live.option(
      "--keep-dir", o->keep_dir, "DIR",
      "keeps logs, journals and records there (without it: only where something was wrong)");
  live.option("--page", o->page, "FILE.html", "a page with faults, takeovers and jobs over time");
  live.option("--junit", o->junit, "FILE.xml", "the verdict, as CI systems read it");
  live.flag("--list", o->list, "the scenarios that the program carries, and the faults there are");
  live.flag("--check", o->check, "only whether the scenario is right");
  live.flag("--json", o->json, "only JSON on stdout");
  live.flag("-q,--quiet", o->quiet, "no progress on stderr");
  live.examples({"starling chaos live kill-storm --state etcd --minutes 5",
                 "starling chaos live --seed 7 --page chaos.html",
                 "starling chaos live my-faults.yaml --keep-dir out"});
  live.action([o, live] { return chaos_live_run(*o, live.given("--seed")); });
  add_job(chaos);
}

}  // namespace starling
