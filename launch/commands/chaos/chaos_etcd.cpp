// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/command_line/seed_pool.h"
#include "launch/commands/commands.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"
#include "sim/hosting/hosting_world.h"

namespace starling {
namespace {

using nlohmann::json;

struct Options {
  std::uint32_t seeds = 100, minutes = 5, processes = 1;
  std::uint64_t first_seed = 1;
  bool as_json = false, quiet = false;
};

std::string to_text(const HostingRun& run) {
  return json{{"seed", run.seed},
              {"hours", run.simulated_s / 3600},
              {"takeovers", run.takeovers},
              {"writes", run.writes},
              {"large", run.large},
              {"faults", run.faults},
              {"takeover_s", run.takeover_s},
              {"rule", run.rule},
              {"wrong", run.wrong}}
      .dump();
}

struct Report {
  std::uint64_t seeds = 0, takeovers = 0, writes = 0, large = 0;
  double hours = 0;
  std::map<std::string, std::uint64_t> faults;
  std::vector<double> takeover_s;
  json failing = json::array();

  void add(const json& run) {
    ++seeds;
    takeovers += run.at("takeovers").get<std::uint64_t>();
    writes += run.at("writes").get<std::uint64_t>();
    large += run.at("large").get<bool>() ? 1 : 0;
    hours += run.at("hours").get<double>();
    for (const auto& [kind, count] : run.at("faults").items())
      faults[kind] += count.get<std::uint64_t>();
    if (run.at("rule").get<std::string>().empty())
      takeover_s.push_back(run.at("takeover_s").get<double>());
    else
      fail(run.at("seed"), run.at("rule"), run.at("wrong"));
  }
  void fail(std::uint64_t seed, const std::string& rule, const std::string& wrong) {
    failing.push_back(
        {{"seed", seed},
         {"rule", rule},
         {"message", wrong},
         {"reproduce", "starling chaos etcd --seeds 1 --first-seed " + std::to_string(seed)}});
  }
};

void print(const Report& report) {
  std::printf("%s, %.1f simulated hours, %s with a journal longer to read than a lease\n",
              amount(report.seeds, "seed").c_str(), report.hours,
              with_commas(report.large).c_str());
  std::printf("%s, %s\n", amount(report.takeovers, "takeover").c_str(),
              amount(report.writes, "write").c_str());
  for (const auto& [kind, count] : report.faults)
    std::printf("  %-32s %12s\n", kind.c_str(), with_commas(count).c_str());
  if (!report.takeover_s.empty()) {
    std::vector<double> took = report.takeover_s;
    std::sort(took.begin(), took.end());
    std::printf("  kill to served by another: p50 %.1f s, most %.1f s (%s times)\n",
                took[took.size() / 2], took.back(), with_commas(took.size()).c_str());
  }
  std::printf("%s\n", amount(report.failing.size(), "failure").c_str());
  for (const json& f : report.failing) {
    std::printf("  %s %s\n    %s\n", f.at("rule").get<std::string>().c_str(),
                f.at("message").get<std::string>().c_str(),
                f.at("reproduce").get<std::string>().c_str());
  }
}

int chaos_etcd(const Options& o) {
  ProgressBar progress("seeds", o.quiet);
  Report report;
  SeedPool pool;
  pool.processes = o.processes;
  pool.work = [&](std::uint64_t seed) {
    return to_text(HostingWorld(seed, std::chrono::minutes(o.minutes)).run());
  };
  const auto one_more = [&] {
    progress.update(report.seeds, o.seeds, std::to_string(report.failing.size()) + " failed");
  };
  pool.done = [&](std::uint64_t, const std::string& text, double) {
    report.add(json::parse(text));
    one_more();
  };
  pool.died = [&](std::uint64_t seed, const std::string& how, double) {
    ++report.seeds;
    report.fail(seed, "abort", "the program " + how);
    one_more();
  };
  const Status ran = pool.run(o.first_seed, o.seeds);
  if (!ran.ok()) return failed(ran.error());
  progress.finish();
  if (o.as_json) {
    const json out{{"schema", 1},
                   {"seeds", report.seeds},
                   {"simulated_hours", report.hours},
                   {"large_journals", report.large},
                   {"takeovers", report.takeovers},
                   {"writes", report.writes},
                   {"faults", report.faults},
                   {"failures", report.failing}};
    std::printf("%s\n", out.dump(1, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    print(report);
  }
  return report.failing.empty() ? kDone : kWorkFailed;
}

}  // namespace

void add_chaos_etcd(const Command& chaos) {
  const auto o = std::make_shared<Options>();
  const Command etcd = chaos.sub(
      "etcd", "which agent serves what with state in etcd: leases, takeovers, journals, simulated");
  etcd.option("--seeds", o->seeds, "N", "so many runs (default 100)", 1U, 100'000'000U);
  etcd.option("--first-seed", o->first_seed, "S", "default 1", std::uint64_t{0},
              std::uint64_t{1} << 60U);
  etcd.option("--minutes", o->minutes, "M", "simulated minutes of faults per seed (default 5)", 1U,
              10'000U);
  etcd.option("--jobs", o->processes, "N", "seeds at a time (default 1)", 1U, 1024U);
  etcd.flag("--json", o->as_json, "only JSON on stdout");
  etcd.flag("-q,--quiet", o->quiet, "no progress on stderr");
  etcd.examples({"starling chaos etcd --seeds 200 --jobs 2",
                 "starling chaos etcd --seeds 1 --first-seed 17"});
  etcd.action([o] { return chaos_etcd(*o); });
}

}  // namespace starling
