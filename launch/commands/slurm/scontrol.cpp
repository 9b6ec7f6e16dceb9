// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/lower_case.h"
#include "base/short_number.h"
#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_nodes.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/system/signals.h"
#include "workload/directory.h"
#include "workload/job_number.h"
#include "workload/terms_text.h"

namespace starling {
namespace {

constexpr SlurmOption kKnown[] = {{'o', "oneliner"}, {'Q', "quiet"}, {'d', "details"}};

int fail(const std::string& what) { return slurm_error("scontrol", what); }

std::string dependency_text(const JobTerms& terms) {
  std::string text;
  for (const After& after : terms.after) {
    text += (text.empty() ? "after" : ",after") + std::string(name_of(after.how)) + ":" +
            job_number(after.job) + "(unfulfilled)";
  }
  return text.empty() ? "(null)" : text;
}

void show_job(const JobState& s, const Topology& topology, Date now, const std::string& between) {
  const JobAsk nothing, &ask = s.ask == nullptr ? nothing : *s.ask;
  const JobDates dates = dates_of(s, now);
  const Words nodes = nodes_of(s, topology);
  const JobTerms& terms = ask.terms;
  std::string id = "JobId=" + job_number(s.job);
  if (terms.of_array())
    id += " ArrayJobId=" + job_number(terms.array) + " ArrayTaskId=" + std::to_string(terms.task);
  const bool coded = s.phase == JobPhase::failed || s.phase == JobPhase::finished;
  const int code = coded ? s.exit.code : 0;
  const Words lines{
      id + " JobName=" + ask.name,
      "UserId=" + ask.user + " Priority=" + std::to_string(ask.priority) +
          " Partition=" + (ask.queue.empty() ? "all" : ask.queue),
      "JobState=" + slurm_state(s, false) + " Reason=" + slurm_reason(s) +
          " Dependency=" + dependency_text(terms),
      "Requeue=1 Restarts=" + std::to_string(s.attempts > 0 ? s.attempts - 1 : 0) +
          " BatchFlag=1 ExitCode=" +
          (code < 0 ? "0:" + std::to_string(-code) : std::to_string(code) + ":0"),
      "RunTime=" + slurm_span(ran_for(s), true) + " TimeLimit=" +
          (terms.time_limit > Duration{0} ? slurm_span(terms.time_limit, true) : "UNLIMITED"),
      "SubmitTime=" + slurm_date(dates.submitted) + " StartTime=" + slurm_date(dates.started) +
          " EndTime=" + slurm_date(dates.ended),
      "NodeList=" + (nodes.empty() ? "(null)" : host_list(nodes)),
      "NumNodes=" + std::to_string(std::max<std::size_t>(nodes.size(), 1)) +
          " NumTasks=" + std::to_string(ask.workers) +
          " TRES=gres/gpu=" + std::to_string(ask.workers * ask.gpus_per_worker),
      "Command=" + ask.command};
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : between) + line;
  std::printf("%s\n\n", text.c_str());
}

int show(const SlurmSaid& said) {
  const Words& words = said.words;
  const std::string what = words.size() > 1 ? lower_case(words[1]) : "";
  const std::string which = words.size() > 2 ? words[2] : "";
  if (what == "hostnames" || what == "hostname") {
    const char* const own = std::getenv("SLURM_JOB_NODELIST");
    const auto names = hosts_in(which.empty() && own != nullptr ? own : which);
    if (!names) return fail("Invalid hostlist: " + which);
    for (const std::string& name : *names) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (what == "hostlist") {
    const auto names = hosts_in(which);
    if (!names) return fail("Invalid hostlist: " + which);
    std::printf("%s\n", host_list(*names).c_str());
    return 0;
  }
  if (what != "job" && what != "jobs" && what != "node" && what != "nodes")
    return fail("'show " + what +
                "' is not understood here; there are job, node, hostnames and "
                "hostlist");
  const auto flock = slurm_flock("scontrol");
  if (flock == nullptr) return 1;
  const std::string between = said.has("oneliner") ? " " : "\n   ";
  if (what.starts_with("job")) {
    const auto jobs = slurm_jobs("scontrol", *flock, which.empty() ? Words{} : Words{which});
    if (!jobs) return 1;
    if (jobs->empty() && !which.empty()) return fail("Invalid job id specified");
    const Date now = std::chrono::system_clock::now();
    for (const JobState& state : *jobs) show_job(state, flock->topology(), now, between);
    return 0;
  }
  const auto nodes = slurm_nodes("scontrol", *flock);
  if (!nodes) return 1;
  bool found = which.empty();
  for (const SlurmNode& node : *nodes) {
    if (!which.empty() && node.name != which) continue;
    found = true;
    std::string state = node.state;
    for (char& c : state) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    std::printf(
        "NodeName=%s%sState=%s%sGres=gpu:%s%u GresUsed=gpu:%u CPUTot=%.0f RealMemory=%.0f\n\n",
        node.name.c_str(), between.c_str(), state.c_str(), between.c_str(),
        node.gpu_type.empty() ? "" : (node.gpu_type + ":").c_str(), node.gpus, node.used, node.cpus,
        node.memory_gib * 1024);
  }
  return found ? 0 : fail("Node " + which + " not found");
}

int change(const SlurmSaid& said, JobChange what) {
  if (said.words.size() < 2) return fail("too few arguments for keyword: " + said.words.front());
  if (what == JobChange::requeue || what == JobChange::requeue_hold) outlive_stop_of_job();
  const auto flock = slurm_flock("scontrol");
  if (flock == nullptr) return 1;
  SlurmSaid lists;
  lists.options["jobs"].assign(said.words.begin() + 1, said.words.end());
  int status = 0;
  std::vector<JobState> jobs;
  for (std::string id : lists.list("jobs")) {
    if (lower_case(id).starts_with("jobid=")) id = id.substr(6);
    auto named = flock->jobs_named(id, true);
    if (!named) {
      status = fail(named.error().code == Errc::not_found ? "Invalid job id specified for job " + id
                                                          : named.error().message);
      continue;
    }
    for (JobState& state : named.value()) {
      if (named.value().size() > 1 && terminal(state.phase)) continue;
      jobs.push_back(std::move(state));
    }
  }
  const auto changed = flock->change(std::move(jobs), what);
  if (!changed) return fail(changed.error().message);
  for (const ChangedJob& job : changed.value()) {
    if (!job.refused.empty()) status = fail(job.refused);
    if (job.refused.empty() && !job.done)
      status = fail("no answer about job " + slurm_id(job.state));
  }
  return status;
}

}  // namespace

int run_scontrol(const Words& words) {
  const auto read = read_slurm_words("scontrol", kKnown, words);
  if (!read) return fail(read.error().message);
  const SlurmSaid& said = read.value();
  if (said.words.empty()) return fail("give show, hold, release, requeue or requeuehold");
  const std::string word = lower_case(said.words.front());
  if (word == "show") return show(said);
  if (word == "hold" || word == "uhold") return change(said, JobChange::hold);
  if (word == "release") return change(said, JobChange::release);
  if (word == "requeue") return change(said, JobChange::requeue);
  if (word == "requeuehold") return change(said, JobChange::requeue_hold);
  return fail("'" + said.words.front() +
              "' is not understood here; there are show, hold, release, requeue and requeuehold");
}

}  // namespace starling
