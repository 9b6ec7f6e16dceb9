// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/explained_job.h"

#include <chrono>
#include <set>

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(3);

std::optional<std::vector<std::string>> asked(Session& session, AgentId agent, JobId job) {
  auto answer = session.ask<Explanation>(agent_node(agent), Explain{job}, kPatience,
                                         [&](const Explanation& e) { return e.job == job; });
  if (!answer) return std::nullopt;
  return std::move(answer->lines);
}

/// Who owns GPUs of its attempt, besides its home.
std::set<AgentId> other_owners(const FlockView& flock, const JobState& job) {
  std::set<AgentId> owners;
  for (const GpuId gpu : job.placement) {
    if (gpu.value < flock.topology.gpu_count())
      owners.insert(flock.owner_of(flock.topology.server_of(gpu)));
  }
  owners.erase(job.home);
  return owners;
}

}  // namespace

std::optional<std::vector<std::string>> explained_job(FlockView& flock, const JobState& job) {
  auto lines = asked(*flock.session, job.home, job.job);
  if (!lines || terminal(job.phase) || job.phase == JobPhase::waiting) return lines;
  for (const AgentId owner : other_owners(flock, job)) {
    const std::string name = "agent " + std::to_string(owner.value);
    const auto more = asked(*flock.session, owner, job.job);
    if (!more) {
      lines->push_back(name + ", which has GPUs of it, does not answer");
    } else if (!more->empty() && more->front().starts_with(name + " has GPUs ")) {
      lines->insert(lines->end(), more->begin(), more->end());
    }
  }
  return lines;
}

}  // namespace starling
