// SPDX-License-Identifier: Apache-2.0
// Jobs as users name them: by ids, beginnings of ids, tasks of arrays, numbers.
#include <algorithm>

#include "base/counted.h"
#include "launch/client/flock_client.h"
#include "launch/client/job_lookup.h"
#include "launch/system/text.h"
#include "workload/job_number.h"
#include "workload/terms_text.h"

namespace starling {
namespace {

/// An id with all its digits or the beginning of one; of a number that of the id.
Result<std::string> digits_of(const std::string& text, bool numbers) {
  if (numbers) {
    const auto id = job_of_number(text);
    if (!id) return {Errc::invalid, "'" + text.substr(0, 64) + "' is no job's number"};
    return to_string(*id);
  }
  if (const auto id = parse_job_id(text); !id) return id.error();
  std::string digits = text;
  for (char& c : digits) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  return digits;
}

/// Of the jobs there: those of the only array whose id begins so, or one task of it.
Result<std::vector<JobState>> of_array(const std::vector<JobState>& all, const std::string& digits,
                                       std::optional<std::uint64_t> task) {
  std::vector<JobState> found;
  for (const JobState& state : all) {
    if (state.ask == nullptr || !state.ask->terms.of_array()) continue;
    const JobTerms& terms = state.ask->terms;
    if (!to_string(terms.array).starts_with(digits) || (task && terms.task != *task)) continue;
    if (!found.empty() && found.front().ask->terms.array != terms.array)
      return {Errc::invalid, "several arrays begin with '" + digits + "'; give more digits"};
    found.push_back(state);
  }
  std::ranges::sort(found, {}, [](const JobState& state) { return state.ask->terms.task; });
  return found;
}

bool comes_true(After::How how, JobPhase end) {
  if (how == After::How::any) return true;
  return (how == After::How::ok) == (end == JobPhase::finished);
}

}  // namespace

Result<std::vector<JobState>> FlockClient::jobs_named(const std::string& text, bool numbers,
                                                      Duration patience) {
  const std::size_t bar = text.find('_');
  std::optional<std::uint64_t> task;
  if (bar != std::string::npos) {
    task = parse_whole(text.substr(bar + 1));
    if (!task) return {Errc::invalid, "'" + text.substr(0, 64) + "' is no task; ID_7 is one"};
  }
  const auto digits = digits_of(text.substr(0, bar), numbers);
  if (!digits) return digits.error();
  if (!task) {
    auto one = job(parse_job_id(digits.value()).value(),
                   std::min<Duration>(patience, std::chrono::seconds(10)));
    if (one) return std::vector<JobState>{std::move(one).value()};
    if (one.error().code != Errc::not_found) return one.error();
  }
  auto all = jobs(patience);
  if (!all) return all.error();
  auto tasks = of_array(all.value().jobs, digits.value(), task);
  if (!tasks || !tasks.value().empty()) return tasks;
  if (!task) {
    const auto named = job_named(all.value().jobs, digits.value());
    if (!named) return named.error();
    if (named.value() != nullptr) return std::vector<JobState>{*named.value()};
  }
  if (!all.value().silent.empty())
    return {Errc::not_ready,
            silence_text(all.value().silent) + ", and may know job '" + text + "'"};
  return unknown_job(text);
}

Result<std::vector<After>> FlockClient::others(const std::string& text, bool numbers) {
  const auto said = parse_after(text);
  if (!said) return said.error();
  std::vector<After> waits;
  for (const AfterText& after : said.value()) {
    const auto found = jobs_named(after.job, numbers);
    if (!found) return found.error();
    for (const JobState& state : found.value()) {
      if (!terminal(state.phase)) {
        waits.push_back({after.how, state.job});
      } else if (!comes_true(after.how, state.phase)) {
        return {Errc::invalid, "it could never start: it waits for " +
                                   std::string(name_of(after.how)) + " of " + to_string(state.job) +
                                   ", which has ended: " + state_name(state)};
      }
    }
  }
  if (waits.size() > JobTerms::kMostAfter) {
    return {Errc::invalid, "it would wait for " + counted(waits.size(), "job") + "; " +
                               std::to_string(JobTerms::kMostAfter) + " are the most"};
  }
  return waits;
}

}  // namespace starling
