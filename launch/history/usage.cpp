// SPDX-License-Identifier: Apache-2.0
#include "launch/history/usage.h"

#include <algorithm>
#include <ctime>

#include "launch/jobs/job_dates.h"

namespace starling {
namespace {

double hours(Duration d) { return std::max(0.0, seconds(d) / 3600); }

std::string type_of(const JobState& state, const JobAsk& ask, const Topology& topology) {
  if (!state.placement.empty() && state.placement.front().value < topology.gpu_count())
    return topology.gpu_types()[topology.type_of(state.placement.front()).value].name;
  std::string all;
  for (const std::string& type : ask.gpu_types) all += (all.empty() ? "" : "|") + type;
  return all.empty() ? "-" : all;
}

Usage whole_usage(const JobState& state, const Topology& topology,
                  const std::map<JobId, double>& joules, Date now) {
  const JobAsk nothing, &ask = state.ask == nullptr ? nothing : *state.ask;
  Usage usage;
  usage.state = state;
  usage.user = ask.user;
  usage.queue = ask.queue;
  usage.type = type_of(state, ask, topology);
  const JobDates dates = dates_of(state, now);
  usage.submitted = dates.submitted;
  usage.started = dates.started;
  usage.ended = dates.ended;
  const auto asked = static_cast<std::uint32_t>(ask.workers * ask.gpus_per_worker);
  usage.gpus = state.placement.empty() ? asked : static_cast<std::uint32_t>(state.placement.size());
  // What an elastic job had in earlier attempts is not told, nor what one that waits again had.
  const bool told = state.attempts <= 1 && !state.placement.empty();
  usage.exact = ask.max_workers == 0 || !state.begun || told;
  if (const auto at = joules.find(state.job); at != joules.end())
    usage.job_kwh = at->second / 3.6e6;
  return usage;
}

/// The part of [from, to] that is in the period.
double part_in(const Period& period, Date from, Date to) {
  const Date first = period.from ? std::max(*period.from, from) : from;
  const Date last = period.until ? std::min(*period.until, to) : to;
  const auto length = std::chrono::duration<double>(to - from).count();
  if (length <= 0) {
    const bool in =
        (!period.from || from >= *period.from) && (!period.until || from < *period.until);
    return in ? 1 : 0;
  }
  return std::clamp(std::chrono::duration<double>(last - first).count() / length, 0.0, 1.0);
}

/// What of the job falls into the period; nothing: none of it.
std::optional<Usage> in_period(Usage usage, const Period& period, Date now) {
  const JobState& state = usage.state;
  double waited = 1, held = state.begun ? 1 : 0;
  if (usage.submitted) {
    const Date end = usage.ended.value_or(now);
    waited = part_in(period, *usage.submitted, usage.started.value_or(end));
    held = usage.started ? part_in(period, *usage.started, end) : 0;
    if (waited <= 0 && held <= 0) return std::nullopt;
  } else if (period.from || period.until) {
    return std::nullopt;
  }
  usage.waited_h = hours(state.queued) * waited + hours(state.requeued) * held;
  usage.held_h = hours(state.elapsed - state.queued - state.requeued) * held;
  usage.gpu_h = usage.held_h * usage.gpus;
  if (usage.job_kwh) usage.energy_kwh = *usage.job_kwh * held;
  return usage;
}

std::string month_of(Date date) { return formatted(date, "%Y-%m", Zone::local); }

/// The first moment of the month after that of `date`, in local time.
Date next_month(Date date) {
  const std::time_t t = std::chrono::system_clock::to_time_t(date);
  std::tm parts{};
  ::localtime_r(&t, &parts);
  std::tm first{};
  first.tm_year = parts.tm_year;
  first.tm_mon = parts.tm_mon + 1;
  first.tm_mday = 1;
  first.tm_isdst = -1;
  return std::chrono::system_clock::from_time_t(std::mktime(&first));
}

constexpr const char* kKeys[] = {"user", "queue", "type", "state", "month"};

std::string key_of(const Usage& usage, const std::string& key, const std::string& month) {
  if (key == "user") return usage.user.empty() ? "-" : usage.user;
  if (key == "queue") return usage.queue.empty() ? "-" : usage.queue;
  if (key == "type") return usage.type;
  if (key == "state") return name_of(usage.state.phase);
  return month;
}

void add(UsageSum& sum, const Usage& usage) {
  ++sum.jobs;
  sum.finished += usage.state.phase == JobPhase::finished ? 1 : 0;
  sum.failed += usage.state.phase == JobPhase::failed ? 1 : 0;
  sum.cancelled += usage.state.phase == JobPhase::cancelled ? 1 : 0;
  sum.gpu_h += usage.gpu_h;
  sum.waited_h += usage.waited_h;
  sum.longest_wait_h = std::max(sum.longest_wait_h, usage.waited_h);
  sum.exact = sum.exact && usage.exact;
  sum.energy_known = sum.energy_known || usage.energy_kwh;
  sum.energy_kwh += usage.energy_kwh.value_or(0);
}

/// The usage by months.
std::vector<std::pair<std::string, Usage>> by_month(const Usage& usage, const Period& period,
                                                    Date now) {
  std::vector<std::pair<std::string, Usage>> parts;
  if (!usage.submitted) return {{"-", usage}};
  const Date first = period.from ? std::max(*period.from, *usage.submitted) : *usage.submitted;
  const Date end = usage.ended.value_or(now);
  const Date last = period.until ? std::min(*period.until, end) : end;
  for (Date at = first;;) {
    const Date next = next_month(at);
    const Period month{at, period.until ? std::min(next, *period.until) : next};
    if (auto part = in_period(usage, month, now)) parts.emplace_back(month_of(at), *part);
    if (next >= last) return parts;
    at = next;
  }
}

}  // namespace

std::vector<Usage> usage_of(const std::vector<JobState>& jobs, const Topology& topology,
                            const std::map<JobId, double>& joules, const Period& period, Date now) {
  std::vector<Usage> all;
  for (const JobState& state : jobs) {
    if (auto usage = in_period(whole_usage(state, topology, joules, now), period, now))
      all.push_back(std::move(*usage));
  }
  std::stable_sort(all.begin(), all.end(), [](const Usage& a, const Usage& b) {
    return a.submitted.value_or(Date{}) < b.submitted.value_or(Date{});
  });
  return all;
}

Result<std::vector<UsageSum>> sums_of(const std::vector<Usage>& usages,
                                      const std::vector<std::string>& by, const Period& period,
                                      Date now) {
  for (const std::string& key : by) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return {Errc::invalid,
              "--by: '" + key + "' is wrong; give some of user, queue, type, state, month"};
  }
  const bool months = std::find(by.begin(), by.end(), "month") != by.end();
  std::map<std::vector<std::string>, UsageSum> sums;
  for (const Usage& usage : usages) {
    const auto parts = months ? by_month(usage, period, now)
                              : std::vector<std::pair<std::string, Usage>>{{"", usage}};
    for (const auto& [month, part] : parts) {
      std::vector<std::string> keys;
      for (const std::string& key : by) keys.push_back(key_of(part, key, month));
      UsageSum& sum = sums[keys];
      sum.keys = keys;
      add(sum, part);
    }
  }
  std::vector<UsageSum> all;
  for (auto& [keys, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace starling
