// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/visible.h"
#include "launch/client/job_array.h"
#include "launch/client/placeable.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/jobs/follow_job.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/what_to_submit.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock, id;
  std::map<std::string, std::optional<std::string>> asked;  // by flag of a job's option
  std::map<std::string, bool> flags;                        // the same, of those without a value
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
  for (const auto& [flag, given] : o.flags) {
    if (given) said.options[flag] = "yes";
  }
  auto what = what_to_submit(said, Submitter::here());
  if (!what) return what;
  auto& jobs = what.value().jobs;
  const bool array =
      std::ranges::any_of(jobs, [](const JobSpec& j) { return !j.array_tasks.empty(); });
  if (o.follow && array)
    return {Errc::invalid, "submit: --follow is for one job, and not for an array"};
  if (o.follow && jobs.size() != 1)
    return {Errc::invalid,
            "submit: --follow is for one job, there are " + std::to_string(jobs.size())};
  if (!o.id.empty()) {
    if (jobs.size() != 1)
      return {Errc::invalid,
              "submit: --id is for one job, the file has " + std::to_string(jobs.size())};
    auto id = parse_job_id(o.id);
    if (!id) return {Errc::invalid, "submit: --id: " + id.error().message};
    // Lists of jobs begin behind it.
    if (id.value() == JobId{})
      return {Errc::invalid, "submit: --id: 0 is no job's id; give another, or none"};
    jobs.front().id = id.value();
  }
  return what;
}

/// Of an id that the user chose: which job has it, where that was over or is another.
void say_if_taken(FlockClient& flock, const JobSpec& spec, const SubmittedJob& said) {
  const std::optional<JobState> there = flock.instead_of(spec, said);
  if (!there) return;
  const std::string command = there->ask == nullptr ? "" : there->ask->command;
  std::fprintf(stderr,
               "starling: submit: %s is there already (%s%s); nothing new is submitted: give "
               "another --id, or none\n",
               to_string(spec.id).c_str(), name_of(there->phase),
               command.empty() ? "" : (": " + visible_line(command)).c_str());
}

/// The status of the first job that did not finish well.
int wait_for(FlockClient& flock, const std::vector<JobSpec>& asked, bool json) {
  int status = kDone;
  std::vector<JobSpec> jobs;
  for (const JobSpec& job : asked) {
    if (job.array_tasks.empty()) jobs.push_back(job);
    const auto tasks = expand_array(job, flock.agents());
    jobs.insert(jobs.end(), tasks.begin(), tasks.end());
  }
  for (const JobSpec& job : jobs) {
    const auto ended = flock.ended(job.id, Duration::max());
    if (stop_requested()) return work_failed("submit: interrupted; the jobs go on");
    if (!ended) return failed(ended.error());
    say_end(flock, ended.value(), json);
    if (status == kDone) status = shell_status(ended.value());
  }
  return status;
}

/// Why one of them could never run, or 0. GPU types that are not there are told.
int refuse_misfits(const FlockClient& flock, std::vector<JobSpec>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Status can = flock.can_run(jobs[i]);
    if (can.ok()) {
      const std::string unknown = unknown_gpu_types(flock.topology(), jobs[i]);
      if (!unknown.empty())
        std::fprintf(stderr, "starling: submit: %s: %s\n",
                     jobs[i].name.empty() ? "a job" : visible_line(jobs[i].name).c_str(),
                     unknown.c_str());
      continue;
    }
    const std::string which = jobs.size() == 1 ? ""
                                               : ", job " + std::to_string(i + 1) + " of " +
                                                     std::to_string(jobs.size()) + ",";
    return bad_input("submit: " + (jobs[i].name.empty() ? "it" : jobs[i].name) + which +
                     " can never run here: " + can.error().message);
  }
  return kDone;
}

/// On stdout. Where that takes nothing the job is submitted all the same, and its id is not lost.
void say_id(const std::string& id, bool json) {
  std::printf("%s\n", json ? nlohmann::json{{"job", id}}.dump().c_str() : id.c_str());
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  std::fprintf(stderr, "starling: submit: standard output does not take the job's id: %s\n",
               id.c_str());
}

