#include <cstdio>
#include <memory>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/job_lookup.h"
#include "launch/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock, job;
};

int cancel(const Options& options) {
  if (auto id = parse_job_id(options.job); !id) return bad_input("cancel: " + id.error().message);
  catch_stop_signals();
  auto session = open_session(options.flock);
  if (!session) return failed(session.error());
  auto found = find_job(*session.value(), options.job);
  if (!found) return failed(found.error());
  const JobId job = found.value().job;
  if (terminal(found.value().phase)) {
    return work_failed("cancel: job " + to_string(job) + " has already " +
                       name_of(found.value().phase));
  }
  // A running gang is drained first: politely, then by force.
  const auto state = session.value()->ask<JobState>(
      agent_node(found.value().home), Cancel{job}, std::chrono::seconds(30),
      [&](const JobState& s) { return s.job == job && terminal(s.phase); });
  if (!state)
    return work_failed("cancel: job " + to_string(job) +
                       " has not ended yet; see 'starling explain " + options.job + "'");
  std::printf("%s %s\n", to_string(job).c_str(), name_of(state->phase));
  return state->phase == JobPhase::cancelled ? kDone : kWorkFailed;
}

}  // namespace

void add_cancel(const Command& root) {
  const auto options = std::make_shared<Options>();
  const Command command = root.sub("cancel", "end a job, wherever it is");
  command.positional("JOB", options->job, "its id, or how no other begins");
  command.option("--flock", options->flock, "DIR",
                 "directory of the flock; default $STARLING_FLOCK");
  command.examples({"starling cancel 12ab34"});
  command.action([options] { return cancel(*options); });
}

}  // namespace starling
