// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "base/visible.h"
#include "launch/client/job_lookup.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/signals.h"
#include "launch/commands/commands.h"
#include "launch/jobs/flock_view.h"
#include "launch/jobs/follow_job.h"
#include "launch/jobs/fresh_ids.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/what_to_submit.h"
#include "launch/runs/run_options.h"

namespace starling {
namespace {

struct Options {
  std::string flock, id;
  std::map<std::string, std::optional<std::string>> asked;  // by flag of a job's option
  std::vector<std::string> words;
  bool wait = false, follow = false, json = false;
};

/// After these options may follow; after the first word of a command all words are its own.
bool options_follow(const std::string& first) {
  for (const char* ending : {".yaml", ".yml", ".json"}) {
    if (first.ends_with(ending)) return true;
  }
  return first == "-";
}

Result<std::string> standard_input() {
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (text.empty()) return {Errc::invalid, "submit: standard input is empty"};
  return text;
}

Result<WhatToSubmit> jobs_of(const Command& command, const Options& o) {
  SubmitWords said{o.words, Command::given_dashes(o.words), {}, command.options(), standard_input};
  for (const auto& [flag, text] : o.asked) {
    if (text) said.options[flag] = *text;
  }
  auto what = what_to_submit(said, Submitter::here());
  if (!what) return what;
  auto& jobs = what.value().jobs;
  if (o.follow && jobs.size() != 1)
    return {Errc::invalid,
            "submit: --follow is for one job, there are " + std::to_string(jobs.size())};
  if (!o.id.empty()) {
    if (jobs.size() != 1)
      return {Errc::invalid,
              "submit: --id is for one job, the file has " + std::to_string(jobs.size())};
    auto id = parse_job_id(o.id);
    if (!id) return {Errc::invalid, "submit: --id: " + id.error().message};
    jobs.front().id = id.value();
  }
  return what;
}

/// Each job is this key's user's. Only who is root may say that it is another's.
Status belong(std::vector<JobSpec>& jobs, const Session& session) {
  const Asker& holder = session.holder();
  for (JobSpec& job : jobs) {
    if (job.user.empty()) job.user = session.user();
    const bool may = holder.user.empty() || holder.user == "root" || job.user == holder.user;
    if (!may) {
      return {Errc::invalid, "submit: " + job.name + " is said to be of user '" + job.user +
                                 "', and this is the key of '" + holder.user +
                                 "'; only root submits for others"};
    }
  }
  return done();
}

/// Why the flock could never run it, or done; with its GPU types as the topology spells them.
Status can_run(const FlockView& flock, JobSpec& job) {
  if (const Status spelled = spell_gpu_types(flock.topology, job); !spelled.ok()) return spelled;
  if (job.command.empty() && flock.deployment.launcher == "process") {
    return {Errc::invalid,
            "a duration alone is emulated, and this flock starts processes; give it a command"};
  }
  return can_ever_fit(flock.topology, job);
}

/// Is it what `spec` asks for, so that submitting that was a repeat? Whose it is, the home knows.
bool is_same(const JobAsk& there, const JobSpec& spec) {
  JobAsk asked = *ask_of(spec);
  asked.user = there.user;
  return asked == there;
}

/// Of an id that the user chose: which job has it, where that was `over` or is another than `spec`.
void say_if_taken(Session& session, const JobSpec& spec, bool over) {
  const Result<JobState> there = find_job(session, spec.id);
  if (!there) return;  // its home has answered, and is silent now
  const JobState& state = there.value();
  if (!over && (state.ask == nullptr || is_same(*state.ask, spec))) return;
  const std::string command = state.ask == nullptr ? "" : state.ask->command;
  std::fprintf(stderr,
               "starling: submit: %s is there already (%s%s); nothing new is submitted: give "
               "another --id, or none\n",
               to_string(spec.id).c_str(), name_of(state.phase),
               command.empty() ? "" : (": " + visible_line(command)).c_str());
}

/// Offers the job until its home has answered. Refused: exit status 2, because the request is
/// wrong. `over`: there was a job of that id, which has ended.
int submit_one(Session& session, const JobSpec& spec, bool& over) {
  const NodeId home = agent_node(first_home(session, spec.id));
  const Instant until = Session::now() + std::chrono::seconds(10);
  Instant again = Session::now();
  while (Session::now() < until && !stop_requested()) {
    if (Session::now() >= again) {
      session.send(home, Submit{spec, session.me()});
      again = Session::now() + Session::kRepeat;
    }
    const auto received = session.receive(std::min(again, until));
    if (!received || received->from != home) continue;
    if (const auto* rejected = std::get_if<Rejected>(&received->message);
        rejected != nullptr && rejected->job == spec.id) {
      return bad_input("submit: " + spec.name + " is refused: " +
                       (rejected->reason.empty() ? name_of(rejected->why) : rejected->reason));
    }
    if (const auto* busy = std::get_if<Busy>(&received->message);
        busy != nullptr && busy->job == spec.id) {
      again = Session::now() + std::chrono::milliseconds(busy->retry_ms);
    }
    const auto* accepted = std::get_if<Accepted>(&received->message);
    const auto* state = std::get_if<JobState>(&received->message);
    if (accepted != nullptr && accepted->job == spec.id) return kDone;
    if (state == nullptr || state->job != spec.id) continue;
    over = terminal(state->phase);
    return kDone;
  }
  return work_failed(
      "submit: agent-" + std::to_string(home.value - 1) +
      " does not answer; is the flock up? The job may still be accepted: see 'starling jobs'");
}

/// The status of the first job that did not finish well.
int wait_for(FlockView& flock, const std::vector<JobSpec>& jobs, bool json) {
  Session& session = *flock.session;
  int status = kDone;
  for (const JobSpec& job : jobs) {
    for (;;) {
      auto state = find_job(session, job.id);
      if (!state && state.error().code != Errc::not_ready) return failed(state.error());
      if (state.ok() && terminal(state.value().phase)) {
        say_end(flock, state.value(), json);
        if (status == kDone) status = shell_status(state.value());
        break;
      }
      if (stop_requested()) return work_failed("submit: interrupted; the jobs go on");
      const Instant next = Session::now() + std::chrono::milliseconds(200);
      while (session.receive(next)) {
      }
    }
  }
  return status;
}

int submit(const Command& command, const Options& o) {
  auto read = jobs_of(command, o);
  if (!read) return failed(read.error());
  WhatToSubmit& what = read.value();
  for (const std::string& line : what.warnings)
    std::fprintf(stderr, "starling: submit: %s\n", line.c_str());
  auto found = FlockView::find(o.flock);
  if (!found) return failed(found.error());
  FlockView& flock = *found.value();
  if (what.jobs.empty()) return bad_input("submit: '" + o.words.front() + "' has no job in it");
  for (std::size_t i = 0; i < what.jobs.size(); ++i) {
    const Status can = can_run(flock, what.jobs[i]);
    if (can.ok()) continue;
    const std::string which = what.jobs.size() == 1 ? ""
                                                    : ", job " + std::to_string(i + 1) + " of " +
                                                          std::to_string(what.jobs.size()) + ",";
    return bad_input("submit: " + (what.jobs[i].name.empty() ? "it" : what.jobs[i].name) + which +
                     " can never run here: " + can.error().message);
  }
  catch_stop_signals();
  if (Status connected = flock.connect(); !connected.ok()) return failed(connected.error());
  if (Status whose = belong(what.jobs, *flock.session); !whose.ok()) return failed(whose.error());
  FreshIds ids(*flock.session);
  for (JobSpec& job : what.jobs) {
    if (o.id.empty()) {
      const auto id = ids.next();
      if (!id) return failed(id.error());
      job.id = id.value();
    }
    // Before the answer: who is interrupted now can still look for it.
    if (o.follow) {
      std::fprintf(stderr, "%s\n", to_string(job.id).c_str());
    } else {
      std::printf(o.json ? "{\"job\": \"%s\"}\n" : "%s\n", to_string(job.id).c_str());
      std::fflush(stdout);
    }
    bool over = false;
    if (const int status = submit_one(*flock.session, job, over); status != kDone) return status;
    if (!o.id.empty()) say_if_taken(*flock.session, job, over);
  }
  if (o.follow) return follow_job(flock, what.jobs.front().id, {.cancel = true, .json = o.json});
  return o.wait || what.wait ? wait_for(flock, what.jobs, o.json) : kDone;
}

}  // namespace

void add_submit(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("submit",
               "submit a job file, a script or a command: starling submit --gpus 2 -- "
               "python train.py");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  for (const JobOption& option : job_options())
    command.option(option.flag, o->asked[option.flag], option.value, option.help);
  command.option("--id", o->id, "HEX", "choose the id: submitting it twice is submitting it once");
  command.flag("--wait", o->wait, "until it has ended; its exit code is the exit status");
  command.flag("-f,--follow", o->follow,
               "the same, and show what it prints; Ctrl-C cancels the job");
  command.flag("--json", o->json, "only JSON on stdout");
  command.rest("JOB", o->words, "a .yaml file, a script, - (standard input), or a command",
               options_follow);
  command.examples({"starling submit --gpus 2 --wait -- python train.py",
                    "starling submit job.yaml --wait", "starling submit train.sbatch"});
  command.action([command, o] { return submit(command, *o); });
}

}  // namespace starling
