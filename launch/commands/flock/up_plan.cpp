// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "interference/models/speed_choice.h"
#include "interference/models/speed_file.h"
#include "launch/commands/flock/up.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/wiring/wiring.h"
#include "topology/file/load.h"

namespace starling {

namespace {

/// Each agent has a place for every partition then.
constexpr std::uint32_t kMostWithFewerAgents = 17;

}  // namespace

Result<std::string> usable_speed(const UpOptions& o) {
  if (o.speed.empty()) return std::string();
  auto choice = parse_speed(o.speed);
  if (!choice) return choice.error();
  SpeedChoice& speed = choice.value();
  if (speed.kind == SpeedKind::physics && (o.launcher != "emulated" || o.physics == "trace")) {
    return {Errc::invalid,
            "only emulated jobs have physics that can be known: give --launcher emulated --physics "
            "full, or learned"};
  }
  if (!speed.file.empty()) {
    speed.file = std::filesystem::absolute(speed.file).lexically_normal();
    if (!std::filesystem::exists(speed.file)) return {Errc::invalid, speed.file + ": no such file"};
    if (Status good = check_speed_file(speed); !good.ok()) return good.error();
  }
  return text_of(speed);
}

Result<UpPlan> up_plan(const UpOptions& o, const std::filesystem::path& dir) {
  if (o.topology.empty()) {
    return {Errc::invalid,
            "up: --topology FILE is missing, and no flock lives in " + dir.string() + " yet"};
  }
  if (o.launcher != "process" && o.launcher != "emulated") {
    return {Errc::invalid,
            "up: --launcher: '" + o.launcher + "' is wrong; give process or emulated"};
  }
  if (o.physics != "trace" && o.physics != "full" && o.physics != "full:goodput") {
    return {Errc::invalid,
            "up: --physics: '" + o.physics + "' is wrong; give trace, full or full:goodput"};
  }
  auto speed = usable_speed(o);
  if (!speed) return {Errc::invalid, "up: --speed: " + speed.error().message};
  if (o.launcher == "process" && o.speedup != 1) {
    return {Errc::invalid,
            "up: --speedup is for emulated jobs; give --launcher emulated, or no speedup"};
  }
  if (o.speedup > kMostSpeedup || o.speedup < kLeastSpeedup)
    return {Errc::invalid, "up: --speedup is from 0.000001 to 200,000"};
  if (auto policy = all_policies().make(o.policy); !policy)
    return {Errc::invalid, "up: --policy: " + policy.error().message};
  auto topology = load_topology(o.topology);
  if (!topology) return {Errc::invalid, topology.error().message};
  const std::uint32_t partitions = o.partitions == 0 ? o.agents : o.partitions;
  if (partitions < o.agents) {
    return {Errc::invalid, "up: --partitions " + std::to_string(partitions) +
                               " is less than --agents " + std::to_string(o.agents) +
                               "; each agent has one of its own"};
  }
  if (partitions > o.agents && o.state.empty()) {
    return {Errc::invalid,
            "up: more --partitions than --agents need --state etcd://..., where an agent can serve "
            "several"};
  }
  if (partitions > o.agents && partitions > kMostWithFewerAgents) {
    return {Errc::invalid, "up: --partitions is at most " + std::to_string(kMostWithFewerAgents) +
                               " where there are fewer agents"};
  }
  DeploymentPlan plan;
  plan.dir = dir;
  plan.policy = o.policy;
  plan.physics = o.physics;
  plan.speed = std::move(speed).value();
  plan.launcher = o.launcher;
  plan.agents = partitions;
  plan.servers_per_executor = o.servers_per_executor;
  plan.speedup = o.speedup;
  plan.state = o.state;
  plan.etcd = o.etcd;
  plan.adopt = o.adopt;
  // Every agent there is must be able to serve what those that are not there would.
  plan.standbys = o.standbys;
  if (partitions > o.agents) plan.standbys = std::max(o.standbys, partitions - 1);
  return UpPlan{std::move(topology).value(), std::move(plan)};
}

std::string idle_standbys(const UpOptions& o, const std::string& state) {
  if (!o.given.contains("--standbys") || o.standbys == 0 || !state.empty()) return {};
  return "starling: up: --standbys " + std::to_string(o.standbys) +
         " has no effect: agents take a partition over only with --state etcd://...\n";
}

}  // namespace starling
