// SPDX-License-Identifier: Apache-2.0
// starling_search: every order of events of a very small flock, to a depth.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "tests/search/search.h"

using namespace starling::search;

namespace {

bool run(std::uint32_t gangs, Faults faults, bool canary, const ExploreOptions& options) {
  const Setting setting(gangs, faults, canary);
  const auto begin = std::chrono::steady_clock::now();
  const SearchReport report = explore(setting, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%u gang%s of 2 jobs, depth %u from %llu state%s: %llu states, %llu steps, %llu fair runs, "
      "%.1f s%s\n",
      gangs, gangs == 1 ? "" : "s", options.depth, static_cast<unsigned long long>(report.begins),
      report.begins == 1 ? "" : "s", static_cast<unsigned long long>(report.states),
      static_cast<unsigned long long>(report.transitions),
      static_cast<unsigned long long>(report.fair_runs), took.count(),
      report.complete ? "" : ", not complete");
  std::fflush(stdout);
  if (!report.violation) return true;
  std::printf("%s\nafter:\n", report.violation->c_str());
  for (const std::string& step : report.path) std::printf("  %s\n", step.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  ExploreOptions options;
  Faults faults;
  std::uint32_t gangs = 0;
  bool canary = false, start_only = false;
  CLI::App app(
      "Two agents, two executors with one GPU each and two jobs: every order in which frames, ends,"
      " clocks and faults can come");
  app.add_option("--depth", options.depth, "steps away from where a search begins");
  app.add_option("--faults", faults.all,
                 "faults on a path: repeats, crashes, a takeover, a failure");
  app.add_option("--timeouts", faults.timeouts, "clocks that may run out on a path");
  app.add_option("--gangs", gangs,
                 "jobs that span both partitions: 1 or 2; without it both are tried");
  app.add_option("--fair-every", options.fair_every,
                 "a fair run from one new state in so many has to end; 0: from none");
  app.add_option("--states", options.states, "give up beyond that many states");
  app.add_flag("--start-only", start_only,
               "search from the first state only, not along the fair run");
  app.add_flag("--canary", canary, "a bug in the machines that has to be found");
  CLI11_PARSE(app, argc, argv);
  options.along_fair_run = !start_only;
  bool good = true;
  for (const std::uint32_t n : {1U, 2U}) {
    if (gangs == 0 || gangs == n) good = run(n, faults, canary, options) && good;
  }
  return good ? 0 : 1;
}
