#include "sim/durable.h"

#include <map>

namespace starling {
namespace {

using Lines = std::map<std::string, std::string>;  // what is said of each thing

std::string text(AgentId agent) { return std::to_string(agent.value); }

std::string gang_text(const std::vector<Share>& gang) {
  std::string all;
  for (const Share& share : gang) {
    all += " p" + std::to_string(share.partition.value) + ":";
    for (const GpuId gpu : share.gpus) all += std::to_string(gpu.value) + ",";
  }
  return all;
}

std::string job_text(const Job& job) {
  std::string all = phase_of(job.stage) == JobPhase::waiting ? "waiting" : "started";
  if (job.stage == Stage::draining) all = "draining";
  if (job.stage == Stage::offered) all = "offered";
  if (phase_of(job.stage) != JobPhase::waiting) {
    std::vector<Share> gang;
    for (const Participant& part : job.attempt.parts) gang.push_back(part.share);
    all += " as " + to_string(job.attempt.id) + gang_text(gang);
  }
  all += ", order " + std::to_string(job.order) + ", client " + std::to_string(job.client.value) +
         ", " + std::to_string(job.spec->gpus()) + " GPUs, served " +
         std::to_string(job.served.count()) + ", forwards " + std::to_string(job.forwards) +
         ", offered to";
  for (const AgentId to : job.offered) all += " " + text(to);
  return all;
}

/// Of a gang that is wholly the home's own: its job's records say that it is over.
bool over_by_its_job(const AgentState& s, AttemptId attempt, const OwnedShare& share) {
  if (share.home != s.config.me || share.gang.size() != 1) return false;
  const auto job = s.jobs.find(attempt.job);
  return job == s.jobs.end() || job->second.attempt.id != attempt;
}

Lines lines_of(const AgentState& s) {
  Lines lines;
  for (const auto& [id, job] : s.jobs) lines["job " + to_string(id)] = job_text(job);
  for (const auto& [id, state] : s.ended) lines["job " + to_string(id)] = name_of(state.phase);
  for (const auto& [id, moved] : s.moved) {
    if (s.jobs.contains(id) || s.ended.contains(id)) continue;
    lines["job " + to_string(id)] =
        "moved to " + text(moved.to) + " at forward " + std::to_string(moved.forwards);
  }
  for (const auto& [attempt, share] : s.shares) {
    // Found running rather than committed: the next inventory finds it again.
    if (!share.home_known || share.spec == nullptr || over_by_its_job(s, attempt, share)) continue;
    lines["share " + to_string(attempt)] = "home " + text(share.home) + gang_text(share.gang);
  }
  return lines;
}

Lines lines_of(const ExecutorState& s) {
  Lines lines;
  lines["epoch"] = std::to_string(s.epoch.value);
  for (const auto& [attempt, run] : s.runs) {
    const bool exited = run.phase == Run::Phase::exited;
    lines["run " + to_string(attempt)] =
        exited ? "exited with " + std::to_string(run.exit.code) : "runs";
  }
  for (const auto& [attempt, served] : s.forgotten) lines["run " + to_string(attempt)] = "over";
  return lines;
}

std::optional<std::string> first_difference(const Lines& live, const Lines& replayed) {
  const auto other = [](const Lines& lines, const std::string& key) {
    const auto at = lines.find(key);
    return at == lines.end() ? std::string("nothing") : at->second;
  };
  for (const auto& [key, value] : live) {
    if (const std::string there = other(replayed, key); there != value)
      return key + ": memory says " + value + ", the journal " + there;
  }
  for (const auto& [key, value] : replayed) {
    if (!live.contains(key)) return key + ": memory says nothing, the journal " + value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> durable_difference(const AgentState& live, const AgentState& replayed) {
  for (const AttemptId attempt : replayed.ledger.tombstones()) {
    if (live.ledger.released(attempt) == nullptr && live.ledger.find(attempt) == nullptr)
      return to_string(attempt) + " was released by the journal, and memory does not know it";
  }
  return first_difference(lines_of(live), lines_of(replayed));
}

std::optional<std::string> durable_difference(const ExecutorState& live,
                                              const ExecutorState& replayed) {
  return first_difference(lines_of(live), lines_of(replayed));
}

}  // namespace starling
