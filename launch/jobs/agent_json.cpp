// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/agent_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace starling {

nlohmann::json agent_json(const AgentStatus& a) {
  nlohmann::json bad = nlohmann::json::array();
  for (const GpuId gpu : a.sick_gpus) bad.push_back(gpu.value);
  return {{"agent", a.agent.value},
          {"epoch", a.fence.epoch.value},
          {"gpus", a.gpus},
          {"free", a.free},
          {"quarantined", a.quarantined},
          {"drained", a.drained},
          {"waiting", a.waiting},
          {"running", a.running},
          {"accepted", a.accepted},
          {"finished", a.finished},
          {"failed", a.failed},
          {"forwards", a.forwards},
          {"cross_partition_gangs", a.cross_partition_gangs},
          {"preemptions", a.preemptions},
          {"resizes", a.resizes},
          {"decisions", a.decisions},
          {"decision_p50_us", a.decision_p50_us},
          {"decision_p99_us", a.decision_p99_us},
          {"messages", a.messages},
          {"refused_frames", a.refused_frames},
          {"suspected", a.suspected},
          {"cut_off", a.cut_off},
          {"patience", a.patience},
          {"protocol", a.protocol},
          {"other_topology", a.foreign},
          {"speed",
           {{"model", a.speed.model},
            {"observed", a.speed.observed},
            {"refused", a.speed.refused},
            {"drifts", a.speed.drifts},
            {"fallbacks", a.speed.fallbacks},
            {"trouble", a.speed.trouble}}},
          {"bad_gpus", std::move(bad)}};
}

}  // namespace starling
