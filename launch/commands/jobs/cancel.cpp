// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/visible.h"
#include "launch/client/job_lookup.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/signals.h"
#include "launch/commands/commands.h"
#include "launch/jobs/explained_job.h"
#include "launch/jobs/job_filter.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  JobFilter filter;
  bool all = false, json = false;
};

/// Jobs that are not this key's to end, and why.
using Denied = std::map<JobId, std::string>;

/// Ends them, wherever they are: what became of each. A gang that runs is drained first: politely,
/// then by force.
std::vector<JobState> end_all(Session& session, std::vector<JobState> jobs, Denied& denied) {
  const Instant until = Session::now() + std::chrono::seconds(30);
  const auto open = [&](const JobState& state) {
    return !terminal(state.phase) && !denied.contains(state.job);
  };
  while (Session::now() < until && !stop_requested() &&
         std::any_of(jobs.begin(), jobs.end(), open)) {
    for (const JobState& state : jobs) {
      if (open(state)) session.send(agent_node(state.home), Cancel{state.job});
    }
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    while (std::any_of(jobs.begin(), jobs.end(), open)) {
      const auto received = session.receive(again);
      if (!received) break;
      if (const auto* no = std::get_if<Rejected>(&received->message);
          no != nullptr && no->why == Refusal::denied)
        denied[no->job] = no->reason;
      const auto* state = std::get_if<JobState>(&received->message);
      if (state == nullptr) continue;
      for (JobState& job : jobs) {
        if (job.job != state->job || received->from != agent_node(job.home) || !open(job)) continue;
        if (state->phase == JobPhase::moved) job.home = state->home;
        if (terminal(state->phase)) job = *state;
      }
    }
  }
  return jobs;
}

/// What those that have not ended wait for, of the first few: who has a part of it and does not
/// answer.
void tell_why(FlockView& flock, const JobState& job) {
  const auto found = find_job(*flock.session, job.job);
  const auto lines = explained_job(flock, found ? found.value() : job);
  if (!lines) {
    std::fprintf(stderr, "  agent %u, its home, does not answer\n", job.home.value);
    return;
  }
  for (const std::string& line : *lines) std::fprintf(stderr, "  %s\n", visible_line(line).c_str());
}

int report(FlockView& flock, const std::vector<JobState>& jobs, const Denied& denied, bool json) {
  constexpr int kMostTold = 3;
  int status = kDone, told = 0;
  std::string objects;
  for (const JobState& state : jobs) {
    const std::string job = to_string(state.job);
    const bool over = terminal(state.phase);
    if (state.phase != JobPhase::cancelled) status = kWorkFailed;
    objects += std::string(objects.empty() ? "\n " : ",\n ") + "{\"job\": \"" + job +
               "\", \"state\": \"" + name_of(state.phase) + "\"}";
    if (const auto no = denied.find(state.job); no != denied.end()) {
      work_failed("cancel: " + no->second);
    } else if (!over) {
      work_failed("cancel: job " + job + " has not ended yet; see 'starling explain " + job + "'");
      if (++told <= kMostTold) tell_why(flock, state);
    } else if (!json) {
      std::printf("%s %s\n", job.c_str(), name_of(state.phase));
    }
  }
  if (json) std::printf("{\"schema\": 1, \"jobs\": [%s]}\n", objects.c_str());
  return status;
}

int cancel(const Options& o) {
  const Date now = std::chrono::system_clock::now();
  if (!o.all && !o.filter.any())
    return bad_input(
        "cancel: give jobs, or which ones: --user, --name, --state, --queue, --since, "
        "or --all");
  if (o.all && o.filter.any())
    return bad_input("cancel: --all, and some of them, at once; give one of both");
  if (Status right = o.filter.check(now); !right.ok())
    return bad_input("cancel: " + right.error().message);
  catch_stop_signals();
  auto view = FlockView::find(o.flock);
  if (!view) return failed(view.error());
  FlockView& flock = *view.value();
  if (Status s = flock.connect(); !s.ok()) return failed(s.error());
  Session& session = *flock.session;
  std::vector<JobState> jobs;
  std::string silent;
  if (o.filter.ids.size() == 1) {
    auto found = find_job(session, o.filter.ids.front());
    if (!found) return failed(found.error());
    jobs.push_back(found.value());
  } else {
    JobsFound found = all_jobs(session);
    silent = silence_text(found.silent);
    if (found.silent.size() == session.agents())
      return work_failed("cancel: " + silent + "; is the flock up?");
    jobs = std::move(found.jobs);
  }
  auto chosen = o.filter.choose(std::move(jobs), session.user(), now);
  if (!chosen) return failed(chosen.error());
  std::vector<JobState> open;
  int status = kDone;
  for (const JobState& state : chosen.value()) {
    if (!terminal(state.phase)) {
      open.push_back(state);
    } else if (!o.filter.ids.empty()) {  // it was named
      status = work_failed("cancel: job " + to_string(state.job) + " has already " +
                           name_of(state.phase));
    }
  }
  if (open.empty() && o.filter.ids.empty() && !o.json)
    std::fprintf(stderr, "no open job is meant\n");
  Denied denied;
  open = end_all(session, std::move(open), denied);
  if (const int ended = report(flock, open, denied, o.json); ended != kDone) status = ended;
  if (silent.empty()) return status;
  return work_failed("cancel: " + silent + "; what lives there goes on");
}

}  // namespace

void add_cancel(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("cancel", "end jobs, wherever they are");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  o->filter.add_options(command);
  command.flag("--all", o->all, "all that have not ended");
  command.flag("--json", o->json, "only JSON on stdout");
  command.rest("JOB", o->filter.ids, "ids, or how no others begin",
               [](const std::string&) { return true; });
  command.examples({"starling cancel 12ab34 56cd78", "starling cancel --user me --state waiting"});
  command.action([o] { return cancel(*o); });
}

}  // namespace starling
