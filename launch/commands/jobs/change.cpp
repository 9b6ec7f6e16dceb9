// SPDX-License-Identifier: Apache-2.0
// hold, release and requeue: three commands of one form.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/jobs/job_filter.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  JobFilter filter;
  bool hold = false, json = false;
};

/// Those that are meant, of the open ones; who did not answer is named.
Result<std::vector<JobState>> meant(FlockClient& flock, const JobFilter& filter, Date now) {
  std::vector<JobState> all;
  if (filter.ids.size() == 1) {
    auto found = flock.jobs_named(filter.ids.front());
    if (!found) return found.error();
    all = std::move(found).value();
  } else {
    auto found = flock.jobs();
    if (!found) return found.error();
    all = std::move(found.value().jobs);
  }
  auto chosen = filter.choose(std::move(all), flock.user(), now);
  if (chosen && filter.ids.empty())
    std::erase_if(chosen.value(), [](const JobState& state) { return terminal(state.phase); });
  return chosen;
}

int report(const std::vector<ChangedJob>& jobs, JobChange change, bool json) {
  const std::string word = name_of(change);
  int status = kDone;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ChangedJob& job : jobs) {
    const std::string id = to_string(job.state.job);
    nlohmann::ordered_json one{{"job", id}, {"done", job.done}, {"state", state_name(job.state)}};
    if (!job.refused.empty()) {
      status = work_failed(word + ": " + job.refused);
      one["refused"] = job.refused;
    } else if (!job.done) {
      status = work_failed(word + ": agent-" + std::to_string(job.state.home.value) +
                           " has not answered about job " + id + "; try again");
    } else if (!json) {
      std::printf("%s %s\n", id.c_str(), state_name(job.state));
    }
    list.push_back(std::move(one));
  }
  if (json)
    std::printf("%s\n", nlohmann::ordered_json{{"schema", 1}, {"jobs", list}}.dump(1).c_str());
  return status;
}

int change(const Options& o, JobChange what) {
  const std::string word = name_of(what);
  const Date now = std::chrono::system_clock::now();
  if (!o.filter.any())
    return bad_input(word +
                     ": give jobs, or which ones: --user, --name, --state, --queue, --since");
  if (Status right = o.filter.check(now); !right.ok())
    return bad_input(word + ": " + right.error().message);
  catch_stop_signals();
  if (what == JobChange::requeue || what == JobChange::requeue_hold) outlive_stop_of_job();
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  auto jobs = meant(flock, o.filter, now);
  if (!jobs) return failed({jobs.error().code, word + ": " + jobs.error().message});
  if (jobs.value().empty() && !o.json) std::fprintf(stderr, "no open job is meant\n");
  const auto changed = flock.change(std::move(jobs).value(), what);
  if (!changed) return failed(changed.error());
  return report(changed.value(), what, o.json);
}

std::shared_ptr<Options> add(const Command& command) {
  auto o = std::make_shared<Options>();
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  o->filter.add_options(command);
  command.flag("--json", o->json, "only JSON on stdout");
  command.rest("JOB", o->filter.ids, "ids, or how no others begin; an array's is all its tasks",
               [](const std::string&) { return true; });
  return o;
}

}  // namespace

void add_hold(const Command& root) {
  const Command command = root.sub("hold", "keep jobs that wait from starting");
  const auto o = add(command);
  command.examples({"starling hold 12ab34", "starling hold --user me --state waiting"});
  command.action([o] { return change(*o, JobChange::hold); });
}

void add_release(const Command& root) {
  const Command command = root.sub("release", "let jobs start that are held");
  const auto o = add(command);
  command.examples({"starling release 12ab34", "starling release --user me --state held"});
  command.action([o] { return change(*o, JobChange::release); });
}

void add_requeue(const Command& root) {
  const Command command = root.sub("requeue", "stop jobs that run, and start them anew");
  const auto o = add(command);
  command.flag("--hold", o->hold, "and hold them before they start");
  command.examples({"starling requeue 12ab34", "starling requeue --hold 12ab34"});
  command.action(
      [o] { return change(*o, o->hold ? JobChange::requeue_hold : JobChange::requeue); });
}

}  // namespace starling
