#include "launch/job_lookup.h"

#include <map>
#include <nlohmann/json.hpp>

#include "launch/text.h"
#include "sim/run_result.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(3);
constexpr std::uint32_t kPage = 1000;

std::string agent_name(std::uint32_t agent) { return "agent-" + std::to_string(agent); }

Error silent(std::uint32_t agent) {
  return {Errc::not_ready, agent_name(agent) + " does not answer; is the flock up?"};
}

}  // namespace

Result<JobState> find_job(Session& session, JobId job) {
  const auto same = [job](const JobState& state) { return state.job == job; };
  std::optional<Error> missing;
  for (std::uint32_t a = 0; a < session.agents(); ++a) {
    auto state = session.ask<JobState>(agent_node(AgentId{a}), Query{job}, kPatience, same);
    for (int hops = 0; state && state->phase == JobPhase::moved && hops < 16; ++hops) {
      state = session.ask<JobState>(agent_node(state->home), Query{job}, kPatience, same);
    }
    if (state && state->phase != JobPhase::unknown && state->phase != JobPhase::moved)
      return *state;
    if (!state) missing = silent(a);
  }
  if (missing) return *missing;
  return {Errc::not_found, "no agent knows job " + to_string(job) + "; see 'starling jobs'"};
}

Result<JobState> find_job(Session& session, const std::string& text) {
  const auto id = parse_job_id(text);
  if (!id) return id.error();
  auto exact = find_job(session, id.value());
  if (exact || exact.error().code != Errc::not_found) return exact;
  const auto jobs = all_jobs(session);
  if (!jobs) return jobs.error();
  std::string beginning = text;
  for (char& c : beginning) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  const JobState* only = nullptr;
  for (const JobState& state : jobs.value()) {
    if (to_string(state.job).rfind(beginning, 0) != 0) continue;
    if (only != nullptr)
      return {Errc::invalid, "several jobs begin with '" + text + "': " + to_string(only->job) +
                                 ", " + to_string(state.job) + "; give more digits"};
    only = &state;
  }
  if (only != nullptr) return *only;
  return {Errc::not_found, "no agent knows job " + text + "; see 'starling jobs'"};
}

Result<std::vector<JobState>> all_jobs(Session& session) {
  std::map<JobId, JobState> jobs;
  for (std::uint32_t a = 0; a < session.agents(); ++a) {
    JobId after{};
    for (bool more = true; more;) {
      const auto page = session.ask<JobList>(
          agent_node(AgentId{a}), ListJobs{after, kPage}, kPatience, [after](const JobList& list) {
            return list.jobs.empty() || after < list.jobs.front().job;
          });
      if (!page) return silent(a);
      for (const JobState& state : page->jobs) {
        if (state.phase != JobPhase::moved) jobs[state.job] = state;
      }
      more = page->more && !page->jobs.empty();
      if (more) after = page->jobs.back().job;
    }
  }
  std::vector<JobState> list;
  for (auto& [id, state] : jobs) list.push_back(std::move(state));
  return list;
}

std::vector<std::string> job_heading() {
  return {"job", "state", "home", "host", "queued", "elapsed", "attempts", "GPUs", "exit"};
}

std::vector<std::string> job_cells(const JobState& s, AgentId host) {
  return {to_string(s.job),
          name_of(s.phase),
          agent_name(s.home.value),
          agent_name(host.value),
          human_seconds(seconds(s.queued)),
          human_seconds(seconds(s.elapsed)),
          std::to_string(s.attempts),
          s.placement.empty() || s.phase == JobPhase::waiting ? "-" : placement_text(s.placement),
          s.phase == JobPhase::failed || s.phase == JobPhase::finished ? std::to_string(s.exit.code)
                                                                       : "-"};
}

std::string job_json(const JobState& s, AgentId host) {
  const nlohmann::json j{{"job", to_string(s.job)},
                         {"state", name_of(s.phase)},
                         {"agent", s.home.value},
                         {"host", agent_name(host.value)},
                         {"queued_s", seconds(s.queued)},
                         {"elapsed_s", seconds(s.elapsed)},
                         {"service_s", seconds(s.served)},
                         {"attempts", s.attempts},
                         {"forwards", s.forwards},
                         {"preemptions", s.preemptions},
                         {"placement", placement_text(s.placement)},
                         {"exit_code", s.exit.code},
                         {"log_tail", s.exit.log_tail}};
  return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace starling
