// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/visible.h"
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
  bool all = false, json = false;
};

/// What those that have not ended wait for, of the first few: what has a part of it and does not
/// answer.
void tell_why(FlockClient& flock, const JobState& job) {
  const auto found = flock.job(job.job);
  const auto why = flock.explain(found ? found.value() : job);
  if (!why) {
    std::fprintf(stderr, "  agent %u, its home, does not answer\n", job.home.value);
    return;
  }
  for (const std::string& line : why.value().lines)
    std::fprintf(stderr, "  %s\n", visible_line(line).c_str());
}

int report(FlockClient& flock, const std::vector<CancelledJob>& jobs, bool json) {
  constexpr int kMostTold = 3;
  int status = kDone, told = 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [state, denied] : jobs) {
    const std::string job = to_string(state.job);
    if (state.phase != JobPhase::cancelled) status = kWorkFailed;
    list.push_back({{"job", job}, {"state", state_name(state)}});
    if (!denied.empty()) {
      work_failed("cancel: " + denied);
    } else if (!terminal(state.phase)) {
      work_failed("cancel: job " + job + " has not ended yet; see 'starling explain " + job + "'");
      if (++told <= kMostTold) tell_why(flock, state);
    } else if (!json) {
      std::printf("%s %s\n", job.c_str(), state_name(state));
    }
  }
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json{{"schema", 1}, {"jobs", list}}.dump(1).c_str());
  }
  return status;
}

/// The jobs that may be meant, and the agents that did not answer: all, where not one alone was
/// named.
Result<JobsFound> candidates(FlockClient& flock, const JobFilter& filter) {
  if (filter.ids.size() != 1) {
    auto all = flock.jobs();
    if (!all && all.error().code == Errc::not_ready)
      return {Errc::not_ready, "cancel: " + all.error().message};
    return all;
  }
  auto found = flock.jobs_named(filter.ids.front());
  if (!found) return found.error();
  return JobsFound{std::move(found).value(), {}};
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
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  auto all = candidates(flock, o.filter);
  if (!all) return failed(all.error());
  auto chosen = o.filter.choose(std::move(all.value().jobs), flock.user(), now);
  if (!chosen) return failed(chosen.error());
  std::vector<JobState> open;
  int status = kDone;
  for (const JobState& state : chosen.value()) {
    if (!terminal(state.phase)) {
      open.push_back(state);
    } else if (!o.filter.ids.empty()) {  // it was named
      const bool passive = state.phase == JobPhase::cancelled;
      status = work_failed("cancel: job " + to_string(state.job) + " has already " +
                           (passive ? "been " : "") + state_name(state));
    }
  }
  if (open.empty() && o.filter.ids.empty() && !o.json)
    std::fprintf(stderr, "no open job is meant\n");
  const auto ended = flock.cancel(std::move(open));
  if (!ended) return failed(ended.error());
  if (const int told = report(flock, ended.value(), o.json); told != kDone) status = told;
  const std::string silent = silence_text(all.value().silent);
  return silent.empty() ? status : work_failed("cancel: " + silent + "; what lives there goes on");
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
