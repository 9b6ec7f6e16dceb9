// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_silence.h"

#include <algorithm>
#include <chrono>

#include "topology/placement_text.h"

namespace starling {
namespace {

/// All that this agent has of the job, in order.
template <class Act>
void each_group(const AgentState& s, JobId id, const Act& act) {
  for (auto at = s.owner.shares.lower_bound(AttemptId{id, Epoch{0}, 0});
       at != s.owner.shares.end() && at->first.job == id; ++at) {
    for (const TaskGroup& group : at->second.task_groups) act(group);
  }
}

/// What becomes of silence: what others say of the node.
const char* verdict(const Watch& watch) {
  switch (watch.standing) {
    case Standing::cut_off:
      return ", though another agent hears it";
    case Standing::lost:
      return ", nor do others hear it";
    default:
      return "";
  }
}

/// A node that is well is heard after a heartbeat, or is asked then and answers.
bool overdue(const AgentState& s, const Watch& watch, Instant now) {
  if (watch.standing != Standing::well) return true;
  return s.lossy() && now - watch.last_heard > 2 * s.config.timers.heartbeat + watch.lag;
}

std::string last_heard(const AgentState& s, const Watch& watch, Instant now) {
  std::string text = "last heard of " + seconds_text(now - watch.last_heard) + " ago by agent " +
                     std::to_string(s.config.me.value);
  if (watch.standing == Standing::well) return text + ", and is late";
  return text + " and does not answer" + verdict(watch);
}

std::string silence_of(const AgentState& s, const OwnedExecutor& executor, const TaskGroup& group,
                       Instant now) {
  const bool late = overdue(s, executor.watch, now);
  if ((executor.trusted && !late) || group.state == TaskGroup::State::gone) return {};
  const std::string text = "executor-" + std::to_string(executor.node.value - kFirstExecutor) +
                           ", which has GPUs " + placement_text(group.gpus) + " of it, ";
  if (executor.watch.foreign) return text + "has read another topology and is not worked with";
  if (!late) return text + "has not said yet what it runs";
  return text + "was " + last_heard(s, executor.watch, now);
}

}  // namespace

std::string seconds_text(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count()) + " s";
}

std::vector<std::string> explain_silence(const AgentState& s, JobId id, Instant now) {
  std::vector<std::string> lines;
  each_group(s, id, [&](const TaskGroup& group) {
    std::string line = silence_of(s, s.owner.executors.at(group.executor), group, now);
    if (!line.empty()) lines.push_back(std::move(line));
  });
  const auto known = s.home.jobs.find(id);
  const Attempt* attempt = known == s.home.jobs.end() ? nullptr : known->second.attempt();
  if (attempt == nullptr) return lines;
  for (const Participant& part : attempt->parts) {
    if (part.agent == s.config.me || part.released || part.exited) continue;
    const auto peer = std::find_if(s.flock.peers.begin(), s.flock.peers.end(),
                                   [&](const PeerState& p) { return p.peer.agent == part.agent; });
    if (peer == s.flock.peers.end() || !overdue(s, peer->watch, now)) continue;
    lines.push_back("agent " + std::to_string(part.agent.value) + ", which has GPUs " +
                    placement_text(part.share.gpus) + " of it, was " +
                    last_heard(s, peer->watch, now));
  }
  return lines;
}

std::string explain_held(const AgentState& s, JobId id) {
  Placement gpus;
  each_group(s, id, [&](const TaskGroup& group) {
    if (group.state != TaskGroup::State::gone)
      gpus.insert(gpus.end(), group.gpus.begin(), group.gpus.end());
  });
  if (gpus.empty()) return {};
  std::sort(gpus.begin(), gpus.end());
  return "agent " + std::to_string(s.config.me.value) + " has GPUs " + placement_text(gpus) +
         " of it";
}

}  // namespace starling
