// SPDX-License-Identifier: Apache-2.0
#include "launch/client/job_lookup.h"

#include <algorithm>
#include <map>

#include "launch/system/signals.h"

namespace starling {
namespace {

// For the first answer of any agent: on a crowded machine a connection alone may take seconds.
constexpr Duration kFirst = std::chrono::seconds(10);
// For the others' after that.
constexpr Duration kPatience = std::chrono::seconds(3);
constexpr std::uint32_t kPage = 1000;
constexpr int kMostHops = 16;

/// The agents that have not said what they were asked for.
std::vector<AgentId> those_left(const std::vector<char>& said) {
  std::vector<AgentId> left;
  for (std::uint32_t a = 0; a < said.size(); ++a) {
    if (said[a] == 0) left.push_back(AgentId{a});
  }
  return left;
}

/// The agent that sent it, if it was one.
std::optional<std::uint32_t> agent_of(const Session& session, NodeId from) {
  if (from.value == 0 || from.value > session.agents()) return std::nullopt;
  return from.value - 1;
}

/// It does not say what an answer says: a home tells its client of each change, or it speaks a
/// protocol in which answers said no more.
bool told_unasked(const JobState& state) {
  return state.ask == nullptr && !terminal(state.phase) && state.phase != JobPhase::unknown &&
         state.phase != JobPhase::moved;
}

}  // namespace

Result<JobState> find_job(Session& session, JobId job, Duration patience) {
  std::vector<char> said(session.agents(), 0);
  Instant until = later(Session::now(), patience);
  for (int hops = 0; Session::now() < until && !stop_requested();) {
    const auto left = those_left(said);
    if (left.empty()) break;
    for (const AgentId agent : left) session.send(agent_node(agent), Query{job});
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    std::optional<JobState> unasked;
    while (std::count(said.begin(), said.end(), 0) > 0) {
      const auto received = session.receive(again);
      if (!received) break;
      const auto from = agent_of(session, received->from);
      const auto* state = std::get_if<JobState>(&received->message);
      if (!from || state == nullptr || state->job != job) continue;
      if (told_unasked(*state)) {
        unasked = *state;
        continue;
      }
      said[*from] = 1;
      until = std::min(until, Session::now() + kPatience);
      if (state->phase == JobPhase::unknown) continue;
      if (state->phase != JobPhase::moved) return *state;
      // An agent that said it does not know it may have been given it since.
      if (state->home.value < said.size() && ++hops <= kMostHops) {
        said[state->home.value] = 0;
        session.send(agent_node(state->home), Query{job});
      }
    }
    if (unasked) return *std::move(unasked);
  }
  if (const auto left = those_left(said); !left.empty())
    return {Errc::not_ready, silence_text(left) + "; the others do not know job " + to_string(job) +
                                 ". Is the flock up?"};
  return unknown_job(to_string(job));
}

Error unknown_job(const std::string& job) {
  return {Errc::not_found, "no agent that answers knows job " + job + "; see 'starling jobs'"};
}

Result<const JobState*> job_named(const std::vector<JobState>& jobs, const std::string& text) {
  const auto id = parse_job_id(text);
  if (!id) return id.error();
  std::string beginning = text;
  for (char& c : beginning) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  std::vector<const JobState*> found;
  for (const JobState& state : jobs) {
    if (state.job == id.value()) return &state;
    if (to_string(state.job).starts_with(beginning)) found.push_back(&state);
  }
  if (found.size() > 1)
    return {Errc::invalid, "several jobs begin with '" + text + "': " + to_string(found[0]->job) +
                               ", " + to_string(found[1]->job) + "; give more digits"};
  return found.empty() ? nullptr : found.front();
}

Result<JobState> find_job(Session& session, const std::string& text, Duration patience) {
  const Instant until = later(Session::now(), patience);
  const auto id = parse_job_id(text);
  if (!id) return id.error();
  auto exact = find_job(session, id.value(), std::min(patience, kFirst));
  if (exact || exact.error().code != Errc::not_found) return exact;
  const JobsFound found = all_jobs(session, until - Session::now());
  const auto named = job_named(found.jobs, text);
  if (!named) return named.error();
  const JobState* const only = named.value();
  if (!found.silent.empty()) {
    const std::string known =
        only == nullptr ? "" : "; it may be " + to_string(only->job) + ": give all its digits";
    return {Errc::not_ready, silence_text(found.silent) +
                                 ", and may know a job that begins with '" + text + "'" + known};
  }
  if (only != nullptr) return *only;
  return unknown_job(text);
}

JobsFound all_jobs(Session& session, Duration most) {
  const Instant until = later(Session::now(), most);
  struct Reading {
    JobId after;
    Instant heard;
    bool over = false, silent = false;
  };
  std::vector<Reading> readings(session.agents(), Reading{{}, Session::now()});
  Duration patience = kFirst;
  std::map<JobId, JobState> jobs;
  const auto ask = [&](std::uint32_t a) {
    session.send(agent_node(AgentId{a}), ListJobs{readings[a].after, kPage});
  };
  for (bool more = true; more && Session::now() < until && !stop_requested();) {
    more = false;
    for (std::uint32_t a = 0; a < readings.size(); ++a) {
      Reading& reading = readings[a];
      reading.silent = !reading.over && Session::now() - reading.heard >= patience;
      if (reading.over || reading.silent) continue;
      more = true;
      ask(a);
    }
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    while (more) {
      const auto received = session.receive(again);
      if (!received) break;
      const auto from = agent_of(session, received->from);
      const auto* page = std::get_if<JobList>(&received->message);
      if (!from || page == nullptr) continue;
      Reading& reading = readings[*from];
      // A page that was asked for twice comes twice.
      if (reading.over || (!page->jobs.empty() && page->jobs.front().job <= reading.after))
        continue;
      if (patience == kFirst) {
        patience = kPatience;
        for (Reading& other : readings) other.heard = Session::now();
      }
      reading.heard = Session::now();
      for (const JobState& state : page->jobs) {
        if (state.phase != JobPhase::moved) jobs[state.job] = state;
      }
      reading.over = !page->more || page->jobs.empty();
      if (reading.over) {
        more = std::any_of(readings.begin(), readings.end(),
                           [](const Reading& r) { return !r.over && !r.silent; });
      } else {
        reading.after = page->jobs.back().job;
        ask(*from);
      }
    }
  }
  JobsFound found;
  for (auto& [id, state] : jobs) found.jobs.push_back(std::move(state));
  for (std::uint32_t a = 0; a < readings.size(); ++a) {
    if (!readings[a].over) found.silent.push_back(AgentId{a});
  }
  return found;
}

}  // namespace starling
