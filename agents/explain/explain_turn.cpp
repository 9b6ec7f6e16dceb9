// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_turn.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "agents/home/turn.h"
#include "base/counted.h"

namespace starling {
namespace {

std::string text_of(Duration d) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(d).count();
  if (whole < 600) return std::to_string(whole) + " s";
  return std::to_string((whole + 59) / 60) + " min";
}

/// Jobs that came here after it and no longer wait.
std::uint64_t passed_by(const AgentState& s, const Job& job) {
  std::uint64_t wait = 0;
  for (const auto& [id, other] : s.home.jobs) {
    wait += other.order > job.order && phase_of(other.stage()) == JobPhase::waiting ? 1U : 0U;
  }
  const std::uint64_t came = s.home.arrivals - std::min(s.home.arrivals, job.order);
  return came - std::min(came, wait);
}

/// What the jobs of this home that run have left by their estimates; none if one has none.
std::optional<Duration> longest_left(const AgentState& s, Instant now) {
  Duration longest{0};
  for (const auto& [id, job] : s.home.jobs) {
    if (job.started() == kNever) continue;
    if (job.spec->duration <= Duration{0}) return std::nullopt;
    longest = std::max(longest, job.spec->duration - job.served - (now - job.started()));
  }
  return longest;
}

}  // namespace

std::vector<std::string> explain_turn(const AgentState& s, const Job& job, Instant now) {
  std::vector<std::string> lines;
  if (!s.lossy() || s.config.protocol < 2) return lines;  // no turns
  const std::uint64_t passed = passed_by(s, job);
  const bool oversized = job.spec->gpus() > s.owner.partition.gpus.size();
  const bool left_behind = s.home.passing.has_passed(job.spec->priority, job.order) ||
                           left_beside_free_gpus(s, *job.spec);
  if (!oversized && !left_behind) return lines;
  if (passed > 0) {
    lines.push_back("is passed by: " + counted(passed, "job that came after it waits no longer",
                                               "jobs that came after it wait no longer"));
  }
  const Duration patience = patience_of(job.spec->gpus(), s.owner.server_gpus);
  const Instant from = later(std::max(job.submitted, job.stopped), patience);
  std::string line = from > now ? "its turns begin in " + text_of(from - now)
                                : "has had " + counted(job.turns, "turn");
  line += ": in a turn nothing new starts where it is to run; it starts ";
  if (const auto left = longest_left(s, now)) {
    const Instant latest = later(std::max(from, now), turn_bound(*left));
    line += "in " + text_of(latest - now) +
            " at the latest, if the jobs that run keep to their estimates and all GPUs that it "
            "needs are in service";
  } else {
    line +=
        "at the latest 2 min and 5 times what the longest job that runs then has left (up to "
        "5 h) later, if all GPUs that it needs are in service";
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace starling
