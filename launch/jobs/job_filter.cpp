// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/lower_case.h"
#include "launch/client/job_lookup.h"
#include "launch/jobs/split.h"
#include "launch/system/text.h"

namespace starling {
namespace {

/// One of the patterns with commas between them; '*' and '?' stand for what they do in a shell.
bool matches(const std::string& patterns, const std::string& text) {
  if (patterns.empty()) return true;
  const auto all = split(patterns, ',');
  return std::any_of(all.begin(), all.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

/// The names that states have in lists: those that `states` means.
Result<std::set<std::string>> states_of(const std::string& states) {
  const std::vector<std::string> open{"waiting", "held", "starting", "running", "draining"};
  const std::vector<std::string> ended{"finished", "failed", "timeout", "cancelled"};
  std::set<std::string> all;
  for (const std::string& said : split(states, ',')) {
    const std::string word = lower_case(said);
    std::vector<std::string> names{"open", "ended"};
    names.insert(names.end(), open.begin(), open.end());
    names.insert(names.end(), ended.begin(), ended.end());
    if (word == "open") {
      all.insert(open.begin(), open.end());
    } else if (word == "ended") {
      all.insert(ended.begin(), ended.end());
    } else if (std::ranges::find(names, word) != names.end()) {
      all.insert(word);
      if (word == "waiting") all.insert("held");
      if (word == "failed") all.insert("timeout");
    } else {
      const auto meant = nearest(word, names);
      return {Errc::invalid,
              "--state: '" + word + "' is none; " +
                  (meant ? "did you mean '" + *meant + "'?" : "there are " + joined(names, ", "))};
    }
  }
  return all;
}

/// All tasks of the array whose id is `text`, or begins so; of ID_7 that one.
Result<std::vector<JobState>> of_array(const std::vector<JobState>& jobs, const std::string& text) {
  const std::size_t bar = text.find('_');
  const std::string digits = lower_case(text.substr(0, bar));
  const auto task = bar == std::string::npos ? std::nullopt : parse_whole(text.substr(bar + 1));
  std::vector<JobState> found;
  if (bar != std::string::npos && !task) return found;
  for (const JobState& job : jobs) {
    if (job.ask == nullptr || !job.ask->terms.of_array()) continue;
    const JobTerms& terms = job.ask->terms;
    if (!to_string(terms.array).starts_with(digits) || (task && terms.task != *task)) continue;
    if (!found.empty() && found.front().ask->terms.array != terms.array)
      return {Errc::invalid, "several arrays begin with '" + digits + "'; give more digits"};
    found.push_back(job);
  }
  return found;
}

/// By id, or how no other begins; an array's is all of its tasks.
Result<std::vector<JobState>> of_ids(const std::vector<JobState>& jobs,
                                     const std::vector<std::string>& ids) {
  std::vector<JobState> found;
  for (const std::string& text : ids) {
    auto tasks = of_array(jobs, text);
    if (!tasks) return tasks.error();
    if (tasks.value().empty()) {
      const auto only = job_named(jobs, text);
      if (!only) return only.error();
      if (only.value() == nullptr) return unknown_job(text);
      tasks.value().push_back(*only.value());
    }
    for (JobState& job : tasks.value()) {
      const auto is_it = [&](const JobState& other) { return other.job == job.job; };
      if (std::none_of(found.begin(), found.end(), is_it)) found.push_back(std::move(job));
    }
  }
  return found;
}

}  // namespace

void JobFilter::add_options(const Command& command) {
  command.option("--user", users, "NAME,..", "only theirs; me: who asks");
  command.option(
      "--state", states, "STATE,..",
      "waiting, held, starting, running, draining, finished, failed, timeout, cancelled; open, "
      "ended");
  command.option("--name", names, "PATTERN,..", "only of such names, as 'train-*'");
  command.option("--queue", queues, "PATTERN,..", "only in such queues");
  command.option("--since", since, "WHEN", "submitted since then: 2h, 3d, 2026-11-23, ...");
}

bool JobFilter::any() const {
  return last > 0 || !ids.empty() || !users.empty() || !states.empty() || !names.empty() ||
         !queues.empty() || !since.empty();
}

Status JobFilter::check(Date now) const {
  if (const auto named = states_of(states); !named) return named.error();
  for (const std::string& text : ids) {
    if (const auto id = parse_job_id(text.substr(0, text.find('_'))); !id) return id.error();
  }
  if (since.empty() || parse_date(since, now)) return done();
  return {Errc::invalid, "--since: '" + since.substr(0, 64) +
                             "' is wrong, give a date as 2026-11-23 or '2026-11-23 12:30', or "
                             "how long ago as 30m, 2h, 3d"};
}

Result<std::vector<JobState>> JobFilter::choose(std::vector<JobState> jobs, const std::string& me,
                                                Date now) const {
  if (Status right = check(now); !right.ok()) return right.error();
  const auto named = states_of(states);
  const std::optional<Date> from = parse_date(since, now);
  if (!ids.empty()) {
    auto found = of_ids(jobs, ids);
    if (!found) return found.error();
    jobs = std::move(found).value();
  }
  std::string who;
  for (const std::string& user : split(users, ','))
    who += (who.empty() ? "" : ",") + (user == "me" ? me : user);
  std::erase_if(jobs, [&](const JobState& state) {
    if (!named.value().empty() && !named.value().contains(state_name(state))) return true;
    const JobAsk nothing, &ask = state.ask == nullptr ? nothing : *state.ask;
    if (!matches(who, ask.user) || !matches(names, ask.name) || !matches(queues, ask.queue))
      return true;
    return from && dates_of(state, now).submitted.value_or(Date{}) < *from;
  });
  std::stable_sort(jobs.begin(), jobs.end(), [&](const JobState& a, const JobState& b) {
    return dates_of(a, now).submitted.value_or(Date{}) <
           dates_of(b, now).submitted.value_or(Date{});
  });
  if (last > 0 && jobs.size() > last)
    jobs.erase(jobs.begin(), jobs.end() - static_cast<std::ptrdiff_t>(last));
  return jobs;
}

}  // namespace starling
