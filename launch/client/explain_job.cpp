// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"

namespace starling {
namespace {

/// One agent's answer takes no longer, so that one who is silent does not cost the others' answers.
constexpr Duration kEach = std::chrono::seconds(3);

std::optional<std::vector<std::string>> asked(Session& session, AgentId agent, JobId job,
                                              Instant until) {
  const Duration patience = std::min<Duration>(kEach, until - Session::now());
  auto answer = session.ask<Explanation>(agent_node(agent), Explain{job}, patience,
                                         [&](const Explanation& e) { return e.job == job; });
  if (!answer) return std::nullopt;
  return std::move(answer->lines);
}

/// The agents that own GPUs of its attempt, besides its home.
std::set<AgentId> other_owners(const FlockClient& flock, const JobState& job) {
  std::set<AgentId> owners;
  for (const GpuId gpu : job.placement) {
    if (gpu.value < flock.topology().gpu_count())
      owners.insert(flock.owner_of(flock.topology().server_of(gpu)));
  }
  owners.erase(job.home);
  return owners;
}

}  // namespace

Result<ExplainedJob> FlockClient::explain(const JobState& job, Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  const Instant until = later(Session::now(), patience);
  auto lines = asked(*session_, job.home, job.job, until);
  if (!lines) return {Errc::not_ready, silence_text({job.home})};
  ExplainedJob found{std::move(*lines), {}};
  if (terminal(job.phase) || job.phase == JobPhase::waiting) return found;
  for (const AgentId owner : other_owners(*this, job)) {
    const std::string name = "agent " + std::to_string(owner.value);
    const auto more = asked(*session_, owner, job.job, until);
    if (!more) {
      found.silent.push_back(owner);
      found.lines.push_back(name + ", which has GPUs of it, does not answer");
    } else if (!more->empty() && more->front().starts_with(name + " has GPUs ")) {
      found.lines.insert(found.lines.end(), more->begin(), more->end());
    }
  }
  return found;
}

}  // namespace starling