/// Refused: exit status 2, because the request is wrong.
int submit_one(FlockClient& flock, JobSpec& job, const Options& o) {
  if (o.id.empty()) {
    const auto id = flock.new_id();
    if (!id) return failed({id.error().code, "submit: " + id.error().message});
    job.id = id.value();
  }
  // Before the answer: a user interrupted now can still look for it.
  const std::string id = to_string(job.id);
  if (o.follow) {
    std::fprintf(stderr, "%s\n", id.c_str());
  } else {
    say_id(id, o.json);
  }
  const bool array = !job.array_tasks.empty();
  auto said = Result<SubmittedJob>(SubmittedJob{});
  if (!array) {
    said = flock.submit(job);
  } else if (Status taken = flock.submit_all(expand_array(job, flock.agents())); !taken.ok()) {
    said = taken.error();
  }
  if (!said && said.error().code == Errc::invalid)
    return bad_input("submit: " + said.error().message);
  if (!said) return work_failed("submit: " + said.error().message);
  if (!o.id.empty() && !array) say_if_taken(flock, job, said.value());
  return kDone;
}

/// The jobs that they wait for are looked up: what no agent knows is said now.
int find_others(FlockClient& flock, const WhatToSubmit& what, std::vector<JobSpec>& jobs) {
  const auto option = what.options.find("--after");
  for (JobSpec& job : jobs) {
    std::string text = option == what.options.end() ? "" : option->second;
    for (const After& after : job.terms.after) {
      text +=
          (text.empty() ? "" : ",") + std::string(name_of(after.how)) + ":" + to_string(after.job);
    }
    if (text.empty()) continue;
    auto found = flock.others(text);
    if (!found && found.error().code == Errc::not_ready) return failed(found.error());
    if (!found) return bad_input("submit: --after: " + found.error().message);
    job.terms.after = std::move(found).value();
  }
  return kDone;
}

int submit(const Command& command, const Options& o) {
  auto read = jobs_of(command, o);
  if (!read) return failed(read.error());
  WhatToSubmit& what = read.value();
  for (const std::string& line : what.warnings)
    std::fprintf(stderr, "starling: submit: %s\n", line.c_str());
  auto found = open_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  if (what.jobs.empty()) return bad_input("submit: '" + o.words.front() + "' has no job in it");
  if (const int status = refuse_misfits(flock, what.jobs); status != kDone) return status;
  catch_stop_signals();
  if (Status connected = flock.connect(); !connected.ok()) return failed(connected.error());
  for (JobSpec& job : what.jobs) {
    if (const Status whose = flock.set_user(job); !whose.ok())
      return failed({whose.error().code, "submit: " + whose.error().message});
  }
  if (const int status = find_others(flock, what, what.jobs); status != kDone) return status;
  for (JobSpec& job : what.jobs) {
    if (const int status = submit_one(flock, job, o); status != kDone) return status;
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
  for (const JobOption& option : job_options()) {
    option.value == nullptr
        ? command.flag(option.flag, o->flags[option.flag], option.help)
        : command.option(option.flag, o->asked[option.flag], option.value, option.help);
  }
  command.option("--id", o->id, "HEX", "choose the id: submitting it twice is submitting it once");
  command.flag("--wait", o->wait, "until it has ended; its exit code is the exit status");
  command.flag("-f,--follow", o->follow,
               "the same, and show what it prints; Ctrl-C cancels the job");
  command.flag("--json", o->json, "only JSON on stdout");
  command.rest("JOB", o->words, "a .yaml file, a script, - (standard input), or a command",
               options_follow);
  command.examples({"starling submit --gpus 2 --wait -- python train.py",
                    "starling submit job.yaml --wait", "starling submit train.sbatch",
                    "starling submit --array 0-999%50 --time-limit 2h -- ./sweep.sh",
                    "starling submit --after ok:12ab34 --retries 2 -- ./next.sh",
                    "starling submit --gpus 4 --duration 2h"});
  command.action([command, o] { return submit(command, *o); });
}

}  // namespace starling
