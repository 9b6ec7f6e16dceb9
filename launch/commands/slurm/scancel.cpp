// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;
constexpr SlurmOption kKnown[] = {{'u', "user", Takes::value},
                                  {0, "me"},
                                  {'n', "name", Takes::value},
                                  {'p', "partition", Takes::value},
                                  {'t', "state", Takes::value},
                                  {'Q', "quiet"},
                                  {'v', "verbose"},
                                  {0, "jobname", Takes::value}};

bool is_in(const Words& all, const std::string& one) {
  return all.empty() || std::ranges::find(all, one) != all.end();
}

bool is_meant(const SlurmSaid& said, const JobState& state, const std::string& me) {
  if (terminal(state.phase)) return false;
  const JobAsk nothing, &ask = state.ask == nullptr ? nothing : *state.ask;
  Words users = said.list("user");
  if (said.has("me")) users.push_back(me);
  Words names = said.list("name");
  for (std::string& name : said.list("jobname")) names.push_back(std::move(name));
  Words states = said.list("state");
  for (std::string& one : states) {
    for (char& c : one) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return is_in(users, ask.user) && is_in(names, ask.name) &&
         is_in(said.list("partition"), ask.queue.empty() ? "all" : ask.queue) &&
         (is_in(states, slurm_state(state, true)) || is_in(states, slurm_state(state, false)));
}

}  // namespace

int run_scancel(const Words& words) {
  const auto said = read_slurm_words("scancel", kKnown, words);
  if (!said) return slurm_error("scancel", said.error().message);
  Words ids;
  for (const std::string& word : said.value().words) {
    SlurmSaid one;
    one.options["ids"] = {word};
    for (std::string& id : one.list("ids")) ids.push_back(std::move(id));
  }
  const bool filters = std::ranges::any_of(said.value().options, [](const auto& option) {
    return option.first != "quiet" && option.first != "verbose";
  });
  if (ids.empty() && !filters) return slurm_error("scancel", "No job identification provided");
  catch_stop_signals();
  const auto flock = slurm_flock("scancel");
  if (flock == nullptr) return 1;
  int status = 0;
  std::vector<JobState> jobs;
  if (ids.empty()) {
    auto all = slurm_jobs("scancel", *flock, {});
    if (!all) return 1;
    jobs = std::move(*all);
  }
  for (const std::string& id : ids) {
    auto named = flock->jobs_named(id, true);
    if (!named) {
      status = slurm_error("scancel",
                           "Kill job error on job id " + id + ": " +
                               (named.error().code == Errc::not_found ? "Invalid job id specified"
                                                                      : named.error().message));
      continue;
    }
    for (JobState& state : named.value()) jobs.push_back(std::move(state));
  }
  const std::string me = flock->user();
  std::erase_if(jobs, [&](const JobState& s) { return !is_meant(said.value(), s, me); });
  if (jobs.empty()) return status;
  const auto ended = flock->cancel(std::move(jobs));
  if (!ended) return slurm_error("scancel", ended.error().message);
  for (const CancelledJob& job : ended.value()) {
    if (!job.denied.empty())
      status = slurm_error("scancel",
                           "Kill job error on job id " + slurm_id(job.state) + ": " + job.denied);
    else if (!terminal(job.state.phase))
      status = slurm_error("scancel", "job " + slurm_id(job.state) + " has not ended yet");
  }
  return status;
}

}  // namespace starling
