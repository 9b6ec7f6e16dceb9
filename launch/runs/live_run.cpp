// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/live_run.h"

#include <cstdio>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/local_flock.h"
#include "launch/system/signals.h"
#include "launch/system/work_folder.h"
#include "store/etcd/etcd_address.h"

namespace starling {
namespace {

/// Removes what a run that is not kept has left in etcd.
class RunState {
 public:
  RunState(const Deployment& flock, bool remove) : flock_(flock), remove_(remove) {}
  ~RunState() {
    if (!remove_ || flock_.state.empty()) return;
    const auto address = etcd_address(flock_);
    const Status gone = address ? forget_etcd_state(address.value()) : Status(address.error());
    if (!gone.ok())
      std::fprintf(stderr, "starling: %s is left behind: %s\n", flock_.state.c_str(),
                   gone.error().message.c_str());
  }
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

 private:
  const Deployment& flock_;
  bool remove_;
};

Result<std::filesystem::path> run_dir(const LiveOptions& options) {
  if (options.state.empty() || EtcdAddress::is_one(options.state)) return temporary_dir();
  if (is_deployment(options.state)) {
    return {Errc::invalid, "--state: " + options.state +
                               " holds an earlier run; give a directory that is new or empty"};
  }
  if (const Status free = can_take_folder(options.state); !free.ok())
    return {Errc::invalid, "--state: " + free.error().message};
  return std::filesystem::path(options.state);
}

}  // namespace

Result<RunResult> run_live(const RunInput& input, const PolicyRegistry& policies,
                           const LiveOptions& options) {
  auto path = run_dir(options);
  if (!path) return path.error();
  const bool in_etcd = EtcdAddress::is_one(options.state);
  const bool temporary = (options.state.empty() || in_etcd) && !options.keep;
  const WorkFolder dir(path.value(), temporary);

  DeploymentPlan plan;
  plan.dir = dir.path();
  plan.policy = input.sim.policy;
  plan.physics = input.sim.physics == PhysicsKind::full ? "full" : "trace";
  if (input.sim.goodput) plan.physics = "full:goodput";
  if (input.sim.physics == PhysicsKind::full) plan.speed = text_of(input.sim.speed);
  plan.agents = input.sim.agents;
  plan.servers_per_executor = input.sim.servers_per_executor;
  plan.clients = 4;  // room for top, jobs and explain beside the run
  plan.seed = input.sim.seed;
  plan.speedup = options.speedup;
  if (in_etcd) {
    plan.state = options.state;
    plan.standbys = kUsualStandbys;
  }
  plan.etcd = options.etcd;
  auto flock = create_deployment(plan, input.topology);
  if (!flock) return flock.error();
  const RunState state(flock.value(), temporary);

  Supervisor supervisor;  // stops everything on every way out of here
  const auto broken = [&]() -> std::optional<std::string> {
    if (stop_requested()) return "interrupted";
    const auto ended = supervisor.poll();
    if (ended.empty()) return std::nullopt;
    return describe(ended.front());
  };
  if (auto started = start_flock(supervisor, flock.value()); !started.ok()) return started.error();
  auto session = Session::open(flock.value());
  if (!session) return session.error();
  if (auto ready = session.value()->wait_ready(std::chrono::seconds(60), broken); !ready.ok())
    return ready.error();
  if (input.sim.queues) {
    auto client = FlockClient::open(dir.path());
    if (!client) return client.error();
    if (const auto set = client.value()->set_queues(*input.sim.queues); !set) return set.error();
  }
  auto result = drive_trace(*session.value(), input, options.speedup, options.quiet, broken);
  session.value().reset();
  supervisor.stop_all();
  if (!result) return result;
  const std::string name = plan.policy.substr(0, plan.policy.find(':'));
  result.value().family =
      std::string(1, static_cast<char>(policies.entries().at(name).facts.family));
  return result;
}

}  // namespace starling
