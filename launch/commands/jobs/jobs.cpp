// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "base/visible.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/hosts/keeper.h"
#include "launch/jobs/job_filter.h"
#include "launch/jobs/job_table.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  JobFilter filter;
  bool json = false, csv = false, waiting = false, tasks = false;
};

int list(Options o) {
  if (o.json && o.csv) return bad_input("jobs: --json and --csv exclude each other");
  if (o.waiting && !o.filter.states.empty())
    return bad_input("jobs: --waiting is --state waiting; give one of them");
  if (o.waiting) o.filter.states = name_of(JobPhase::waiting);
  const Date now = std::chrono::system_clock::now();
  if (const auto right = o.filter.check(now); !right.ok())
    return bad_input("jobs: " + right.error().message);
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  for (const std::string& line : daemon_troubles(flock.deployment().dir))
    std::fprintf(stderr, "starling: %s\n", visible_line(line).c_str());
  auto all = flock.jobs();
  if (!all) return failed({all.error().code, "jobs: " + all.error().message});
  const auto chosen = o.filter.choose(std::move(all.value().jobs), flock.user(), now);
  if (!chosen) return failed(chosen.error());
  std::vector<ListedJob> jobs;
  for (const JobState& state : chosen.value()) {
    const AgentId host = flock.host_of(state.home);
    jobs.push_back({state, "agent-" + std::to_string(host.value)});
  }
  const std::vector<AgentId>& silent = all.value().silent;
  const JobTable table{flock.topology(), now, o.tasks};
  std::fputs((o.json  ? table.json(jobs, silent) + "\n"
              : o.csv ? table.csv(jobs)
                      : table.text(jobs))
                 .c_str(),
             stdout);
  if (silent.empty()) return kDone;
  return work_failed("jobs: " + silence_text(silent) + "; what lives there is missing here");
}

}  // namespace

void add_jobs(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("jobs", "the jobs of a flock, the newest last");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  o->filter.add_options(command);
  command.option("--last", o->filter.last, "N", "only the newest so many", 1U, 1U << 30U);
  command.flag("--waiting", o->waiting, "only those that wait");
  command.flag("--tasks", o->tasks, "each task of an array on a line of its own");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("--csv", o->csv, "all that is known, as CSV");
  command.rest("JOB", o->filter.ids, "only these: ids, or how no others begin",
               [](const std::string&) { return true; });
  command.examples({"starling jobs --user me --state open", "starling jobs --since 1d --csv",
                    "starling jobs --name 'train-*' --last 10"});
  command.action([o] { return list(*o); });
}

}  // namespace starling
